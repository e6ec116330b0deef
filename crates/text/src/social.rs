//! `social`: `standard`, with the marks of microblogs kept whole.
//!
//! A *mark* is a span that stays one token. No word character (alphanumeric or `_`) may precede it.
//! Marks are:
//!
//! - a tag or a name: `#` or `@` and the word characters after it, at least one of them
//!   alphanumeric;
//! - a cash tag: `$` and ASCII letters that no other word character follows (`$AAPL`, but not
//!   `$5M`);
//! - a URL: `http://`, `https://` or `www.` in any case, and the text after it up to white space,
//!   without punctuation at its end. Something must be left after the prefix.
//!
//! `standard` cuts the text between marks. Emoji in it are tokens: each grapheme that starts with a
//! pictograph, is a flag, or is a keycap. Signs before U+2190 are text by default (`©`, `™`). They
//! count as emoji only if the emoji variation selector follows. An emoji that UAX #29 puts inside a
//! word stays in the word.
//!
//! Plain runs take the fast lane of `standard`. A run next to a sigil, or at a possible beginning
//! of a URL, sends its region here.

use unicode_segmentation::UnicodeSegmentation;

use crate::classes::word_end;
use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::joins::Joins;
use crate::scan::{Lower, Run, Runs};
use crate::standard::{emit_word, region_end, walk, with_underscores};
use crate::token::SpanSink;

static JOINS: Joins = Joins::SOCIAL;

const URL_PREFIXES: [&str; 3] = ["http://", "https://", "www."];
/// The variation selector that shows a character as an emoji.
const EMOJI_SELECTOR: char = '\u{fe0f}';
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
        region(text, lower, [floor, end], fold, out);
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

/// Emits the tokens of one region of `text`.
#[cold]
#[inline(never)]
fn region<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    [start, end]: [usize; 2],
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    let (mut gap, mut at) = (start, start);
    while let Some(skipped) = lower.from(at)[..end - at].iter().position(may_begin_mark) {
        at += skipped;
        let before = text[..at].chars().next_back();
        let len = if before.is_some_and(is_word_char) { 0 } else { mark_len(&text[at..end]) };
        if len == 0 {
            at += 1;
            continue;
        }
        between_marks(text, lower, [gap, at], fold, out);
        emit_word(text, lower, [at, at + len], fold, out);
        at += len;
        gap = at;
    }
    between_marks(text, lower, [gap, end], fold, out);
}

/// True if a mark may begin with this byte of the lower-cased text.
fn may_begin_mark(byte: &u8) -> bool {
    matches!(byte, b'#' | b'@' | b'$' | b'h' | b'w')
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
    let body = &body[..body.find(|c| !is_word_char(c)).unwrap_or(body.len())];
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
    let span = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
    let url = span.trim_end_matches(is_closing_punctuation);
    if url.len() > prefix.len() { url.len() } else { 0 }
}

/// True for punctuation that ends a sentence or closes a quotation around a URL.
fn is_closing_punctuation(c: char) -> bool {
    matches!(
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
            | '’'
            | '”'
            | '»'
    )
}

/// Emits the words and emoji of a part of the text without marks.
fn between_marks<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    [start, end]: [usize; 2],
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    let gap = &text[start..end];
    if gap.is_ascii() {
        let words = gap.unicode_word_indices().map(|(at, word)| (start + at, word.len()));
        return words.for_each(|(at, len)| out.emit_outlined(lower.from(at), len, at..at + len));
    }
    for (at, segment) in gap.split_word_bound_indices() {
        let at = start + at;
        if segment.contains(char::is_alphanumeric) {
            fold.emit_lower(segment, at, out);
        } else if !segment.is_ascii() {
            let emoji = segment.grapheme_indices(true).filter(|(_, grapheme)| is_emoji(grapheme));
            emoji.for_each(|(within, grapheme)| fold.emit_verbatim(grapheme, at + within, out));
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

/// True if `c` has the property Extended_Pictographic.
///
/// The segmentation crate has the table but does not export it. Its rule WB3c shows the property:
/// after a zero width joiner it keeps exactly these characters. It also keeps extending characters,
/// by WB4. None of those begins a visible grapheme. Those that stand alone attach to a preceding
/// `-` as well, which pictographs do not.
fn is_pictograph(c: char) -> bool {
    let attaches = |before: char| {
        let mut pair = [0; 8];
        let split = before.encode_utf8(&mut pair).len();
        let len = split + c.encode_utf8(&mut pair[split..]).len();
        let pair = std::str::from_utf8(&pair[..len]).expect("two whole characters");
        pair.split_word_bounds().next() == Some(pair)
    };
    !c.is_ascii() && attaches('\u{200d}') && !attaches('-')
}
