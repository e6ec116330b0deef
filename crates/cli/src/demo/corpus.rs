//! The documents of a demonstration, ready in memory so that making them does not slow the stream down.
//!
//! The engine stores no text in this version; the corpus does, and an automatic key is a number in it.

use super::generator::Generator;
use spirit::lab::Random;

/// Longest document: what is marked for a probe gets a little longer.
pub(crate) const BYTES_MAX: usize = spirit::Document::BYTES_MAX - 64;
/// Words that queries are made of are no longer than this.
const WORD_BYTES_MAX: usize = 40;

#[derive(Default)]
pub(crate) struct Corpus {
    text: String,
    ends: Vec<usize>,
}

impl Corpus {
    /// `documents` generated posts.
    pub(crate) fn generate(seed: u64, documents: u64) -> Corpus {
        let mut generator = Generator::new(seed);
        let mut corpus = Corpus::default();
        for _ in 0..documents {
            generator.write_post(&mut corpus.text);
            corpus.ends.push(corpus.text.len());
        }
        corpus
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns document `number` of the stream, which begins anew after the last; none if the
    /// corpus is empty.
    pub(crate) fn get(&self, number: usize) -> Option<&str> {
        let number = number.checked_rem(self.len())?;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..self.ends[number]])
    }

    /// Counts the bytes of the first `documents` of the stream.
    pub(crate) fn bytes(&self, documents: usize) -> u64 {
        let first = |count: usize| count.checked_sub(1).map_or(0, |last| self.ends[last] as u64);
        self.sum(documents, first)
    }

    /// Counts the tokens of the first `documents` of the stream, as the `simple` analyzer cuts
    /// them.
    pub(crate) fn tokens(&self, documents: usize) -> u64 {
        let texts = |count: usize| (0..count).filter_map(|number| self.get(number));
        self.sum(documents, |count| texts(count).map(tokens).sum())
    }

    /// Sums over the first `documents` of the stream. `first` sums over the first documents of the
    /// corpus.
    fn sum(&self, documents: usize, first: impl Fn(usize) -> u64) -> u64 {
        let Some(rounds) = documents.checked_div(self.len()) else { return 0 };
        let whole = if rounds > 0 { rounds as u64 * first(self.len()) } else { 0 };
        whole + first(documents % self.len())
    }

    /// A word of the document `number` that every analyzer of words takes as it is.
    pub(crate) fn word(&self, number: usize, random: &mut Random) -> Option<&str> {
        let words =
            || self.get(number).unwrap_or_default().split_whitespace().filter(|w| is_word(w));
        let count = words().take(64).count() as u64;
        (count > 0).then(|| words().nth(random.below(count) as usize)).flatten()
    }
}

fn is_word(text: &str) -> bool {
    text.len() <= WORD_BYTES_MAX
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && !matches!(text, "AND" | "OR" | "NOT")
}

fn tokens(text: &str) -> u64 {
    let mut inside = false;
    let mut count = 0;
    for c in text.chars() {
        let is = c.is_alphanumeric();
        count += u64::from(is && !inside);
        inside = is;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_found_by_number() {
        let mut corpus = Corpus::default();
        for text in ["one two", "", "Three, four"] {
            corpus.push(text);
        }
        let all: Vec<_> = (0..4).filter_map(|number| corpus.get(number)).collect();
        assert_eq!(all, ["one two", "", "Three, four", "one two"]);
        assert_eq!([0, 2, 3, 7].map(|count| corpus.bytes(count)), [0, 7, 18, 43]);
        assert_eq!([3, 7].map(|count| corpus.tokens(count)), [4, 10]);
        let none = Corpus::default();
        assert_eq!((none.get(0), none.bytes(1), none.tokens(1)), (None, 0, 0));
    }

    #[test]
    fn words_are_plain() {
        let mut corpus = Corpus::default();
        corpus.push("Don't AND [video] the 2nd café");
        let mut random = Random::new(1);
        for _ in 0..50 {
            assert!(matches!(corpus.word(0, &mut random), Some("the" | "2nd")));
        }
        assert_eq!(Corpus::default().word(0, &mut random), None);
    }
}
