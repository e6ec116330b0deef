//! The normal form of a part of a text: composed (NFC), with one apostrophe, and without the signs
//! that nobody sees.
//!
//! Analyzers cut it instead of the text where the two may differ. So texts that look the same have
//! the same terms. [`Normal::span`] leads back from it to the text.
//!
//! The text is normalized in *pieces*: a character with the marks that may join it. Nothing in one
//! piece changes another.

use std::ops::Range;

use unicode_normalization::char::{canonical_combining_class, compose, decompose_canonical};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::signs::{is_apostrophe, is_kept, is_sign};

/// A normalized part of a text. It is made anew for each part, and keeps its memory.
#[derive(Default)]
pub(crate) struct Normal {
    text: String,
    pieces: Vec<Piece>,
    open: Open,
}

/// A part of the text and its normal form, both of which begin where the piece before ended or
/// later.
#[derive(Clone, Copy)]
struct Piece {
    /// Its first byte in the normal form.
    normal: usize,
    /// Its bytes in the part. Texts are less than 2 GiB long.
    source: u32,
    source_end: u32,
    /// True if both have the same bytes.
    same: bool,
}

/// The piece being read.
#[derive(Default)]
struct Open {
    /// The characters that are kept.
    text: String,
    source: usize,
    source_end: usize,
    /// What they compose to, if that is one character.
    composed: Option<char>,
}

/// True if the normal form of `text` may have other words than the text.
pub(crate) fn may_differ(text: &str) -> bool {
    let mut before = ' ';
    let has_signs = text.chars().any(|c| {
        // Curly quotation marks join words as `'` does, except behind letters of Hebrew.
        let is_plain = is_inert(c) || matches!(c, '\u{2018}' | '\u{2019}') && is_inert(before);
        before = c;
        !is_plain && is_sign(c)
    });
    has_signs || is_nfc_quick(text.chars().filter(|&c| !is_inert(c))) != IsNormalized::Yes
}

/// True for frequent characters that always stay as they are and begin a piece. A part of a text
/// without others needs no tables.
fn is_inert(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{ac}' | '\u{ae}'..='\u{2ba}' | '\u{391}'..='\u{3a1}' | '\u{3a3}'..='\u{3cf}'
            | '\u{400}'..='\u{482}' | '\u{48a}'..='\u{52f}'
            | '\u{620}'..='\u{64a}' | '\u{e01}'..='\u{e30}' | '\u{e40}'..='\u{e46}'
            | '\u{2010}'..='\u{2015}' | '\u{201c}'..='\u{2027}' | '\u{3002}'..='\u{3029}'
            | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}'
    )
}

impl Normal {
    /// Returns the normal form of `part`.
    pub(crate) fn read(&mut self, part: &str) -> &str {
        self.text.clear();
        self.pieces.clear();
        let mut before = None;
        for (at, c) in part.char_indices() {
            let end = at + c.len_utf8();
            if !is_inert(c) && !is_kept(c, before, &part[end..]) {
                continue;
            }
            before = Some(c);
            if is_apostrophe(c) {
                self.close(part);
                self.push("'", at..end, false);
            } else if !self.open.join(c, end) {
                self.close(part);
                self.open.begin(c, at..end);
            }
        }
        self.close(part);
        &self.text
    }

    /// Returns the normal form that was made last.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.text.capacity() + self.pieces.capacity() * size_of::<Piece>()
    }

    /// Appends the piece that is open, if there is one.
    fn close(&mut self, part: &str) {
        let Some(first) = self.open.text.chars().next() else { return };
        let source = self.open.source..self.open.source_end;
        let mut normal = std::mem::take(&mut self.open.text);
        if !is_inert(first) || normal.len() > first.len_utf8() {
            normal = normal.nfc().collect();
        }
        let same = normal == part[source.clone()];
        if !same && normal.starts_with(first) {
            // The marks after a line's end, for instance, may be a word without it.
            let head = first.len_utf8();
            self.push(&normal[..head], source.start..source.start + head, true);
            self.push(&normal[head..], source.start + head..source.end, false);
        } else {
            self.push(&normal, source, same);
        }
        normal.clear();
        self.open.text = normal;
    }

    fn push(&mut self, text: &str, source: Range<usize>, same: bool) {
        let normal = self.text.len();
        self.text.push_str(text);
        let [source, source_end] = [source.start, source.end].map(|at| at as u32);
        match self.pieces.last_mut() {
            Some(last) if same && last.same && last.source_end == source => {
                last.source_end = source_end;
            }
            _ => self.pieces.push(Piece { normal, source, source_end, same }),
        }
    }

    /// Returns the bytes of the part that bytes `of` of its normal form were made from. `of` is not
    /// empty.
    pub(crate) fn span(&self, of: Range<usize>) -> Range<usize> {
        let piece_of = |byte: usize| {
            let after = self.pieces.partition_point(|piece| piece.normal <= byte);
            self.pieces[after - 1]
        };
        let (first, last) = (piece_of(of.start), piece_of(of.end - 1));
        let within = |piece: Piece, at: usize| piece.source as usize + at - piece.normal;
        let start = if first.same { within(first, of.start) } else { first.source as usize };
        let end = if last.same { within(last, of.end) } else { last.source_end as usize };
        start..end
    }
}

impl Open {
    fn begin(&mut self, c: char, source: Range<usize>) {
        self.text.push(c);
        (self.source, self.source_end) = (source.start, source.end);
        self.composed = Some(c);
    }

    /// Appends `c`, which ends at byte `end`, if it belongs to the piece.
    fn join(&mut self, c: char, end: usize) -> bool {
        if self.text.is_empty() || is_inert(c) {
            return false;
        }
        let composed = self.composed.and_then(|before| compose(before, c));
        if composed.is_none() && canonical_combining_class(c) == 0 && !self.may_join_first_of(c) {
            return false;
        }
        self.text.push(c);
        self.source_end = end;
        self.composed = composed;
        true
    }

    /// True if the piece may compose with the first character that `c` decomposes to.
    fn may_join_first_of(&self, c: char) -> bool {
        let mut first = None;
        decompose_canonical(c, |part| first = first.or(Some(part)));
        first.filter(|&part| part != c).is_some_and(|part| {
            let composes = |before| compose(before, part).is_some();
            canonical_combining_class(part) != 0 || self.composed.is_some_and(composes)
        })
    }
}
