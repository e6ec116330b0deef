//! The shape of columns in the second tier: the facts that readers rely on without a check. Values
//! are not checked.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Region, Span};

use crate::column::WORD;
use crate::column::entry::{ENTRY_WORDS, Entry, HEAD_WORDS, holds, of_head, width_bytes};
use crate::ground::values::ValueKind;
use crate::rows::lengths::{LENGTH_BYTES, LENGTH_MAX};

/// The offset of a fault in columns, and its description.
pub type Problem = (u64, &'static str);

/// Checks that the `bytes` bytes at `at` are columns of a segment of `rows` rows, and nothing else.
pub fn check(region: &Region, at: u64, bytes: u64, rows: u64) -> Result<(), Problem> {
    if bytes == 0 {
        return Ok(());
    }
    let words: Option<&[AtomicU64]> = region.get(Span::new(at, bytes / WORD));
    let words = words.filter(|words| !words.is_empty()).ok_or((at, "they leave the heap"))?;
    let (count, said) = of_head(words[0].load(Relaxed));
    let entries = words.get(HEAD_WORDS as usize..).unwrap_or(&[]);
    let entries = entries.get(..count as usize * ENTRY_WORDS as usize);
    let entries = entries.ok_or((at, "their directory leaves the segment"))?;
    if said as u64 != rows || count == 0 {
        return Err((at, "their number of rows is 0, or not the segment's"));
    }
    let mut end = HEAD_WORDS + entries.len() as u64;
    let mut field = None;
    for (index, words) in (0..).zip(entries.chunks(ENTRY_WORDS as usize)) {
        let place = at + (HEAD_WORDS + index * ENTRY_WORDS) * WORD;
        let entry = Entry::from_words(words).ok_or((place, "it is not the entry of a column"))?;
        if field >= Some(entry.field) {
            return Err((place, "its field is not above the one before"));
        }
        column(&entry, said, end).map_err(|why| (place, why))?;
        (field, end) = (Some(entry.field), entry.end(said));
    }
    let whole = end * WORD == bytes;
    if whole { Ok(()) } else { Err((at, "their size differs from their directory")) }
}

/// True if a column can have lengths of texts: unshifted numbers of 8 or 16 bits, one a row.
fn is_of_lengths(entry: &Entry) -> bool {
    let is_read = width_bytes(entry.width) <= LENGTH_BYTES;
    is_read && (1..=LENGTH_MAX as u64).contains(&entry.max) && entry.values == entry.rows
}

/// Checks that a column with the place `first` is possible in a segment of `rows` rows.
fn column(entry: &Entry, rows: u32, first: u64) -> Result<(), &'static str> {
    if entry.kind == ValueKind::Text && !is_of_lengths(entry) {
        return Err("a column of lengths cannot have this form");
    }
    if entry.first as u64 != first {
        return Err("it does not begin behind the column before");
    }
    if entry.rows == 0 || entry.rows > rows || entry.values < entry.rows {
        return Err("it has more rows than its segment, or fewer values than rows");
    }
    if entry.values > entry.rows && !entry.is_listed {
        return Err("it has several values a row, and no list of them");
    }
    let span = entry.max.checked_sub(entry.min);
    if !span.is_some_and(|span| holds(entry.width, span)) {
        return Err("its values are too narrow for its highest value");
    }
    Ok(())
}
