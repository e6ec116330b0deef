//! Which ASCII bytes may join a run to its neighbours: the test that keeps a run in the fast lane.
//!
//! In ASCII the rules of UAX #29 come down to three: `_` joins anything (WB13a, WB13b); `:` `.` `'`
//! join a letter to a letter (WB6, WB7); `.` `'` `,` `;` join a digit to a digit (WB11, WB12). So
//! only the byte before a run and the two bytes after it can make it part of a longer word, and
//! three table look-ups say whether they do. The answer is "no" or "perhaps": the run's own last
//! byte is left out because `a.1` is rare, and next to a non-ASCII byte one cannot know. A wrong
//! "perhaps" costs the slow lane and nothing else; a "no" is never wrong.
//!
//! The same tables serve `social` with more bytes that make a run suspicious.

/// Letter, `:` `.` `'`, letter.
const LETTERS: u8 = 1;
/// Digit, `.` `'` `,` `;`, digit.
const DIGITS: u8 = 2;
/// Anything, `_`, anything.
const ANY: u8 = 4;
/// The `:` of `http:` or the `.` of `www.`, and anything but a space: for `social` only.
const URL: u8 = 8;

/// What makes a run more than a word on its own, by byte.
pub(crate) struct Joins {
    /// Not 0: a byte before a run that may belong to its word.
    before: [u8; 256],
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
        joins
    }

    /// Whether an ASCII run may be part of a longer word: `before` is the byte before it, `infix`
    /// and `next` are the two after it, lower-cased.
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
        // What a non-ASCII byte is, only its whole character can tell.
        0x80.. => LETTERS | DIGITS | ANY | URL,
        b' ' | b'\t' | b'\n' | b'\r' => ANY,
        _ => ANY | URL,
    }
}
