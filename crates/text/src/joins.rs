//! Which ASCII bytes join runs into one word: UAX #29 for ASCII, as tables.
//!
//! In ASCII the word rules come down to three: `_` joins anything (WB13a, WB13b); `:` `.` `'` join a letter to a letter
//! (WB6, WB7); `.` `'` `,` `;` join a digit to a digit (WB11, WB12). So whether a run is a word by itself depends only on
//! the byte before it, its last byte, and the two bytes after it, and three table look-ups and two ANDs say so. A table may
//! answer "perhaps" too often (next to a non-ASCII byte, or where a URL could begin), never "no" wrongly: a "perhaps" only
//! costs the slow lane.
//!
//! The same tables serve `social` with more bytes that make a run suspicious.

/// Letter, `:` `.` `'`, letter.
const LETTERS: u8 = 1;
/// Digit, `.` `'` `,` `;`, digit.
const DIGITS: u8 = 2;
/// Anything, `_`, anything.
const ANY: u8 = 4;
/// `http:`, `https:` or `www.` and something that is not a space: for `social` only.
const URL: u8 = 8;

/// What makes a run more than a word by itself, by byte.
pub(crate) struct Joins {
    /// Not 0: a byte before a run that may belong to its word.
    before: [u8; 256],
    /// The sorts of join a run's last byte takes part in.
    last: [u8; 256],
    /// The sorts of join the byte after a run makes.
    infix: [u8; 256],
    /// The sorts of join the byte after that takes part in.
    next: [u8; 256],
}

impl Joins {
    /// For `standard`.
    pub(crate) const STANDARD: Joins = Joins::new(b"_", false);
    /// For `social`: sigils and the beginnings of URLs are suspicious too.
    pub(crate) const SOCIAL: Joins = Joins::new(b"_#@$", true);

    const fn new(before: &[u8], urls: bool) -> Joins {
        let mut joins =
            Joins { before: [0; 256], last: [0; 256], infix: [0; 256], next: [ANY; 256] };
        let mut byte = 0;
        while byte < 256 {
            joins.last[byte] = core_sorts(byte as u8, urls);
            joins.infix[byte] = infix_sorts(byte as u8, urls);
            joins.next[byte] = next_sorts(byte as u8);
            byte += 1;
        }
        let mut i = 0;
        while i < before.len() {
            joins.before[before[i] as usize] = 1;
            i += 1;
        }
        joins
    }

    /// Whether an ASCII run may be part of a longer word; `before` is the byte before it, `around` its last byte and the two
    /// after it.
    #[inline(always)]
    pub(crate) fn suspect(&self, before: u8, [last, infix, next]: [u8; 3]) -> bool {
        let join = self.last[usize::from(last)]
            & self.infix[usize::from(infix)]
            & self.next[usize::from(next)];
        join | self.before[usize::from(before)] != 0
    }
}

const fn core_sorts(last: u8, urls: bool) -> u8 {
    let url = if urls && matches!(last, b'p' | b's' | b'w') { URL } else { 0 };
    match last {
        b'a'..=b'z' => LETTERS | ANY | url,
        b'0'..=b'9' => DIGITS | ANY,
        _ => 0,
    }
}

const fn infix_sorts(infix: u8, urls: bool) -> u8 {
    let url = if urls { URL } else { 0 };
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
        // What a non-ASCII byte is, only its whole character can tell.
        0x80.. => LETTERS | DIGITS | ANY | URL,
        b' ' | b'\t' | b'\n' | b'\r' => ANY,
        _ => ANY | URL,
    }
}

/// Whether `byte`, lower-cased ASCII, never breaks a word: a letter, a digit or `_`.
pub(crate) const fn is_core(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')
}

/// Whether `infix` holds `last` and `next` in one word; all are lower-cased ASCII.
pub(crate) const fn is_joined([last, infix, next]: [u8; 3]) -> bool {
    let sorts = core_sorts(last, false) & infix_sorts(infix, false) & next_sorts(next);
    sorts & (LETTERS | DIGITS) != 0
}
