//! `english`: `standard` without possessive `'s` and without the most common words, stemmed.
//!
//! A filter after `standard`. It gets each word once, folded and numbered, and hands on the
//! rest of it at the same position. A stop word keeps its position, so a phrase query around it
//! still measures distances correctly. The length limit is that of `standard`: it applies to the
//! word, not to the stem. Stems are those of the Snowball English ("Porter 2") stemmer.
//!
//! No other analyzer allocates. Here the stemmer builds a string for a word whose stem is not a
//! prefix of it. It suits prose that is searched more often than written, not the fast stream.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};

use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::token::{SpanSink, Token};

/// The stop words, sorted.
const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];
/// Length of the longest stop word, in bytes.
const STOP_WORD_BYTES_MAX: usize = 5;

/// The stop words as heads of tokens, in the order of [`STOP_WORDS`].
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

/// The stemmer, and a buffer for its stems.
pub(crate) struct English {
    stemmer: Stemmer,
    stem: Fold,
}

impl English {
    pub(crate) fn new() -> English {
        English { stemmer: Stemmer::create(Algorithm::English), stem: Fold::new() }
    }

    /// Hands on the rest of a word of `standard`, if there is any. Its span is that of the whole
    /// word.
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
        // A stem is longer than its word only where it restores an "e". Such a word is near the
        // limit already.
        let term =
            if stem.is_empty() || stem.len() > crate::TERM_BYTES_MAX { word } else { &*stem };
        out.forward(self.stem.token(term.as_bytes(), token.position()), span);
    }
}

/// Removes a final `'s` from the word.
fn strip_possessive(word: &str) -> &str {
    word.strip_suffix("'s").unwrap_or(word)
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
