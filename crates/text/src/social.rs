//! `social`: `standard`, and what microblogs add to words is kept whole.
//!
//! A *mark* is a span that stays one token. It starts where no word character (alphanumeric or `_`) is in front:
//!
//! * a tag or a name: `#` or `@` and the word characters after it, at least one of them alphanumeric;
//! * a cash tag: `$` and ASCII letters that no other word character follows (`$AAPL`, but not `$5M`);
//! * a URL: `http://`, `https://` or `www.` in any case and what follows up to white space, without punctuation at its end,
//!   if then anything is left after the prefix.
//!
//! The text between marks is cut as `standard` cuts it, and emoji in it are tokens: each grapheme that starts with a
//! pictograph, is a flag, or is a keycap. Of the signs before U+2190, which are text unless asked otherwise (`©`, `™`),
//! only those followed by the emoji variation selector count. An emoji that UAX #29 puts inside a word stays in the word.
//!
//! Plain runs take the fast lane of `standard`; a run next to a sigil or at what could begin a URL sends its region here.

use unicode_segmentation::UnicodeSegmentation;

use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::joins::Joins;
use crate::scan::{Lower, Runs};
use crate::standard::{region_end, walk};
use crate::token::Token;

static JOINS: Joins = Joins::SOCIAL;

const URL_PREFIXES: [&str; 3] = ["http://", "https://", "www."];
/// Asks for a character to be shown as an emoji.
const EMOJI_SELECTOR: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';
/// Pictographs below are ordinary signs unless `EMOJI_SELECTOR` follows.
const PICTOGRAPH_MIN: char = '\u{2190}';

/// Emits the words, marks and emoji of `text`, whose lower-cased copy is `lower` and whose runs are `runs`.
#[inline(always)]
pub(crate) fn words<F: FnMut(Token<'_>)>(
    text: &str,
    lower: Lower<'_>,
    runs: Runs<'_>,
    fold: &mut Fold,
    out: &mut Emitter<F>,
) {
    walk(lower, runs, &JOINS, out, |floor, run, out| {
        let end = region_end(text.as_bytes(), run.end);
        region(text, [floor, end], fold, out);
        end
    });
}

/// Emits what is in one region of `text`.
#[cold]
#[inline(never)]
fn region<F: FnMut(Token<'_>)>(
    text: &str,
    [start, end]: [usize; 2],
    fold: &mut Fold,
    out: &mut Emitter<F>,
) {
    let mut before = text[..start].chars().next_back();
    let (mut gap, mut at) = (start, start);
    while let Some(c) = text[at..end].chars().next() {
        match mark_len(&text[at..end], before) {
            0 => {
                at += c.len_utf8();
                before = Some(c);
            }
            len => {
                between_marks(&text[gap..at], fold, out);
                fold.emit_lower(&text[at..at + len], out);
                at += len;
                gap = at;
                before = text[..at].chars().next_back();
            }
        }
    }
    between_marks(&text[gap..end], fold, out);
}

/// Length in bytes of the mark that `rest` begins with, 0 if with none; `before` is the character in front.
fn mark_len(rest: &str, before: Option<char>) -> usize {
    let first = rest.as_bytes()[0];
    if !matches!(first, b'#' | b'@' | b'$' | b'h' | b'H' | b'w' | b'W')
        || before.is_some_and(is_word_char)
    {
        return 0;
    }
    match first {
        b'#' | b'@' => tag_len(rest),
        b'$' => cash_tag_len(rest),
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

/// Punctuation that ends a sentence or closes a quotation around a URL rather than belonging to it.
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

/// Words and emoji of text that holds no mark.
fn between_marks<F: FnMut(Token<'_>)>(text: &str, fold: &mut Fold, out: &mut Emitter<F>) {
    if text.is_ascii() {
        return text.unicode_words().for_each(|word| fold.emit_lower(word, out));
    }
    for segment in text.split_word_bounds() {
        if segment.contains(char::is_alphanumeric) {
            fold.emit_lower(segment, out);
        } else if !segment.is_ascii() {
            let emoji = segment.graphemes(true).filter(|grapheme| is_emoji(grapheme));
            emoji.for_each(|grapheme| fold.emit_verbatim(grapheme, out));
        }
    }
}

/// Whether a grapheme without letters and digits is an emoji.
fn is_emoji(grapheme: &str) -> bool {
    let mut chars = grapheme.chars();
    match chars.next() {
        None => false,
        // Keys with digits on them are words of `standard` already.
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

/// Whether `c` has the property Extended_Pictographic.
///
/// The segmentation crate has the table but does not export it. Rule WB3c does: after a zero width joiner it keeps exactly
/// these characters. (It keeps extending characters too, by WB4; none of those begins a visible grapheme, and those that
/// stand alone are told apart by their not attaching to a preceding space.)
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
