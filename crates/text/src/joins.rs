//! Joins: ASCII bytes that may join a run to its neighbours. This test keeps a run in the fast
//! lane.
//!
//! In ASCII, UAX #29 has three rules. `_` joins anything (WB13a, WB13b). `:` `.` `'` join a letter
//! to a letter (WB6, WB7). `.` `'` `,` `;` join a digit to a digit (WB11, WB12). So only the byte
//! before a run and the two bytes after it can make it part of a longer word. Three table look-ups
//! test that.
//!
//! The answer is "no" or "perhaps". The run's own last byte is not tested, because `a.1` is rare.
//! Next to a non-ASCII byte the answer is uncertain. A wrong "perhaps" only costs the slow lane; a
//! "no" is never wrong.
//!
//! `social` and `code` use these tables with more suspicious bytes.

/// Letter, `:` `.` `'`, letter.
const LETTERS: u8 = 1;
/// Digit, `.` `'` `,` `;`, digit.
const DIGITS: u8 = 2;
/// Anything, `_`, anything.
const ANY: u8 = 4;
/// The `:` of `http:` or the `.` of `www.`, and anything but a space. For `social` only.
const URL: u8 = 8;

/// The bytes that make a run more than a word of its own.
pub(crate) struct Joins {
    /// Not 0 for a byte before a run that may belong to its word.
    before: [u8; 256],
    /// The sorts of join that the byte after a run makes.
    infix: [u8; 256],
    /// The sorts of join that the byte after that takes part in.
    next: [u8; 256],
}

impl Joins {
    /// The joins of `standard`.
    pub(crate) const STANDARD: Joins = Joins::new(b"_", false, b"");
    /// The joins of `social`: sigils and beginnings of URLs are suspicious too.
    pub(crate) const SOCIAL: Joins = Joins::new(b"_#@$", true, b"+#");
    /// The joins of `code`: signs of names are suspicious too.
    pub(crate) const CODE: Joins = Joins::new(b"_.", false, b"+#");

    const fn new(before: &[u8], urls: bool, after: &[u8]) -> Joins {
        let mut joins = Joins { before: [0; 256], infix: [0; 256], next: [0; 256] };
        let mut byte = 0;
        while byte < 256 {
            joins.infix[byte] = infix_sorts(byte as u8, if urls { URL } else { 0 });
            joins.next[byte] = next_sorts(byte as u8);
            byte += 1;
        }
        let mut i = 0;
        while i < before.len() {
            joins.before[before[i] as usize] = 1;
            i += 1;
        }
        let mut i = 0;
        while i < after.len() {
            joins.infix[after[i] as usize] |= ANY;
            i += 1;
        }
        joins
    }

    /// True if an ASCII run may be part of a longer word. `before` is the byte before it. `infix`
    /// and `next` are the two bytes after it, lower-cased.
    #[inline(always)]
    pub(crate) fn suspect(&self, before: u8, [infix, next]: [u8; 2]) -> bool {
        let join = self.infix[usize::from(infix)] & self.next[usize::from(next)];
        join | self.before[usize::from(before)] != 0
    }
}

const fn infix_sorts(infix: u8, url: u8) -> u8 {
    match infix {
        b'_' => ANY,
        b'.' => LETTERS | DIGITS | url,
        b'\'' => LETTERS | DIGITS,
        b':' => LETTERS | url,
        b',' | b';' => DIGITS,
        _ => 0,
    }
}

const fn next_sorts(next: u8) -> u8 {
    match next {
        b'a'..=b'z' => LETTERS | ANY | URL,
        b'0'..=b'9' => DIGITS | ANY | URL,
        // Only the whole character can decide for a non-ASCII byte.
        0x80.. => LETTERS | DIGITS | ANY | URL,
        b' ' | b'\t' | b'\n' | b'\r' => ANY,
        _ => ANY | URL,
    }
}
