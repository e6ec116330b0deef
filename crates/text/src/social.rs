//! `social`: `standard`, with the marks of microblogs kept whole.
//!
//! A *mark* is a span that stays one token. No word character (alphanumeric or `_`) may precede it.
//! Marks are:
//!
//! - a tag or a name: `#` or `@` and the word characters and combining marks after it, at least one
//!   of them alphanumeric;
//! - a cash tag: `$` and ASCII letters that no other word character follows (`$AAPL`, but not
//!   `$5M`);
//! - a URL: `http://`, `https://` or `www.` in any case, and the text after it up to white space
//!   or a zero width space, without punctuation at its end. Something must be left after the prefix.
//!
//! `standard` cuts the text between marks, but `++` and `#` stay behind words as in
//! [`code`](crate::code). Emoji in it are tokens: each grapheme that starts with a
//! pictograph, is a flag, or is a keycap. Signs before U+2190 are text by default (`©`, `™`). They
//! count as emoji only if the emoji variation selector follows. An emoji that UAX #29 puts inside a
//! word stays in the word. Variation selectors are left out of terms, so an emoji is one term with
//! and without.
//!
//! Plain runs take the fast lane of `standard`. A run next to a sigil, or at a possible beginning
//! of a URL, sends its region here.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::classes::word_end;
use crate::code::signs_behind;
use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::joins::Joins;
use crate::part::Part;
use crate::scan::{Lower, Run, Runs};
use crate::signs::{is_apostrophe, is_mark, is_pictograph};
use crate::standard::{emit_word, region_end, walk, with_underscores};
use crate::token::SpanSink;

static JOINS: Joins = Joins::SOCIAL;

const URL_PREFIXES: [&str; 3] = ["http://", "https://", "www."];
/// The variation selector that shows a character as an emoji.
const EMOJI_SELECTOR: char = '\u{fe0f}';
const ZERO_WIDTH_SPACE: char = '\u{200b}';
const KEYCAP: char = '\u{20e3}';
/// The first pictograph that needs no `EMOJI_SELECTOR`. Those below are ordinary signs without it.
const PICTOGRAPH_MIN: char = '\u{2190}';

/// Emits the words, marks and emoji of `text`, whose lower-cased copy is `lower` and whose runs are
/// `runs`.
#[inline(never)]
pub(crate) fn words<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    runs: Runs<'_>,
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    walk(lower, runs, &JOINS, out, |floor, run, out| {
        if let Some([start, end]) = plain_span(text, lower, floor, run) {
            emit_word(text, lower, [start, end], fold, out);
            return end;
        }
        let end = region_end(text.as_bytes(), run.end);
        let before = text[..floor].chars().next_back();
        Part::cut(text, floor..end, fold, |part, fold| region(&part, before, fold, out));
        end
    });
}

/// Returns the span to emit for an ASCII run in the most common cases: an ASCII tag or name, or a
/// word of `standard` in which no mark can begin or end. None in other cases.
fn plain_span(text: &str, lower: Lower<'_>, floor: usize, run: Run) -> Option<[usize; 2]> {
    let Run { start, end, mixed } = run;
    if mixed {
        return None;
    }
    match lower.byte_before(start) {
        sigil @ (b'#' | b'@' | b'$') => {
            let [after, _] = lower.pair(end);
            let is_free = start > floor && !may_be_word_byte(lower.byte_before(start - 1));
            let letters = || lower.from(start)[..end - start].iter().all(u8::is_ascii_alphabetic);
            (is_free && after != b'_' && (sigil != b'$' || letters())).then_some([start - 1, end])
        }
        _ => {
            let start = with_underscores(lower, floor, start);
            let end = word_end(text, start)?;
            let end = end + signs_behind(text, &(start..end), false)?;
            let may_begin_url = |pair: &[u8]| matches!(pair, [b'p' | b's' | b'w', b':' | b'.']);
            let has_url = lower.from(start)[..=end - start].windows(2).any(may_begin_url);
            let has_sigil = matches!(lower.byte_before(start), b'#' | b'@' | b'$');
            (!has_url && !has_sigil).then_some([start, end])
        }
    }
}

/// True if a byte of the lower-cased text is, or may be part of, a word character.
fn may_be_word_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | 0x80..)
}

/// Emits the tokens of one part of the text, which follows the character `before`.
#[cold]
#[inline(never)]
fn region<S: SpanSink>(
    part: &Part<'_>,
    before: Option<char>,
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    let text = part.text;
    let (mut gap, mut at) = (0, 0);
    while let Some(skipped) = text.as_bytes()[at..].iter().position(may_begin_mark) {
        at += skipped;
        let before = text[..at].chars().next_back().or(before);
        let len = if before.is_some_and(is_word_char) { 0 } else { mark_len(&text[at..]) };
        if len == 0 {
            at += 1;
            continue;
        }
        between_marks(part, gap..at, fold, out);
        part.emit(at..at + len, fold, out);
        at += len;
        gap = at;
    }
    between_marks(part, gap..text.len(), fold, out);
}

/// True if a mark may begin with this byte.
fn may_begin_mark(byte: &u8) -> bool {
    matches!(byte, b'#' | b'@' | b'$' | b'h' | b'H' | b'w' | b'W')
}

/// Returns the length in bytes of the mark at the beginning of `rest`; 0 without one.
fn mark_len(rest: &str) -> usize {
    match rest.as_bytes().first() {
        Some(b'#' | b'@') => tag_len(rest),
        Some(b'$') => cash_tag_len(rest),
        _ => url_len(rest),
    }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn tag_len(rest: &str) -> usize {
    let body = &rest[1..];
    let continues = |c| is_word_char(c) || is_mark(c);
    let body = &body[..body.find(|c| !continues(c)).unwrap_or(body.len())];
    if body.contains(char::is_alphanumeric) { 1 + body.len() } else { 0 }
}

fn cash_tag_len(rest: &str) -> usize {
    let body = &rest[1..];
    let len = body.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(body.len());
    if len == 0 || body[len..].starts_with(is_word_char) { 0 } else { 1 + len }
}

fn url_len(rest: &str) -> usize {
    let begins = |prefix: &&&str| {
        rest.as_bytes()
            .get(..prefix.len())
            .is_some_and(|s| s.eq_ignore_ascii_case(prefix.as_bytes()))
    };
    let Some(prefix) = URL_PREFIXES.iter().find(begins) else { return 0 };
    let ends = |c: char| c.is_whitespace() || c == ZERO_WIDTH_SPACE;
    let span = &rest[..rest.find(ends).unwrap_or(rest.len())];
    let url = span.trim_end_matches(is_closing_punctuation);
    if url.len() > prefix.len() { url.len() } else { 0 }
}

/// True for punctuation that ends a sentence or closes a quotation around a URL.
fn is_closing_punctuation(c: char) -> bool {
    is_apostrophe(c)
        || matches!(
            c,
            '.' | ','
                | ';'
                | ':'
                | '!'
                | '?'
                | '"'
                | '\''
                | ')'
                | ']'
                | '}'
                | '>'
                | '…'
                | '”'
                | '»'
        )
}

/// Emits the words and emoji of a stretch without marks.
fn between_marks<S: SpanSink>(
    part: &Part<'_>,
    gap: Range<usize>,
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    for (at, segment) in part.text[gap.clone()].split_word_bound_indices() {
        let at = gap.start + at;
        let end = at + segment.len();
        if segment.contains(char::is_alphanumeric) {
            let signs = signs_behind(part.text, &(at..end), true).unwrap_or(0);
            part.emit(at..end + signs, fold, out);
        } else if !segment.is_ascii() {
            let emoji = segment.grapheme_indices(true).filter(|(_, grapheme)| is_emoji(grapheme));
            for (within, grapheme) in emoji {
                let at = at + within;
                part.emit(at..at + grapheme.len(), fold, out);
            }
        }
    }
}

/// True if a grapheme without letters and digits is an emoji.
fn is_emoji(grapheme: &str) -> bool {
    let mut chars = grapheme.chars();
    match chars.next() {
        None => false,
        // Keycaps with digits are words of `standard` already.
        Some('#' | '*') => grapheme.ends_with(KEYCAP),
        Some(first) if is_regional_indicator(first) => {
            chars.next().is_some_and(is_regional_indicator)
        }
        Some(first) => {
            is_pictograph(first) && (first >= PICTOGRAPH_MIN || grapheme.contains(EMOJI_SELECTOR))
        }
    }
}

fn is_regional_indicator(c: char) -> bool {
    ('\u{1f1e6}'..='\u{1f1ff}').contains(&c)
}
