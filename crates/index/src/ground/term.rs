//! Dictionary terms: a field and bytes, as a 16-byte key that is hashed once and compared in two
//! words.
//!
//! | key bits | short term (at most 14 bytes) | long term |
//! |---|---|---|
//! | 0 .. 64 | bytes of the term | 64-bit hash of the bytes |
//! | 64 .. 112 | bytes, zero padded | length (16 bits), first 4 bytes |
//! | 112 .. 124 | field | field |
//! | 124 .. 128 | length | 15 |
//!
//! A short term's key *is* the term. A long term's bytes are stored apart and compared as well.
//!
//! Terms are in the order of their fields and bytes. There a field is its *code*: one byte for the
//! first 240 fields, two for the others, in the order of their numbers.

/// Largest number of bytes of a term.
pub const TERM_BYTES_MAX: usize = 255;
/// Largest number of bytes of a term whose bytes lie in the key.
pub const INLINE_BYTES_MAX: usize = 14;

/// A buffer for the bytes of any term.
pub type TermBuffer = [u8; TERM_BYTES_MAX];

/// A field's number in the index's schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub u16);

/// Bits of a key before its field and its length.
const FIELD: u32 = 48;
const LENGTH: u32 = 60;
/// In place of a length: the term is long or, without field and length, there is no term.
const LONG: u64 = 15 << LENGTH;

/// The first byte of a field's code that has two.
const TWO_BYTES: u8 = 0xF0;

impl FieldId {
    /// The text that every document has.
    pub const TEXT: FieldId = FieldId(0);
    /// The highest number.
    pub const MAX: FieldId = FieldId((1 << (LENGTH - FIELD)) - 1);

    /// Returns its code and the number of its bytes. Codes have the order of the numbers, and no code
    /// is the beginning of another one.
    #[inline]
    pub fn code(self) -> ([u8; 2], usize) {
        match self.0.checked_sub(TWO_BYTES.into()) {
            None => ([self.0 as u8, 0], 1),
            Some(above) => ([TWO_BYTES | (above >> 8) as u8, above as u8], 2),
        }
    }

    /// Returns the field whose code `bytes` begin with, and the number of its bytes.
    #[inline]
    pub fn from_code(bytes: &[u8]) -> Option<(FieldId, usize)> {
        match *bytes {
            [first, ..] if first < TWO_BYTES => Some((FieldId(first.into()), 1)),
            [first, second, ..] => {
                let above = u16::from(first - TWO_BYTES) << 8 | u16::from(second);
                let field = FieldId(above + u16::from(TWO_BYTES));
                (field <= FieldId::MAX).then_some((field, 2))
            }
            _ => None,
        }
    }
}

/// The 16-byte key of a term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TermKey {
    /// Key bytes 0..8, little endian.
    pub low: u64,
    /// Key bytes 8..16, little endian.
    pub high: u64,
}

/// A term to look up: key and, where the key does not hold them, its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Term<'a> {
    /// The key.
    pub key: TermKey,
    /// The term's bytes.
    pub bytes: &'a [u8],
}

impl<'a> Term<'a> {
    /// Makes the term `bytes` of `field`. Returns `None` if it is longer than [`TERM_BYTES_MAX`]. A
    /// value may be empty, a word of the text may not: its key would be that of no term.
    pub fn new(field: FieldId, bytes: &'a [u8]) -> Option<Term<'a>> {
        let is_none = bytes.is_empty() && field == FieldId::TEXT;
        if is_none || bytes.len() > TERM_BYTES_MAX {
            return None;
        }
        let mut head = [0; 16];
        let n = bytes.len().min(16);
        head[..n].copy_from_slice(&bytes[..n]);
        Some(Term { key: TermKey::new(field, u128::from_le_bytes(head), bytes), bytes })
    }
}

impl TermKey {
    /// The key of a position whose token was not kept. No term and no record has it.
    pub const HOLE: TermKey = TermKey { low: 0, high: LONG };

    /// Makes the key of a term whose first 16 bytes, zero padded, are `head`.
    #[inline(always)]
    pub fn new(field: FieldId, head: u128, bytes: &[u8]) -> TermKey {
        if bytes.len() <= INLINE_BYTES_MAX {
            Self::short(field, head, bytes.len())
        } else {
            Self::long(field, bytes)
        }
    }

    /// Makes the key of a term of `len` bytes, at most [`INLINE_BYTES_MAX`]: `head`, zero padded.
    #[inline(always)]
    pub fn short(field: FieldId, head: u128, len: usize) -> TermKey {
        debug_assert!(len <= INLINE_BYTES_MAX);
        let high = (head >> 64) as u64 | (field.0 as u64) << FIELD | (len as u64) << LENGTH;
        TermKey { low: head as u64, high }
    }

    /// Makes the key of a term of more than [`INLINE_BYTES_MAX`] bytes.
    #[cold]
    fn long(field: FieldId, bytes: &[u8]) -> TermKey {
        let first = u32::from_le_bytes(bytes[..4].try_into().expect("a long term has 4 bytes"));
        let high = bytes.len() as u64 | (first as u64) << 16 | (field.0 as u64) << FIELD | LONG;
        TermKey { low: hash_bytes(bytes), high }
    }

    /// True if some of the bytes are not in the key.
    #[inline(always)]
    pub fn is_long(self) -> bool {
        // Only the key of a hole has no length.
        self.high > LONG
    }

    /// True if it is `other`, with one branch.
    #[inline(always)]
    pub fn is(self, other: TermKey) -> bool {
        (self.low ^ other.low) | (self.high ^ other.high) == 0
    }

    /// True if it marks a position without a term.
    #[inline(always)]
    pub fn is_hole(self) -> bool {
        self.high == LONG
    }

    /// True if the key is the whole term: that of a short term, not of a long one or a hole.
    #[inline(always)]
    pub fn is_whole(self) -> bool {
        self.high < LONG
    }

    /// Returns the term's field.
    pub fn field(self) -> FieldId {
        FieldId((self.high >> FIELD) as u16 & FieldId::MAX.0)
    }

    /// Returns the term's length in bytes.
    pub fn len(self) -> usize {
        if self.is_whole() { (self.high >> LENGTH) as usize } else { (self.high & 0xFFFF) as usize }
    }

    /// True if the term has no bytes: an empty value, or the key of no term.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of a short term, and their number.
    pub fn inline_bytes(self) -> ([u8; 16], usize) {
        let bytes = (self.low as u128 | (self.high as u128) << 64).to_le_bytes();
        (bytes, self.len().min(INLINE_BYTES_MAX))
    }

    /// Writes the term's bytes to the front of `out`. `long` yields those of a long term. Returns
    /// the field and the number of bytes.
    pub(crate) fn write(
        self,
        long: impl Iterator<Item = u8>,
        out: &mut TermBuffer,
    ) -> (FieldId, usize) {
        let (inline, len) = self.inline_bytes();
        if !self.is_long() {
            out[..len].copy_from_slice(&inline[..len]);
            return (self.field(), len);
        }
        let written = out.iter_mut().zip(long).map(|(to, byte)| *to = byte).count();
        (self.field(), written)
    }

    /// Returns the hash by which all tables find the term.
    #[inline(always)]
    pub fn hash(self) -> u64 {
        fold(self.low ^ 0x9E37_79B9_7F4A_7C15, self.high ^ 0xD1B5_4A32_D192_ED03)
    }
}

/// Returns the folded 128-bit product of two words: each bit of it depends on all bits of both.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// Returns the hash of a byte string: a chain of folded products over words of 8 bytes, length
/// included.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut state = 0xA076_1D64_78BD_642F ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = fold(state ^ u64::from_le_bytes(word), 0xE703_7ED1_A0B4_28DB);
    }
    fold(state, 0x8EBC_6AF0_9C88_C6E3)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of `docs/format-vectors.md`: hashes are in files.
    #[test]
    fn hashes_are_those_of_the_format() {
        assert_eq!(hash_bytes(b""), 0xE28F_2B20_61A2_B984);
        assert_eq!(hash_bytes(b"spirit"), 0x9275_9CB6_38D1_0F20);
        assert_eq!(hash_bytes(b"a key of several words"), 0x25C6_D376_E72F_DDE0);
        let of_term = |bytes| Term::new(FieldId(0), bytes).unwrap().key.hash();
        assert_eq!(of_term(b"sea"), 0x72AA_9D34_AC47_F275);
        assert_eq!(of_term(b"fourteen-bytes"), 0xDB06_69A5_BA55_4BE7);
    }

    #[test]
    fn codes_are_in_the_order_of_fields() {
        let codes: Vec<Vec<u8>> = (0..=FieldId::MAX.0)
            .map(|number| {
                let (code, len) = FieldId(number).code();
                let behind = [&code[..len], &[7]].concat();
                assert_eq!(FieldId::from_code(&behind), Some((FieldId(number), len)));
                assert_eq!(FieldId::from_code(&code[..len - 1]), None);
                code[..len].to_vec()
            })
            .collect();
        assert!(codes.is_sorted_by(|a, b| a < b && !b.starts_with(a)));
        assert_eq!(codes.iter().filter(|code| code.len() == 1).count(), 240);
        assert_eq!(FieldId::from_code(&[0xFF, 0xFF]), None);
    }

    #[test]
    fn keys_tell_terms_apart() {
        let words: [&[u8]; 7] = [
            b"",
            b"a",
            b"a\0",
            b"abcdefghijklmn",
            b"abcdefghijklmno",
            b"abcdefghijklmnop",
            &[b'x'; 255],
        ];
        for (i, a) in words.iter().enumerate() {
            let term = Term::new(FieldId(3), a).unwrap();
            assert_eq!((term.key.len(), term.key.field()), (a.len(), FieldId(3)));
            assert_eq!(term.key.is_long(), a.len() > INLINE_BYTES_MAX);
            assert_eq!(term.key.is_whole(), a.len() <= INLINE_BYTES_MAX);
            assert!(!term.key.is_hole());
            assert!(!term.key.is_long() || !term.key.is_whole());
            for (j, b) in words.iter().enumerate() {
                assert_eq!(term.key == Term::new(FieldId(3), b).unwrap().key, i == j);
                assert_ne!(term.key, Term::new(FieldId(4), b).unwrap().key);
            }
        }
        let all = [0, 3, 255, 256, FieldId::MAX.0].map(FieldId);
        for field in all {
            for word in words {
                let key = Term::new(field, word).map(|term| term.key);
                assert!(key.is_none_or(|key| (key.field(), key.len()) == (field, word.len())));
            }
        }
        assert_eq!((TermKey::HOLE.len(), TermKey::HOLE.field()), (0, FieldId::TEXT));
        assert!(Term::new(FieldId(0), b"").is_none());
        assert!(Term::new(FieldId(0), &[b'x'; 256]).is_none());
        assert!(TermKey::HOLE.is_hole() && !TermKey::HOLE.is_whole());
    }
}
