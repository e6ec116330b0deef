//! `standard`: the words of UAX #29, lower-cased.
//!
//! Three lanes, and a run takes the slowest it needs. A run of ASCII that nothing joins to a neighbour is a word: most
//! are, and they cost what they cost in `simple`. A run with an ASCII join (`don't`, `3.14`, `snake_case`) is grown byte by
//! byte. Where a non-ASCII byte is involved, a *region* of the text goes to the `unicode-segmentation` crate, which knows
//! the rules and the tables; this file only proves where text may be cut for it:
//!
//! * A region starts where the word before it ended (its *floor*). That word was ASCII and joined to nothing, so there is a
//!   boundary, and no rule of UAX #29 looks back across one that an ASCII word ends at.
//! * A region ends before ASCII white space that an ASCII byte follows. The rules always break before such a space, unless
//!   another space is in front of it, and always between a space and an ASCII character that is not a space.

use unicode_segmentation::UnicodeSegmentation;

use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::joins::{Joins, is_core, is_joined};
use crate::scan::{Lower, Run, Runs};
use crate::token::Token;

static JOINS: Joins = Joins::STANDARD;

/// Emits the words of `text`, whose lower-cased copy is `lower` and whose runs are `runs`.
#[inline(always)]
pub(crate) fn words<F: FnMut(Token<'_>)>(
    text: &str,
    lower: Lower<'_>,
    runs: Runs<'_>,
    fold: &mut Fold,
    out: &mut Emitter<F>,
) {
    walk(lower, runs, &JOINS, out, |floor, run, out| slow_lane(text, lower, floor, run, fold, out));
}

/// Emits runs that are words by themselves; calls `slow(floor, run, out)` for the others.
///
/// `slow` emits everything from `floor` to at least the end of the run, and returns up to which byte of the text it came;
/// that byte is not inside a run.
#[inline(always)]
pub(crate) fn walk<F: FnMut(Token<'_>)>(
    lower: Lower<'_>,
    runs: Runs<'_>,
    joins: &Joins,
    out: &mut Emitter<F>,
    mut slow: impl FnMut(usize, Run, &mut Emitter<F>) -> usize,
) {
    let mut floor = 0;
    for run @ Run { start, end, mixed } in runs {
        if start < floor {
            // It went into the word or region of an earlier run.
            continue;
        }
        if mixed | joins.suspect(lower.byte_before(start), lower.around(end)) {
            floor = slow(floor, run, out);
            debug_assert!(floor >= end);
        } else {
            out.emit(lower.from(start), end - start);
            floor = end;
        }
    }
}

/// The lanes for runs that are not words by themselves; see [`walk`].
#[cold]
#[inline(never)]
fn slow_lane<F: FnMut(Token<'_>)>(
    text: &str,
    lower: Lower<'_>,
    floor: usize,
    run: Run,
    fold: &mut Fold,
    out: &mut Emitter<F>,
) -> usize {
    if !run.mixed
        && let Some([start, end]) = grow(lower, floor, run)
    {
        out.emit_outlined(lower.from(start), end - start);
        return end;
    }
    let end = region_end(text.as_bytes(), run.end);
    for word in text[floor..end].unicode_words() {
        fold.emit_lower(word, out);
    }
    end
}

/// The whole word around an ASCII run, or `None` if a non-ASCII character might belong to it.
fn grow(lower: Lower<'_>, floor: usize, run: Run) -> Option<[usize; 2]> {
    let Run { mut start, mut end, .. } = run;
    while start > floor && lower.byte_before(start) == b'_' {
        start -= 1;
    }
    loop {
        let around @ [_, byte, next] = lower.around(end);
        if is_core(byte) {
            end += 1;
        } else if byte >= 0x80 || (next >= 0x80 && is_joined(around)) {
            return None;
        } else if is_joined(around) {
            end += 2;
        } else {
            return Some([start, end]);
        }
    }
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
