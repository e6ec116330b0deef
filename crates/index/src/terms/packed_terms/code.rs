//! The code of a term and of its list's place in a block.
//!
//! | bytes | |
//! |---|---|
//! | 1 | shared bytes (low half), following bytes less one (high half); 15: see the next |
//! | 0 or 1 | how many it shares, less 15, if that is 15 or more |
//! | 0 or 1 | how many follow, less 16, if that is 16 or more |
//! | .. | the bytes that follow |
//! | 1 .. 5 | 0, 1 or 2 for one posting, see below; else postings plus one |
//! | 1 .. 5 | of a posting its local id, of a list where it begins |
//! | 0 or 1 | of 1 and 2: the frequency |
//! | 0 .. 5 | of 0 its position, of 1 where its positions begin |
//!
//! Kind 0 is one posting that is once in its document. Kind 1 is another single posting. Kind 2 is
//! a single posting without a kept position.
//!
//! Numbers have seven bits a byte, the lowest first. All bytes but the last have the top bit set.
//! The first term of a block shares nothing.

use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

use crate::ground::ids::SegmentId;
use crate::ground::posting::{LOCAL_MAX, frequency, local, rank_of};
use crate::ground::term::{FieldId, TERM_BYTES_MAX};
use crate::terms::entries::{ALONE, Entry, PACKED};
use crate::terms::packed_terms::CODED_BYTES_MAX;

/// In half a byte: the number is in a byte of its own.
const APART: usize = 15;

/// The kinds of single postings: once in its document, more often, and without a kept position.
const ONCE: u32 = 0;
const ONE: u32 = 1;
const BARE: u32 = 2;

/// A coded term: the code of its field, and its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coded {
    bytes: [u8; CODED_BYTES_MAX],
    len: usize,
}

impl Default for Coded {
    fn default() -> Coded {
        Coded { bytes: [0; CODED_BYTES_MAX], len: 0 }
    }
}

impl Coded {
    /// Codes a term.
    pub(super) fn new(field: FieldId, bytes: &[u8]) -> Coded {
        let (code, len) = field.code();
        let mut coded = Coded { len: len + bytes.len(), ..Coded::default() };
        coded.bytes[..len].copy_from_slice(&code[..len]);
        coded.bytes[len..coded.len].copy_from_slice(bytes);
        coded
    }

    /// Returns its bytes, those of the field first.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Returns its field and its bytes, at most [`TERM_BYTES_MAX`].
    pub(super) fn parts(&self) -> (FieldId, &[u8]) {
        // Damaged data may have any code, and a byte too many behind a short one.
        let (field, code) = FieldId::from_code(self.bytes()).unwrap_or((FieldId::MAX, self.len));
        (field, &self.bytes[code..self.len.min(code + TERM_BYTES_MAX)])
    }
}

/// Appends a term and its list's place. `before` is the term before it in its block.
pub(super) fn push(before: &[u8], term: &[u8], entry: Entry, out: &mut Vec<u8>) {
    let shared = before.iter().zip(term).take_while(|(one, other)| one == other).count();
    let suffix = &term[shared..];
    let rest = suffix.len() - 1;
    out.push((shared.min(APART) | rest.min(APART) << 4) as u8);
    let apart = [shared, rest].into_iter().filter_map(|count| count.checked_sub(APART));
    out.extend(apart.map(|count| count as u8));
    out.extend_from_slice(suffix);
    push_lead(entry, out);
}

fn push_lead(entry: Entry, out: &mut Vec<u8>) {
    let Entry { postings, payload, alone, .. } = entry;
    if postings > 1 {
        push_number(postings + 1, out);
        return push_number(payload & !PACKED, out);
    }
    let kind = match (alone, frequency(payload)) {
        (0, _) => BARE,
        (_, 1) => ONCE,
        _ => ONE,
    };
    push_number(kind, out);
    push_number(local(payload), out);
    if kind != ONCE {
        out.push(frequency(payload) as u8);
    }
    if kind != BARE {
        push_number(alone & !ALONE, out);
    }
}

fn push_number(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A reader of a block, from front to end. Behind the end it reads zeros.
#[derive(Clone, Copy, Default)]
pub(super) struct Reader<'a>(&'a [AtomicU8]);

impl<'a> Reader<'a> {
    /// Makes the reader of these bytes.
    pub(super) fn new(bytes: &'a [AtomicU8]) -> Reader<'a> {
        Reader(bytes)
    }

    /// Returns a byte further on, without skipping it.
    #[inline]
    pub(super) fn peek(&self, at: usize) -> u8 {
        self.0.get(at).map_or(0, |byte| byte.load(Relaxed))
    }

    /// Skips some bytes.
    #[inline]
    pub(super) fn skip(&mut self, bytes: usize) {
        self.0 = self.0.get(bytes..).unwrap_or(&[]);
    }

    #[inline]
    fn byte(&mut self) -> u8 {
        let byte = self.peek(0);
        self.skip(1);
        byte
    }

    #[inline]
    fn number(&mut self) -> u32 {
        let mut number = 0;
        for shift in (0..u32::BITS).step_by(7) {
            let byte = self.byte();
            number |= ((byte & 0x7F) as u32) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    /// Reads the number of bytes that the next term shares with the one before, and the number that
    /// follow.
    #[inline]
    pub(super) fn lengths(&mut self) -> (usize, usize) {
        let both = self.byte() as usize;
        let [shared, rest] = [both % 16, both / 16];
        let shared = if shared == APART { APART + self.byte() as usize } else { shared };
        let rest = if rest == APART { APART + self.byte() as usize } else { rest };
        (shared, rest + 1)
    }

    /// Turns the term before into the next term.
    pub(super) fn term(&mut self, term: &mut Coded) {
        let (shared, suffix) = self.lengths();
        // Damaged data may have any length.
        let end = (shared + suffix).min(CODED_BYTES_MAX);
        for at in shared..end {
            term.bytes[at] = self.peek(at - shared);
        }
        term.len = end;
        self.skip(suffix);
    }

    /// Reads the list of the term that was read, in this segment.
    pub(super) fn lead(&mut self, segment: SegmentId) -> Entry {
        let kind = self.number();
        let place = self.number();
        let (postings_word, payload) = match kind {
            ONCE => (ALONE | self.number(), posting(place, 1)),
            ONE => {
                let payload = posting(place, self.byte());
                (ALONE | self.number(), payload)
            }
            BARE => (1, posting(place, self.byte())),
            more => (more - 1, PACKED | place),
        };
        let (postings, alone) = Entry::split(postings_word);
        Entry { segment, postings, payload, total: 0, alone }
    }

    /// Skips the list's place.
    #[inline]
    pub(super) fn skip_lead(&mut self) {
        self.lead(Entry::NONE.segment);
    }
}

fn posting(local: u32, frequency: u8) -> u32 {
    rank_of(local & LOCAL_MAX) << 8 | frequency as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entries() -> impl Strategy<Value = Entry> {
        let alone = prop_oneof![Just(0), (0u32..1 << 31).prop_map(|place| ALONE | place)];
        let one = (0u32..1 << 24, 1u8.., alone).prop_map(|(local, frequency, alone)| Entry {
            postings: 1,
            payload: posting(local, frequency),
            alone,
            ..none()
        });
        let list = (2u32..1 << 24, 0u32..1 << 31).prop_map(|(postings, at)| Entry {
            postings,
            payload: PACKED | at,
            ..none()
        });
        prop_oneof![one, list]
    }

    fn none() -> Entry {
        Entry { segment: SegmentId(8), ..Entry::NONE }
    }

    /// No coded term, whatever its bytes, has more bytes than a buffer for terms.
    #[test]
    fn parts_are_no_longer_than_a_term() {
        for first in [0, 239, 240, 255] {
            for len in [0, 1, 2, 3, CODED_BYTES_MAX - 1, CODED_BYTES_MAX] {
                let coded = Coded { bytes: [first; CODED_BYTES_MAX], len };
                assert!(coded.parts().1.len() <= TERM_BYTES_MAX.min(len), "{first}, {len}");
            }
        }
        let longest = [b'x'; TERM_BYTES_MAX];
        for field in [0, 240, FieldId::MAX.0].map(FieldId) {
            assert_eq!(Coded::new(field, &longest).parts(), (field, &longest[..]));
        }
    }

    proptest! {
        #[test]
        fn terms_and_lists_read_back(
            before in prop::collection::vec(0u8..3, 1..=CODED_BYTES_MAX),
            term in prop::collection::vec(0u8..3, 2..=CODED_BYTES_MAX),
            shared in 0..CODED_BYTES_MAX,
            entry in entries(),
        ) {
            let shared = shared.min(before.len()).min(term.len() - 1);
            let term = [&before[..shared], &term[shared..]].concat();
            prop_assume!(before < term);
            let mut out = Vec::new();
            push(&[], &before, entry, &mut out);
            push(&before, &term, entry, &mut out);
            let bytes: Vec<AtomicU8> = out.into_iter().map(AtomicU8::new).collect();
            let (mut reader, mut read) = (Reader::new(&bytes), Coded::default());
            for expected in [&before, &term] {
                reader.term(&mut read);
                prop_assert_eq!(read.bytes(), &expected[..]);
                prop_assert_eq!(reader.lead(SegmentId(8)), entry);
            }
            prop_assert!(reader.0.is_empty());
        }
    }
}
