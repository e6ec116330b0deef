//! Dictionary terms: a field and bytes, as a 16-byte key that is hashed once and compared in two
//! words.
//!
//! | key byte | short term (at most 14 bytes) | long term |
//! |---|---|---|
//! | 0..8 | bytes of the term | 64-bit hash of the bytes |
//! | 8..14 | bytes, zero padded | length (2 bytes), first 4 bytes |
//! | 14 | field | field |
//! | 15 | length | `0xFF` |
//!
//! A short term's key *is* the term. A long term's bytes are stored apart and compared as well.

/// Largest number of bytes of a term.
pub const TERM_BYTES_MAX: usize = 255;
/// Largest number of bytes of a term whose bytes lie in the key.
pub const INLINE_BYTES_MAX: usize = 14;

const LONG: u64 = 0xFF;

/// A buffer for the bytes of any term.
pub type TermBuffer = [u8; TERM_BYTES_MAX];

/// A field's number in the index's schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldId(pub u8);

/// The byte of a hole in place of a length.
const HOLE: u64 = 0xFE;

impl FieldId {
    /// The text that every document has.
    pub const TEXT: FieldId = FieldId(0);
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
    pub const HOLE: TermKey = TermKey { low: 0, high: HOLE << 56 };

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
        let high = (head >> 64) as u64 | (field.0 as u64) << 48 | (len as u64) << 56;
        TermKey { low: head as u64, high }
    }

    /// Makes the key of a term of more than [`INLINE_BYTES_MAX`] bytes.
    #[cold]
    fn long(field: FieldId, bytes: &[u8]) -> TermKey {
        let first = u32::from_le_bytes(bytes[..4].try_into().expect("a long term has 4 bytes"));
        let high = bytes.len() as u64 | (first as u64) << 16 | (field.0 as u64) << 48 | LONG << 56;
        TermKey { low: hash_bytes(bytes), high }
    }

    /// True if some of the bytes are not in the key.
    #[inline(always)]
    pub fn is_long(self) -> bool {
        self.high >> 56 == LONG
    }

    /// True if it is `other`, with one branch.
    #[inline(always)]
    pub fn is(self, other: TermKey) -> bool {
        (self.low ^ other.low) | (self.high ^ other.high) == 0
    }

    /// True if it marks a position without a term.
    #[inline(always)]
    pub fn is_hole(self) -> bool {
        self.high >> 56 == HOLE
    }

    /// True if the key is the whole term: that of a short term, not of a long one or a hole.
    #[inline(always)]
    pub fn is_whole(self) -> bool {
        // The lengths of short terms leave the top bit clear.
        self.high as i64 >= 0
    }

    /// Returns the term's field.
    pub fn field(self) -> FieldId {
        FieldId((self.high >> 48) as u8)
    }

    /// Returns the term's length in bytes.
    pub fn len(self) -> usize {
        if self.is_long() { (self.high & 0xFFFF) as usize } else { (self.high >> 56) as usize }
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
        assert_eq!(of_term(b"sea"), 0x7DED_DCCA_8A33_7BF8);
        assert_eq!(of_term(b"fourteen-bytes"), 0xCDAE_183A_1D54_742C);
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
            for (j, b) in words.iter().enumerate() {
                assert_eq!(term.key == Term::new(FieldId(3), b).unwrap().key, i == j);
                assert_ne!(term.key, Term::new(FieldId(4), b).unwrap().key);
            }
        }
        assert!(Term::new(FieldId(0), b"").is_none());
        assert!(Term::new(FieldId(0), &[b'x'; 256]).is_none());
        assert!(TermKey::HOLE.is_hole() && !TermKey::HOLE.is_whole());
    }
}
