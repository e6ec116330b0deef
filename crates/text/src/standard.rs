//! `standard`: the words of UAX #29 in the text's normal form, folded.
//!
//! There are three lanes, and a run takes the slowest that it needs:
//!
//! - A run of ASCII that nothing joins to a neighbour is a word. Most are, at little more cost than
//!   in `simple`.
//! - A run with a join (`don't`, `3.14`, `snake_case`) or with characters of known class (`naïve`,
//!   `“so”`) is cut character by character.
//! - If a rarer character decides, a *region* of the text goes to the `unicode-segmentation` crate,
//!   which has all rules and tables.
//!
//! A region is [normalized](crate::normal) before it is cut, if that may change its words. The other
//! lanes have only characters that stay as they are.
//!
//! This file only proves where a region may begin and end:
//!
//! - A region begins where the word before it ended (its *floor*). The word has letters, digits
//!   and `_` that joined to nothing. So there is a boundary, and no rule of UAX #29 looks back
//!   across it.
//! - A region ends before ASCII white space that an ASCII byte follows. The rules always break
//!   before such a space, unless another space precedes it. They always break between a space and
//!   an ASCII character that is no space. Such characters begin pieces of the normal form, so that
//!   changes nothing across the boundary.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::classes::{CORE, UNKNOWN, class_at, word_end};
use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::joins::Joins;
use crate::part::Part;
use crate::scan::{Lower, Run, Runs};
use crate::token::SpanSink;

static JOINS: Joins = Joins::STANDARD;

/// Emits the words of `text`, whose lower-cased copy is `lower` and whose runs are `runs`.
#[inline(never)]
pub(crate) fn words<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    runs: Runs<'_>,
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    let widen = &|_: Around<'_>, word| Some(word);
    walk(lower, runs, &JOINS, out, |floor, run, out| {
        slow_lane(text, lower, floor, run, widen, fold, out)
    });
}

/// What a word stands in.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) text: &'a str,
    /// The end of the word before.
    pub(crate) floor: usize,
    /// The character before `text`, if that is not the whole text.
    pub(crate) before: Option<char>,
    /// True if `text` is in normal form.
    pub(crate) is_normal: bool,
}

/// Emits runs that are words alone. Calls `slow(floor, run, out)` for the others.
///
/// `slow` emits everything from `floor` to at least the end of the run. It returns the end of what
/// it emitted, in bytes of the text: the next floor. This may be inside a later run, but only
/// inside a mixed one.
#[inline(always)]
pub(crate) fn walk<S: SpanSink>(
    lower: Lower<'_>,
    mut runs: Runs<'_>,
    joins: &Joins,
    out: &mut Emitter<S>,
    mut slow: impl FnMut(usize, Run, &mut Emitter<S>) -> usize,
) {
    let mut floor = 0;
    let mut position = out.summary.tokens;
    let mut next = runs.next();
    while let Some(run @ Run { start, end, mixed }) = next {
        if mixed | joins.suspect(lower.byte_before(start), lower.pair(end)) {
            out.summary.tokens = position;
            floor = slow(floor, run, out);
            position = out.summary.tokens;
            debug_assert!(floor >= end);
            // Runs below the floor are emitted, and so is the part of a mixed run below it.
            next = runs.find(|run| run.end > floor);
            next = next.map(|run| Run { start: run.start.max(floor), ..run });
        } else {
            out.emit_at(position, lower.from(start), end - start, start..end);
            position += 1;
            floor = end;
            next = runs.next();
        }
    }
    out.summary.tokens = position;
}

/// Cuts runs that are not words alone, see [`walk`]. `widen` returns a word with the signs around it
/// that belong to it; none if the normal form decides.
#[cold]
#[inline(never)]
pub(crate) fn slow_lane<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    mut floor: usize,
    run: Run,
    widen: &impl Fn(Around<'_>, Range<usize>) -> Option<Range<usize>>,
    fold: &mut Fold,
    out: &mut Emitter<S>,
) -> usize {
    let mut at = with_underscores(lower, floor, run.start);
    while at < run.end {
        let (class, len) = class_at(text, at);
        if class & (CORE | UNKNOWN) == 0 {
            at += len;
            continue;
        }
        let end = if class == UNKNOWN { None } else { word_end(text, at) };
        let around = Around { text, floor, before: None, is_normal: false };
        let Some(Range { start, end }) = end.and_then(|end| widen(around, at..end)) else {
            return region(text, floor, run.end, widen, fold, out);
        };
        emit_word(text, lower, [start, end], fold, out);
        (floor, at) = (end, end);
    }
    at
}

/// Returns the beginning of the word whose run begins at byte `start`, if only `_` are added in
/// front.
pub(crate) fn with_underscores(lower: Lower<'_>, floor: usize, mut start: usize) -> usize {
    while start > floor && lower.byte_before(start) == b'_' {
        start -= 1;
    }
    start
}

/// Emits one word of the text, unless it has only `_`.
pub(crate) fn emit_word<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    [start, end]: [usize; 2],
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    let word = &text[start..end];
    if !word.is_ascii() {
        fold.emit_folded(word, start..end, out);
    } else if word.bytes().any(|byte| byte != b'_') {
        out.emit_outlined(lower.from(start), word.len(), start..end);
    }
}

/// Lets the segmentation crate cut the region that begins at `floor` and contains byte `from`, in
/// normal form. Returns its end.
#[inline(never)]
fn region<S: SpanSink>(
    text: &str,
    floor: usize,
    from: usize,
    widen: &impl Fn(Around<'_>, Range<usize>) -> Option<Range<usize>>,
    fold: &mut Fold,
    out: &mut Emitter<S>,
) -> usize {
    let end = region_end(text.as_bytes(), from);
    Part::cut(text, floor..end, fold, |part, fold| {
        let before = text[..part.start].chars().next_back();
        let mut around = Around { text: part.text, floor: 0, before, is_normal: true };
        for (at, word) in part.text.unicode_word_indices() {
            let bare = at..at + word.len();
            let word = widen(around, bare.clone()).unwrap_or(bare);
            around.floor = word.end;
            part.emit(word, fold, out);
        }
    });
    end
}

/// Returns the end of the region that contains byte `from`: see the head of this file. Each round
/// of the loop begins after the last white space.
pub(crate) fn region_end(text: &[u8], from: usize) -> usize {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let mut at = from;
    loop {
        let Some(end) = text[at..].iter().position(is_space).map(|n| at + n) else {
            return text.len();
        };
        let Some(next) = text[end..].iter().position(|byte| !is_space(byte)).map(|n| end + n)
        else {
            return end;
        };
        if text[next].is_ascii() {
            return end;
        }
        at = next;
    }
}
