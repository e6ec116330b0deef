//! The bounds of a fragment: around a match, at the ends of sentences, else between words.
//!
//! Sentences and words are those of UAX #29, so text without blanks is cut well too. Boundaries are
//! searched only near the place where a fragment would end by its length. The rules look ahead as
//! long as they find no word, and a hostile text may have none.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// Characters that a bound may be moved by, at most.
const REACH: usize = 400;
/// Characters before and after a range that are read to find the boundaries in it.
const CONTEXT: usize = 50;

/// The unit that text is cut between.
#[derive(Clone, Copy)]
enum Unit {
    Sentence,
    Word,
}

/// Returns a fragment of this many characters around `core`, within `free`. Only a longer core
/// makes it longer. `free` is bounded by the ends of the text or by other fragments. All are bytes
/// of `text`.
pub(super) fn around(
    text: &str,
    core: Range<usize>,
    free: Range<usize>,
    characters: usize,
) -> Range<usize> {
    let spare = characters.saturating_sub(characters_of(text, core.clone()));
    let start = begin(text, &core, free.start, spare);
    let spare = spare - characters_of(text, start..core.start);
    let end = finish(text, start, &core, free.end, spare);
    let spare = spare - characters_of(text, core.end..end);
    // If nothing follows, there is more room in front.
    let start = if end == free.end { extended(text, start, free.start, spare) } else { start };
    start..end
}

/// Trims white space at the ends of `range`, but keeps `core`.
pub(super) fn trimmed(text: &str, range: Range<usize>, core: Range<usize>) -> Range<usize> {
    let before = text[range.start..core.start].trim_start();
    let behind = text[core.end..range.end].trim_end();
    core.start - before.len()..core.end + behind.len()
}

/// Returns the beginning of the core's sentence, if there is room for it; else a word's beginning
/// before the core.
fn begin(text: &str, core: &Range<usize>, free: usize, spare: usize) -> usize {
    let farthest = back(text, core.start, spare).max(free);
    let sentence = last(text, farthest..core.start, Unit::Sentence);
    sentence.unwrap_or_else(|| {
        // Leave half of the room for the text after the core.
        let half = back(text, core.start, spare / 2).max(free);
        first(text, half..core.start, Unit::Word).unwrap_or(core.start)
    })
}

/// Returns the last end of a sentence that there is room for, if it is not too early; else the last
/// end of a word.
fn finish(text: &str, start: usize, core: &Range<usize>, free: usize, spare: usize) -> usize {
    let farthest = forward(text, core.end, spare).min(free);
    if farthest == free {
        return free;
    }
    // Cutting a sentence is better than leaving a third of the room empty.
    let early = text.ceil_char_boundary(start + (farthest - start) / 3 * 2).max(core.end);
    let sentence = last(text, early..farthest, Unit::Sentence);
    let word = || last(text, core.end..farthest, Unit::Word);
    sentence.or_else(word).filter(|end| *end > start).unwrap_or(farthest)
}

/// Moves `start` back to a better place, for a fragment with room for this many more characters.
fn extended(text: &str, start: usize, free: usize, spare: usize) -> usize {
    let farthest = back(text, start, spare).max(free);
    if farthest == free {
        return free;
    }
    let sentence = first(text, farthest..start, Unit::Sentence);
    sentence.or_else(|| first(text, farthest..start, Unit::Word)).unwrap_or(start)
}

/// Returns the first place in `range`, ends included, where a unit begins.
fn first(text: &str, range: Range<usize>, unit: Unit) -> Option<usize> {
    let end = forward(text, range.start, REACH).min(range.end);
    beginnings(text, range.start..end, unit).first().copied()
}

/// Like [`first`], for the last place.
fn last(text: &str, range: Range<usize>, unit: Unit) -> Option<usize> {
    let start = back(text, range.end, REACH).max(range.start);
    beginnings(text, start..range.end, unit).last().copied()
}

/// Returns all places in `range`, ends included, where units begin.
fn beginnings(text: &str, range: Range<usize>, unit: Unit) -> Vec<usize> {
    let from = back(text, range.start, CONTEXT);
    let around = &text[from..forward(text, range.end, CONTEXT)];
    let mut found: Vec<usize> = match unit {
        Unit::Sentence => around.split_sentence_bound_indices().map(|(at, _)| from + at).collect(),
        Unit::Word => around.split_word_bound_indices().map(|(at, _)| from + at).collect(),
    };
    // The beginning of the context is not a boundary, unless the text begins there.
    let is_true = |at: usize| at > from || from == 0;
    found.retain(|at| range.start <= *at && *at <= range.end && is_true(*at));
    found
}

fn characters_of(text: &str, range: Range<usize>) -> usize {
    text[range].chars().count()
}

/// Returns the byte offset this many characters before `at`, or 0.
fn back(text: &str, at: usize, characters: usize) -> usize {
    let Some(nth) = characters.checked_sub(1) else { return at };
    text[..at].char_indices().nth_back(nth).map_or(0, |(at, _)| at)
}

/// Returns the byte offset this many characters after `at`, or the end.
fn forward(text: &str, at: usize, characters: usize) -> usize {
    text[at..].char_indices().nth(characters).map_or(text.len(), |(behind, _)| at + behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the fragment around a word of a text without other fragments.
    fn fragment<'t>(text: &'t str, word: &str, characters: usize) -> &'t str {
        let start = text.find(word).unwrap();
        let core = start..start + word.len();
        let range = around(text, core.clone(), 0..text.len(), characters);
        &text[trimmed(text, range, core)]
    }

    #[test]
    fn it_begins_and_ends_with_sentences_where_it_can() {
        let text = "One is here. Two comes by the sea! Three follows it. Four ends it all.";
        assert_eq!(fragment(text, "comes", 42), "Two comes by the sea! Three follows it.");
        assert_eq!(fragment(text, "One", 15), "One is here.");
        assert_eq!(fragment(text, "ends", 25), "Four ends it all.");
        assert_eq!(fragment(text, "ends", 40), "Three follows it. Four ends it all.");
    }

    #[test]
    fn it_is_cut_between_words_else() {
        let text = "a very long sentence that goes on and on and never seems to come to any end";
        assert_eq!(fragment(text, "goes", 25), "that goes on and on and");
        assert_eq!(fragment(text, "any", 21), "to come to any end");
        assert_eq!(fragment(text, "very", 11), "a very long");
    }

    #[test]
    fn text_without_blanks_is_cut_too() {
        let text = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。";
        assert_eq!(fragment(text, "名前", 9), "名前はまだ無い。");
        assert_eq!(fragment(text, "無い", 4).chars().count(), 4);
        let blob = "x".repeat(5000);
        assert_eq!(fragment(&blob, "x", 100).len(), 100);
    }
}
