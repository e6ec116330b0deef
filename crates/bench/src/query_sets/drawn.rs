//! Queries drawn from a corpus, seeded.
//!
//! | class | query |
//! |---|---|
//! | `L`, `M`, `H` | a term of 10 to 100 documents; of 0.1 to 1 %; of 2 to 20 % of them |
//! | `AndLM`, `OrLM`, ... | two terms of these frequencies, both or either |
//! | `AndNotMH` | a medium term without a high one |
//! | `Or3`, `Or5`, `Min2` | three or five medium and high terms; of three at least two |
//! | `Phrase2`, `Phrase3` | neighbours in a document |
//! | `PhrasePrefix` | two or three neighbours in a document, of the last one its first one to three letters |
//! | `Sloppy2`, `Sloppy3` | words of a document with one left out after the first, slop 2 |
//! | `Prefix3` | three letters that a medium term begins with |
//! | `Wildcard` | a medium term with its middle left open, or one letter of it |
//! | `Fuzzy1`, `Fuzzy2` | a medium term with a letter left out, one edit; one with two left out, two edits |
//!
//! A class that the corpus has too little for, as tiny ones do, has fewer queries or none.

use spirit_peer_protocol::{Clauses, Query as Tree};

use super::{QuerySet, terms};
use crate::corpus::Corpus;
use crate::workloads::{class, document_frequencies};
use spirit_door::sim::Random;

/// Classes of frequency, one letter each.
const FREQUENCIES: [&str; 3] = ["L", "M", "H"];
const PAIRS: [&str; 6] = ["LL", "LM", "LH", "MM", "MH", "HH"];
/// Draws for each query wanted: some are drawn twice, some documents are too short.
const TRIES: usize = 4;
/// Shortest term whose letters are played with.
const LETTERS_MIN: usize = 4;

/// At most `most` queries of each class.
pub(crate) fn draw(corpus: &Corpus, most: usize, seed: u64) -> QuerySet {
    let source = Source::new(corpus);
    let mut set = QuerySet::default();
    let mut class = |name: &str, draw: &dyn Fn(&mut Random) -> Option<Tree>| {
        let mut random = Random::named(seed, name);
        let drawn = (0..most * TRIES).filter_map(|_| draw(&mut random));
        drawn.for_each(|query| set.push(name, Ok(query)));
    };
    for frequency in FREQUENCIES {
        class(frequency, &|random| source.terms(frequency, random)?.pop());
    }
    for pair in PAIRS {
        class(&format!("And{pair}"), &|random| source.terms(pair, random).map(Tree::all_of));
    }
    for pair in PAIRS {
        class(&format!("Or{pair}"), &|random| source.terms(pair, random).map(Tree::any_of));
    }
    class("AndNotMH", &|random| source.without(random));
    class("Or3", &|random| source.terms("MMH", random).map(Tree::any_of));
    class("Or5", &|random| source.terms("MMMHH", random).map(Tree::any_of));
    class("Min2", &|random| source.two_of_three(random));
    class("Phrase2", &|random| source.phrase(2, random));
    class("Phrase3", &|random| source.phrase(3, random));
    class("PhrasePrefix", &|random| source.phrase_prefix(random));
    class("Sloppy2", &|random| source.sloppy(2, random));
    class("Sloppy3", &|random| source.sloppy(3, random));
    class("Prefix3", &|random| Some(Tree::prefix(&source.letters(random)?[..3].concat())));
    class("Wildcard", &|random| source.wildcard(random));
    class("Fuzzy1", &|random| source.fuzzy(1, random));
    class("Fuzzy2", &|random| source.fuzzy(2, random));
    set.sampled(most, seed)
}

/// What queries are drawn from.
struct Source<'a> {
    corpus: &'a Corpus,
    /// Terms by frequency, in the order of [`FREQUENCIES`].
    pools: [Vec<String>; 3],
}

impl Source<'_> {
    fn new(corpus: &Corpus) -> Source<'_> {
        let frequencies = document_frequencies(corpus);
        let pools = FREQUENCIES.map(|name| {
            let range = class(name, corpus.len());
            let within = frequencies.iter().filter(|(_, df)| range.contains(&u64::from(**df)));
            let mut terms: Vec<String> = within.map(|(term, _)| term.clone()).collect();
            terms.sort_unstable();
            terms
        });
        Source { corpus, pools }
    }

    fn term(&self, frequency: char, random: &mut Random) -> Option<&str> {
        let pool = FREQUENCIES.iter().position(|name| name.starts_with(frequency))?;
        let pool = &self.pools[pool];
        (!pool.is_empty()).then(|| pool[random.index(pool.len())].as_str())
    }

    /// Different terms, one of each frequency named.
    fn terms(&self, frequencies: &str, random: &mut Random) -> Option<Vec<Tree>> {
        let mut terms = Vec::new();
        for frequency in frequencies.chars() {
            let term = Tree::term(self.term(frequency, random)?);
            if terms.contains(&term) {
                return None;
            }
            terms.push(term);
        }
        Some(terms)
    }

    fn without(&self, random: &mut Random) -> Option<Tree> {
        let mut terms = self.terms("MH", random)?;
        let not = terms.split_off(1);
        Some(Tree::Bool(Clauses { must: terms, not, ..Clauses::default() }))
    }

    fn two_of_three(&self, random: &mut Random) -> Option<Tree> {
        let should = self.terms("MMH", random)?;
        let minimum_should_match = Some(2);
        Some(Tree::Bool(Clauses { should, minimum_should_match, ..Clauses::default() }))
    }

    /// This many neighbouring terms of some document.
    fn neighbours(&self, count: usize, random: &mut Random) -> Option<Vec<String>> {
        let mut terms = terms(self.corpus.get(random.index(self.corpus.len())));
        let starts = (terms.len() + 1).checked_sub(count).filter(|starts| *starts > 0)?;
        let start = random.index(starts);
        Some(terms.drain(start..start + count).collect())
    }

    fn phrase(&self, words: usize, random: &mut Random) -> Option<Tree> {
        Some(Tree::phrase(&self.neighbours(words, random)?, 0))
    }

    fn phrase_prefix(&self, random: &mut Random) -> Option<Tree> {
        let mut terms = self.neighbours(2 + random.index(2), random)?;
        let last = terms.pop()?;
        terms.push(last.chars().take(1 + random.index(3)).collect());
        Some(Tree::phrase_prefix(&terms))
    }

    fn sloppy(&self, words: usize, random: &mut Random) -> Option<Tree> {
        let mut terms = self.neighbours(words + 1, random)?;
        terms.remove(1);
        // A word twice would have to be two tokens, on which engines differ.
        let different = terms.iter().enumerate().all(|(at, term)| !terms[..at].contains(term));
        different.then(|| Tree::phrase(&terms, 2))
    }

    /// The characters of a medium term.
    fn letters(&self, random: &mut Random) -> Option<Vec<String>> {
        let term = self.term('M', random)?;
        let letters: Vec<String> = term.chars().map(String::from).collect();
        (letters.len() >= LETTERS_MIN).then_some(letters)
    }

    fn wildcard(&self, random: &mut Random) -> Option<Tree> {
        let mut letters = self.letters(random)?;
        if random.index(2) == 0 {
            let last = letters.len() - 1;
            letters.splice(2..last, ["*".to_owned()]);
        } else {
            let at = random.index(letters.len());
            letters[at] = "?".to_owned();
        }
        Some(Tree::wildcard(&letters.concat()))
    }

    fn fuzzy(&self, distance: u8, random: &mut Random) -> Option<Tree> {
        let mut letters = self.letters(random)?;
        for _ in 0..distance {
            letters.remove(random.index(letters.len()));
        }
        Some(Tree::fuzzy(&letters.concat(), distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_drawn_and_drawn_alike() {
        let corpus = Corpus::generate(3, Some(5000));
        let set = draw(&corpus, 20, 42);
        let classes = set.classes();
        assert_eq!(classes.len(), 28, "{classes:?}");
        assert!(classes.iter().all(|(_, queries)| (10..=20).contains(queries)), "{classes:?}");
        assert_eq!(set, draw(&corpus, 20, 42));
        assert_ne!(set, draw(&corpus, 20, 43));
    }

    #[test]
    fn phrases_are_in_documents() {
        let corpus = Corpus::generate(3, Some(500));
        for named in draw(&corpus, 20, 42).queries {
            if let Tree::Phrase { terms, slop: 0, .. } = &named.query {
                let phrase = terms.join(" ");
                assert!(corpus.iter().any(|text| text.contains(&phrase)), "{phrase}");
            }
        }
    }

    #[test]
    fn a_tiny_corpus_has_what_it_has() {
        let set = draw(&Corpus::generate(3, Some(5)), 20, 42);
        assert!(set.classes().iter().all(|(_, queries)| *queries > 0));
    }
}
