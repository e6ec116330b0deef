//! `english` against `standard` filtered and stemmed word by word.

use proptest::prelude::*;
use rust_stemmers::{Algorithm, Stemmer};
use spirit_text::Analyzer::English;
use spirit_text::{Summary, TERM_BYTES_MAX};

use crate::standard;
use crate::support::{Placed, any_text, cases, tokens};

const STOP_WORDS: &str = "a an and are as at be but by for if in into is it no not of on or such that the their then \
                          there these they this to was will with";

fn oracle(text: &str) -> (Vec<Placed>, Summary) {
    let stemmer = Stemmer::create(Algorithm::English);
    let words = standard::oracle(text);
    let mut summary = Summary { tokens: words.len() as u32, skipped: 0 };
    let mut placed = Vec::new();
    for (position, word) in (0..).zip(&words) {
        if word.len() > TERM_BYTES_MAX {
            summary.skipped += 1;
            continue;
        }
        let bare = word.strip_suffix("'s").unwrap_or(word);
        if !bare.is_empty() && !STOP_WORDS.split(' ').any(|stop| stop == bare) {
            placed.push((stemmer.stem(bare).into_owned(), position));
        }
    }
    (placed, summary)
}

#[test]
fn stop_words_keep_their_positions() {
    let (placed, summary) =
        tokens(English, "The cat's running to THE quickly hopping dogs’s that's it");
    let expected = [("cat", 1), ("run", 2), ("quick", 5), ("hop", 6), ("dog", 7)];
    assert_eq!(placed, expected.map(|(term, position)| (term.to_owned(), position)));
    assert_eq!(summary, Summary { tokens: 10, skipped: 0 });
}

#[test]
fn every_stop_word_is_left_out() {
    assert_eq!(tokens(English, STOP_WORDS), (vec![], Summary { tokens: 33, skipped: 0 }));
    assert_eq!(tokens(English, &STOP_WORDS.to_uppercase()).0, []);
}

/// Stems that need another ending than the word's ("hoping" to "hope") near the length limit.
#[test]
fn long_words_are_stemmed_too() {
    for len in 240..=TERM_BYTES_MAX {
        for ending in ["ing", "ed", "ization", "s", "'s", "ied"] {
            let text = format!("{}{ending} x", "p".repeat(len - ending.len()));
            assert_eq!(tokens(English, &text), oracle(&text), "{text}");
        }
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn random_text(text in any_text()) {
        prop_assert_eq!(tokens(English, &text), oracle(&text));
    }

    #[test]
    fn random_words(text in "([a-zéy']{1,6}(s|ing|ed|ly|ness|ational|'s|ies|y|e|eed)? ){0,8}") {
        prop_assert_eq!(tokens(English, &text), oracle(&text));
    }
}
