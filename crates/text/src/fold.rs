//! Case folding, and a padded buffer for one term that cannot be read from the lower-cased text.
//!
//! It holds words with non-ASCII letters, stems, and verbatim keywords. Words that are equal in
//! capitals are one term: `ς` and `σ`, `ß` and `ss`, `ſ` and `s`, `ﬁ` and `fi`. Characters are
//! mapped without context, so a word and its prefix fold alike.
//!
//! That is the full case folding of Unicode, but for `İ` and `ı`. Both are `i`, as they are written
//! in lower case and in capitals. Compatibility characters, such as wide letters, are not mapped.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use crate::TERM_BYTES_MAX;
use crate::emitter::Emitter;
use crate::normal::Normal;
use crate::signs::{is_apostrophe, is_variation_selector};
use crate::token::{HEAD_BYTES, SpanSink, Token};

/// Bytes of a folded word before it is composed. Composing leaves more than a quarter of them.
const FOLDED_BYTES_MAX: usize = 4 * TERM_BYTES_MAX;
/// The most memory for normal forms that is kept from one text to the next.
const NORMAL_BYTES_KEPT: usize = 1 << 18;
/// The length of a term that outgrew the buffer. The emitter skips such terms.
const OVERFLOW: usize = FOLDED_BYTES_MAX + 1;
/// The marks that compose with letters that have a case.
const FIRST_MARK: char = '\u{300}';
const LAST_MARK: char = '\u{36f}';
/// The dot that `İ` has more than `i`.
const DOT: char = '\u{307}';

/// A term under construction.
pub(crate) struct Fold {
    /// The longest term, and the bytes after it that [`Token::head`] may read.
    bytes: [u8; FOLDED_BYTES_MAX + HEAD_BYTES],
    /// The number of bytes in use, or `OVERFLOW`.
    len: usize,
    /// True if a mark may have to be composed.
    has_marks: bool,
    /// Memory for parts of the text that have to be normalized.
    normal: Normal,
}

impl Fold {
    pub(crate) fn new() -> Fold {
        Fold {
            bytes: [0; FOLDED_BYTES_MAX + HEAD_BYTES],
            len: 0,
            has_marks: false,
            normal: Normal::default(),
        }
    }

    /// Lends the memory for normal forms. [`give_back`](Self::give_back) returns it.
    pub(crate) fn lend(&mut self) -> Normal {
        std::mem::take(&mut self.normal)
    }

    pub(crate) fn give_back(&mut self, normal: Normal) {
        if normal.bytes() <= NORMAL_BYTES_KEPT {
            self.normal = normal;
        }
    }

    /// Appends bytes unchanged. A term that grows too long will be skipped.
    fn push(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if end > FOLDED_BYTES_MAX {
            self.len = OVERFLOW;
            return;
        }
        self.bytes[self.len..end].copy_from_slice(bytes);
        self.len = end;
    }

    /// Appends a character of a normalized text, folded.
    fn push_folded(&mut self, c: char) {
        if c.is_ascii() && self.len < FOLDED_BYTES_MAX {
            self.bytes[self.len] = c.to_ascii_lowercase() as u8;
            self.len += 1;
            return;
        }
        folded(c, |c| {
            let is_mark = (FIRST_MARK..=LAST_MARK).contains(&c);
            let is_dot = c == DOT && self.bytes[..self.len.min(FOLDED_BYTES_MAX)].ends_with(b"i");
            if !is_dot {
                self.has_marks |= is_mark;
                self.push(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        });
    }

    /// Composes marks with letters that were folded.
    #[cold]
    fn compose(&mut self) {
        if self.len != OVERFLOW {
            let folded = std::str::from_utf8(&self.bytes[..self.len]).expect("whole characters");
            let composed: String = folded.nfc().collect();
            self.len = 0;
            self.push(composed.as_bytes());
        }
        self.has_marks = false;
    }

    /// Hands the term to the sink, unless it is empty, and begins the next one.
    fn emit<S: SpanSink>(&mut self, span: Range<usize>, out: &mut Emitter<S>) {
        if self.has_marks {
            self.compose();
        }
        if self.len != 0 {
            out.emit_outlined(&self.bytes, self.len, span);
        }
        self.len = 0;
    }

    /// Emits `word` folded, as one token, cut from `span`. It is normalized, except for
    /// apostrophes.
    pub(crate) fn emit_folded<S: SpanSink>(
        &mut self,
        word: &str,
        span: Range<usize>,
        out: &mut Emitter<S>,
    ) {
        for c in word.chars() {
            self.push_folded(c);
        }
        self.emit(span, out);
    }

    /// Emits `value` verbatim, as one token.
    pub(crate) fn emit_verbatim<S: SpanSink>(&mut self, value: &str, out: &mut Emitter<S>) {
        self.push(value.as_bytes());
        self.emit(0..value.len(), out);
    }

    /// Returns the term `bytes` in a padded buffer, at `position`. It must fit.
    pub(crate) fn token(&mut self, bytes: &[u8], position: u32) -> Token<'_> {
        self.bytes[..bytes.len()].copy_from_slice(bytes);
        Token::new(&self.bytes, bytes.len(), position)
    }
}

/// Appends `word` in the form of terms: normalized and folded as all analyzers do, but not cut.
/// For beginnings and patterns of words, which queries have.
///
/// ```
/// let mut term = String::new();
/// spirit_text::push_term("STRA\u{ad}ßE’S", &mut term);
/// assert_eq!(term, "strasse's");
/// ```
pub fn push_term(word: &str, term: &mut String) {
    if word.is_ascii() {
        term.extend(word.chars().map(|c| c.to_ascii_lowercase()));
        return;
    }
    let mut lower = String::new();
    for c in Normal::default().read(word).chars() {
        folded(c, |c| {
            if !(c == DOT && lower.ends_with('i')) {
                lower.push(c);
            }
        });
    }
    term.extend(lower.nfc());
}

/// Calls `visit` for the characters that a character of a normalized text folds to.
fn folded(c: char, mut visit: impl FnMut(char)) {
    match c {
        // Frequent letters: the first are small, the second capitals 32 below them, the third have
        // no case.
        '\u{e0}'..='\u{ff}' | '\u{430}'..='\u{44f}' => visit(c),
        '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{de}' | '\u{410}'..='\u{42f}' => {
            visit(char::from_u32(c as u32 + 32).expect("a small letter"));
        }
        '\u{5d0}'..='\u{5ea}' | '\u{620}'..='\u{64a}' | '\u{900}'..='\u{e7f}' => visit(c),
        '\u{3041}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => visit(c),
        // An `n` behind an apostrophe, which is cut off where it is typed as two signs.
        '\u{149}' => visit('n'),
        _ if is_apostrophe(c) => visit('\''),
        _ if is_variation_selector(c) => {}
        _ => {
            let capitals = c.to_lowercase().flat_map(char::to_uppercase);
            capitals.flat_map(char::to_lowercase).for_each(visit);
        }
    }
}
