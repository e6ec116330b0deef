//! The queries: common words, and pairs of them.

use spirit_door::sim::Random;

use crate::Fallible;
use crate::corpus::Corpus;
use crate::workloads;

/// Words that queries are drawn from.
const WORDS: usize = 3000;
/// The sets, by the words of a query.
const NAMES: [&str; 2] = ["S1", "M2"];

/// Queries of as many words each.
pub(super) struct Set {
    pub(super) name: &'static str,
    /// The words of a query, with a space between them.
    pub(super) lines: Vec<String>,
}

impl Set {
    /// Draws `count` queries of one word, and of two different words.
    pub(super) fn both(corpus: &Corpus, count: usize, seed: u64) -> Fallible<Vec<Set>> {
        let words = common(corpus);
        if words.len() < 2 {
            return Err(format!("{} has too few words", corpus.name).into());
        }
        let of = |name| {
            let mut random = Random::named(seed, name);
            let line = |_| line(&words, name == NAMES[1], &mut random);
            Set { name, lines: (0..count).map(line).collect() }
        };
        Ok(NAMES.map(of).into())
    }
}

/// The alphabetic words of most documents.
fn common(corpus: &Corpus) -> Vec<String> {
    let mut words: Vec<(String, u32)> = workloads::document_frequencies(corpus)
        .into_iter()
        .filter(|(word, _)| word.chars().all(char::is_alphabetic))
        .collect();
    words.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    words.truncate(WORDS);
    words.into_iter().map(|(word, _)| word).collect()
}

fn line(words: &[String], is_pair: bool, random: &mut Random) -> String {
    let first = random.index(words.len());
    if !is_pair {
        return words[first].clone();
    }
    // One of the others.
    let other = (first + 1 + random.index(words.len() - 1)) % words.len();
    format!("{} {}", words[first], words[other])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_alphabetic_and_those_of_most_documents() {
        let corpus = Corpus::of("x", ["b a 7", "a b c7", "a c7 7", "d"]).unwrap();
        assert_eq!(common(&corpus), ["a", "b", "d"]);
    }

    #[test]
    fn a_pair_has_two_different_words_and_a_seed_draws_the_same() {
        let corpus = Corpus::generate(3, Some(500));
        let [one, two] = [7, 7].map(|seed| Set::both(&corpus, 400, seed).unwrap());
        assert_eq!(one[1].lines, two[1].lines);
        assert_ne!(one[1].lines, Set::both(&corpus, 400, 8).unwrap()[1].lines);
        assert_eq!([one[0].lines.len(), one[1].lines.len()], [400, 400]);
        assert!(one[0].lines.iter().all(|line| !line.contains(' ')));
        for line in &one[1].lines {
            let (first, second) = line.split_once(' ').unwrap();
            assert_ne!(first, second);
        }
        assert!(Set::both(&Corpus::of("x", ["a 7"]).unwrap(), 1, 1).is_err());
    }
}
