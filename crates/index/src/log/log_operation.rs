//! Parsing of a log record's operations, which lie one behind the other.

use crate::form::shape::NUMBERS_MAX;
use crate::log::{
    FIELDS_BIT, GAP_APART, GAP_SHIFT, GroupEnd, LoggedKey, LoggedOperation, LoggedText,
    OFFSET_BYTES_MAX, OFFSET_KIND, PART_KIND, REFERENCE_BIT, REFERENCE_BYTES_MAX, Reference,
};

/// The operations of a record, and the sequence number that the next has at least.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) sequence: u64,
    /// True for the first operation, whose gap means nothing.
    pub(crate) is_first: bool,
}

impl<'a> Rest<'a> {
    /// Returns the operations in `bytes`, of which the first has this sequence number.
    pub(crate) fn of(bytes: &'a [u8], sequence: u64) -> Rest<'a> {
        Rest { bytes, sequence, is_first: true }
    }

    /// Takes the first operation off.
    pub(crate) fn operation(&mut self) -> Option<LoggedOperation<'a>> {
        let (gap, operation) = operation(&mut self.bytes)?;
        let gap = if std::mem::take(&mut self.is_first) { 0 } else { gap };
        let sequence = self.sequence.checked_add(gap).filter(|number| *number < NUMBERS_MAX)?;
        self.sequence = sequence + 1;
        Some(LoggedOperation { sequence, ..operation })
    }
}

/// Takes the first operation off `rest`, with its gap. Its sequence number is still to be set.
fn operation<'a>(rest: &mut &'a [u8]) -> Option<(u64, LoggedOperation<'a>)> {
    let word = u64::from_le_bytes(take(rest, 8)?.try_into().ok()?);
    let number = u64::from_le_bytes(take(rest, 8)?.try_into().ok()?);
    let gap = match word >> GAP_SHIFT {
        GAP_APART => u64::from_le_bytes(take(rest, 8)?.try_into().ok()?),
        gap => gap,
    };
    if number > NUMBERS_MAX || gap > NUMBERS_MAX {
        return None;
    }
    let (text_len, key_len) = ((word & 0xFFFF_FFFF) as usize, (word >> 32 & 0xFFFF) as usize);
    let key = take(rest, key_len)?;
    let text = take(rest, text_len)?;
    let kind = word >> 48 & 0xFF;
    let fields = match kind & FIELDS_BIT {
        0 => &[],
        _ => {
            let bytes = u64::from_le_bytes(take(rest, 8)?.try_into().ok()?);
            take(rest, usize::try_from(bytes).ok()?)?
        }
    };
    let key = match kind & !(REFERENCE_BIT | FIELDS_BIT) {
        1 => LoggedKey::Automatic(number),
        _ => LoggedKey::Bytes(key),
    };
    let text = match kind & REFERENCE_BIT {
        0 => LoggedText::Bytes(text),
        _ => LoggedText::Reference(reference(text)?),
    };
    Some((gap, LoggedOperation { sequence: 0, key, text, fields }))
}

fn reference(text: &[u8]) -> Option<Reference<'_>> {
    let (word, place) = text.split_first_chunk()?;
    let word = u64::from_le_bytes(*word);
    let is_short = place.len() <= REFERENCE_BYTES_MAX;
    is_short.then_some(Reference { place, bytes: word as u32, check: (word >> 32) as u32 })
}

/// Returns a group's end, if `rest` has nothing else.
pub(crate) fn group_end(mut rest: &[u8]) -> Option<GroupEnd<'_>> {
    let words = [rest.get(..8)?, rest.get(8..16)?];
    let [word, number] = words.map(|word| word.try_into().map(u64::from_le_bytes));
    let (word, number) = (word.ok()?, number.ok()?);
    let (0, LoggedOperation { key, text: LoggedText::Bytes(text), fields: &[], .. }) =
        operation(&mut rest)?
    else {
        return None;
    };
    let offset = match word >> 48 & 0xFF {
        OFFSET_KIND => Some(text),
        PART_KIND if text.is_empty() => None,
        _ => return None,
    };
    let is_one = key == LoggedKey::Bytes(&[]) && rest.is_empty() && text.len() <= OFFSET_BYTES_MAX;
    is_one.then_some(GroupEnd { number, offset })
}

/// Takes `len` bytes off, and the zeros that fill them up to whole words.
fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let taken = rest.get(..len)?;
    *rest = rest.get(len.checked_next_multiple_of(8)?..)?;
    Some(taken)
}
