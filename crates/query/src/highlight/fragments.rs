//! The choice of fragments: the passages of a text that best show why it was found.
//!
//! A stretch of marks that fits into a fragment is worth the number of its different terms, first
//! of those that no fragment shows yet. Ties go to the stretch with more marks. The best stretch
//! becomes a fragment, with the text around it, and the next one is searched in the rest.

use std::cmp::Reverse;
use std::ops::Range;

use super::bounds;
use super::marks::Mark;

/// Chooses the fragments of `text` to show, in the order of the text: at most `count`, of about
/// `characters` characters. Returns the whole text if it is no longer, and its beginning if nothing
/// is marked. A blank text has no fragments.
pub(super) fn choose(
    text: &str,
    marks: &[Mark],
    characters: usize,
    count: usize,
) -> Vec<Range<usize>> {
    if text.trim_start().is_empty() {
        return Vec::new();
    }
    if text.chars().nth(characters).is_none() {
        let whole = 0..text.len();
        return vec![whole];
    }
    if marks.is_empty() {
        return vec![beginning(text, characters)];
    }
    let mut stretches = Stretches::new(marks, characters);
    let mut chosen: Vec<Range<usize>> = Vec::new();
    // Invariant: fragments are disjoint and in order. Terminates: each round adds a fragment, at
    // most `count`.
    while chosen.len() < count {
        let gaps = gaps(text, &chosen);
        let best = gaps.iter().enumerate().filter_map(|(gap, free)| {
            stretches.best(free).map(|(worth, stretch)| (worth, stretch, gap))
        });
        let Some((_, stretch, gap)) = best.max_by_key(|(worth, ..)| *worth) else { break };
        let core = marks[stretch.start].bytes.start..marks[stretch.end - 1].bytes.end;
        let fragment = bounds::around(text, core.clone(), gaps[gap].clone(), characters);
        let fragment = bounds::trimmed(text, whole_marks(marks, fragment), core);
        stretches.show(&fragment);
        chosen.insert(gap, fragment);
    }
    chosen
}

/// Returns the beginning of a text that is longer than a fragment.
fn beginning(text: &str, characters: usize) -> Range<usize> {
    let blank = text.len() - text.trim_start().len();
    let core = blank..blank;
    let fragment = bounds::around(text, core.clone(), blank..text.len(), characters);
    bounds::trimmed(text, fragment, core)
}

/// Returns the gaps between fragments: one before each of them, and one after the last.
fn gaps(text: &str, fragments: &[Range<usize>]) -> Vec<Range<usize>> {
    let starts = std::iter::once(0).chain(fragments.iter().map(|fragment| fragment.end));
    let ends = fragments.iter().map(|fragment| fragment.start).chain([text.len()]);
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// Returns the marks that lie wholly in `range` of the text.
fn within(marks: &[Mark], range: &Range<usize>) -> Range<usize> {
    let first = marks.partition_point(|mark| mark.bytes.start < range.start);
    let end = marks.partition_point(|mark| mark.bytes.end <= range.end);
    first..end.max(first)
}

/// Shortens `range` so that it cuts no mark.
fn whole_marks(marks: &[Mark], mut range: Range<usize>) -> Range<usize> {
    let around = |at: usize| {
        let next = marks.partition_point(|mark| mark.bytes.end <= at);
        marks.get(next).filter(|mark| mark.bytes.start < at)
    };
    if let Some(mark) = around(range.start) {
        range.start = mark.bytes.end;
    }
    if let Some(mark) = around(range.end) {
        range.end = mark.bytes.start;
    }
    range
}

/// The worth of a stretch of marks: terms not shown yet, terms, marks. Ties go to the first
/// stretch.
type Worth = (usize, usize, usize, Reverse<usize>);

/// The stretches of marks that fit into a fragment.
struct Stretches<'m> {
    marks: &'m [Mark],
    characters: usize,
    /// For each term, true if a fragment shows it.
    shown: Vec<bool>,
    /// For each term, the number of its marks in the current stretch.
    counts: Vec<usize>,
}

impl<'m> Stretches<'m> {
    fn new(marks: &'m [Mark], characters: usize) -> Stretches<'m> {
        let terms = marks.iter().map(|mark| mark.number as usize + 1).max().unwrap_or(0);
        Stretches { marks, characters, shown: vec![false; terms], counts: vec![0; terms] }
    }

    /// Notes the terms in a fragment as shown.
    fn show(&mut self, fragment: &Range<usize>) {
        for mark in &self.marks[within(self.marks, fragment)] {
            self.shown[mark.number as usize] = true;
        }
    }

    /// Returns the best stretch in a free part of the text.
    fn best(&mut self, free: &Range<usize>) -> Option<(Worth, Range<usize>)> {
        let all = within(self.marks, free);
        self.counts.fill(0);
        let (mut first, mut new, mut distinct) = (all.start, 0, 0);
        let mut best = None;
        // Invariant: the marks from `first` to `last` fit into a fragment, or are one, and the
        // counts are theirs. Terminates with the marks: `first` never passes `last`.
        for last in all {
            let number = self.marks[last].number as usize;
            self.counts[number] += 1;
            if self.counts[number] == 1 {
                distinct += 1;
                new += usize::from(!self.shown[number]);
            }
            while first < last && !self.fits(first, last) {
                let number = self.marks[first].number as usize;
                self.counts[number] -= 1;
                if self.counts[number] == 0 {
                    distinct -= 1;
                    new -= usize::from(!self.shown[number]);
                }
                first += 1;
            }
            let worth = (new, distinct, last + 1 - first, Reverse(first));
            if best.as_ref().is_none_or(|(best, _)| worth > *best) {
                best = Some((worth, first..last + 1));
            }
        }
        best
    }

    /// True if the marks from `first` to `last` fit into a fragment.
    fn fits(&self, first: usize, last: usize) -> bool {
        self.marks[last].characters.end - self.marks[first].characters.start <= self.characters
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    /// Returns a text of words of one letter, and its marks. Each word may be a term.
    fn text_of(words: &[(u8, Option<u32>)], letter: char) -> (String, Vec<Mark>) {
        let (mut text, mut marks) = (String::new(), Vec::new());
        let mut characters = 0;
        for (length, term) in words {
            let (start, length) = (text.len(), usize::from(*length));
            text.extend(std::iter::repeat_n(letter, length));
            if let Some(number) = *term {
                let bytes = start..text.len();
                marks.push(Mark { bytes, characters: characters..characters + length, number });
            }
            text.push(' ');
            characters += length + 1;
        }
        (text, marks)
    }

    /// Counts the terms and marks in this many characters of the text, from a mark on.
    fn worth_from(marks: &[Mark], first: usize, characters: usize) -> (usize, usize) {
        let end = marks[first].characters.start + characters;
        let inside = marks[first..].iter().take_while(|mark| mark.characters.end <= end);
        let numbers: Vec<u32> = inside.map(|mark| mark.number).collect();
        (numbers.iter().collect::<BTreeSet<_>>().len(), numbers.len())
    }

    /// Counts the terms and marks in a part of the text.
    fn worth(marks: &[Mark], range: &Range<usize>) -> (usize, usize) {
        let marks = &marks[within(marks, range)];
        let terms: BTreeSet<u32> = marks.iter().map(|mark| mark.number).collect();
        (terms.len(), marks.len())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn no_other_part_shows_more(
            words in proptest::collection::vec((1u8..9, proptest::option::of(0u32..5)), 1..40),
            characters in 1usize..60,
            letter in prop::sample::select(vec!['x', 'é', '日']),
        ) {
            let (text, marks) = text_of(&words, letter);
            let chosen = choose(&text, &marks, characters, 1);
            let best = (0..marks.len()).map(|first| worth_from(&marks, first, characters)).max();
            // A single mark is shown even if it is longer.
            let best = best.map(|best| best.max((1, 1)));
            prop_assert!(worth(&marks, &chosen[0]) >= best.unwrap_or_default());
        }

        #[test]
        fn all_terms_are_shown_if_there_are_fragments_enough(
            words in proptest::collection::vec((1u8..9, proptest::option::of(0u32..5)), 1..40),
            characters in 1usize..60,
            letter in prop::sample::select(vec!['x', 'é', '日']),
        ) {
            let (text, marks) = text_of(&words, letter);
            let chosen = choose(&text, &marks, characters, 5);
            prop_assert!(chosen.windows(2).all(|pair| pair[0].end <= pair[1].start));
            let shown = chosen.iter().flat_map(|part| &marks[within(&marks, part)]);
            let shown: BTreeSet<u32> = shown.map(|mark| mark.number).collect();
            let all: BTreeSet<u32> = marks.iter().map(|mark| mark.number).collect();
            prop_assert_eq!(shown, all);
        }
    }
}
