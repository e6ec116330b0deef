//! `standard`: the words of UAX #29, lower-cased.
//!
//! Three lanes, and a run takes the slowest it needs. A run of ASCII that nothing joins to a
//! neighbour is a word: most are, and they cost little more than in `simple`. A run with a join
//! (`don't`, `3.14`, `snake_case`) or with characters whose class is known (`naïve`, `“so”`) is cut
//! character by character. Where a rarer character has a say, a *region* of the text goes to the
//! `unicode-segmentation` crate, which knows all rules and tables; this file only proves where text
//! may be cut for it:
//!
//! * A region starts where the word before it ended (its *floor*). That word is of letters, digits
//!   and `_` that joined to nothing, so there is a boundary, and no rule of UAX #29 looks back
//!   across one at which such a word ends.
//! * A region ends before ASCII white space that an ASCII byte follows. The rules always break
//!   before such a space, unless another space is in front of it, and always between a space and an
//!   ASCII character that is not a space.

use unicode_segmentation::UnicodeSegmentation;

use crate::classes::{CORE, UNKNOWN, class_at, word_end};
use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::joins::Joins;
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
    walk(lower, runs, &JOINS, out, |floor, run, out| slow_lane(text, lower, floor, run, fold, out));
}

/// Emits runs that are words by themselves; calls `slow(floor, run, out)` for the others.
///
/// `slow` emits everything from `floor` to at least the end of the run, and returns up to which
/// byte of the text it came: the next floor. It may come as far as into the middle of a later run,
/// but only of a mixed one.
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
            // Runs below the floor are done with, and so is the part below it of a mixed one.
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

/// The lanes for runs that are not words by themselves; see [`walk`].
#[cold]
#[inline(never)]
fn slow_lane<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    mut floor: usize,
    run: Run,
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
        let Some(end) = end else { return region(text, floor, run.end, fold, out) };
        emit_word(text, lower, [at, end], fold, out);
        (floor, at) = (end, end);
    }
    at
}

/// Where the word of a run that starts at byte `start` starts, if nothing but `_` is added in
/// front.
pub(crate) fn with_underscores(lower: Lower<'_>, floor: usize, mut start: usize) -> usize {
    while start > floor && lower.byte_before(start) == b'_' {
        start -= 1;
    }
    start
}

/// Emits one stretch of the text, unless it is made of `_` only.
pub(crate) fn emit_word<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    [start, end]: [usize; 2],
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    let word = &text[start..end];
    if !word.is_ascii() {
        fold.emit_lower(word, start, out);
    } else if word.bytes().any(|byte| byte != b'_') {
        out.emit_outlined(lower.from(start), word.len(), start..end);
    }
}

/// Has the segmentation crate cut the region from `floor` on that holds byte `from`; returns its
/// end.
#[inline(never)]
fn region<S: SpanSink>(
    text: &str,
    floor: usize,
    from: usize,
    fold: &mut Fold,
    out: &mut Emitter<S>,
) -> usize {
    let end = region_end(text.as_bytes(), from);
    for (at, word) in text[floor..end].unicode_word_indices() {
        fold.emit_lower(word, floor + at, out);
    }
    end
}

/// Where the region that holds byte `from` may end: see the head of this file.
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
