//! `english`: `standard` without possessive `'s`, without the commonest words, stemmed.
//!
//! A filter behind `standard`: it sees each word once, already lower-cased and numbered, and hands
//! on what is left of it under the same position. A stop word takes its position with it, so a
//! phrase query around one still measures distances right. The length limit is that of `standard`:
//! it looks at the word, not at the stem. Stems are those of the Snowball English ("Porter 2")
//! stemmer.
//!
//! This is the one analyzer that allocates: the stemmer builds a string for a word whose stem is
//! not a prefix of it. It is for prose that is searched more often than it is written, not for the
//! fast stream.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};

use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::token::{SpanSink, Token};

/// The words left out, sorted.
const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];
/// Length of the longest stop word, in bytes.
const STOP_WORD_BYTES_MAX: usize = 5;

/// The stop words as heads of tokens, in no particular order.
static STOP_HEADS: [u64; STOP_WORDS.len()] = stop_heads();

const fn stop_heads() -> [u64; STOP_WORDS.len()] {
    let mut heads = [0; STOP_WORDS.len()];
    let mut i = 0;
    while i < heads.len() {
        let word = STOP_WORDS[i].as_bytes();
        assert!(word.len() <= STOP_WORD_BYTES_MAX);
        let mut n = 0;
        while n < word.len() {
            heads[i] |= (word[n] as u64) << (8 * n);
            n += 1;
        }
        i += 1;
    }
    heads
}

/// The stemmer and a place for its stems.
pub(crate) struct English {
    stemmer: Stemmer,
    stem: Fold,
}

impl English {
    pub(crate) fn new() -> English {
        English { stemmer: Stemmer::create(Algorithm::English), stem: Fold::new() }
    }

    /// Hands on what is left of a word of `standard`, if anything. Its span stays that of the whole word.
    pub(crate) fn emit<S: SpanSink>(
        &mut self,
        token: Token<'_>,
        span: Range<usize>,
        out: &mut Emitter<S>,
    ) {
        let word = strip_possessive(token.text());
        if word.is_empty() || is_stop_word(word) {
            return;
        }
        let stem = self.stemmer.stem(word);
        // A stem is never longer than its word, save where a restored "e" is: the word, then, is
        // already near the limit.
        let term =
            if stem.is_empty() || stem.len() > crate::TERM_BYTES_MAX { word } else { &*stem };
        out.forward(self.stem.token(term.as_bytes(), token.position()), span);
    }
}

/// The word without a final `'s`, with either apostrophe.
fn strip_possessive(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

fn is_stop_word(word: &str) -> bool {
    if word.len() > STOP_WORD_BYTES_MAX {
        return false;
    }
    let mut head = [0; 8];
    head[..word.len()].copy_from_slice(word.as_bytes());
    STOP_HEADS.contains(&u64::from_le_bytes(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_exactly_those_listed() {
        assert!(STOP_WORDS.is_sorted());
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
        assert!(
            ["", "th", "thea", "i", "theirs", "without"].iter().all(|word| !is_stop_word(word))
        );
    }
}
