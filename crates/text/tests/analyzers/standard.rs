//! `standard` against `unicode_words` of the whole text, normalized.

use proptest::prelude::*;
use spirit_text::Analyzer::Standard;
use unicode_segmentation::UnicodeSegmentation;

use crate::support::{HARD, any_text, cases, fold, normal, place, tokens};

pub(crate) fn oracle(text: &str) -> Vec<String> {
    normal(text).unicode_words().map(fold).collect()
}

#[track_caller]
fn check(text: &str) {
    assert_eq!(tokens(Standard, text), place(&oracle(text)), "{text:?}");
}

#[test]
fn examples() {
    let terms =
        |text| tokens(Standard, text).0.into_iter().map(|(term, _)| term).collect::<Vec<_>>();
    assert_eq!(terms("Don't PANIC, it's 3.14!"), ["don't", "panic", "it's", "3.14"]);
    assert_eq!(
        terms("snake_case __init__ _ a.b. 1,000,000 x:y"),
        ["snake_case", "__init__", "a.b", "1,000,000", "x:y"]
    );
    assert_eq!(terms("L’été à Paris"), ["l'été", "à", "paris"]);
    assert_eq!(terms("日本 カタカナ"), ["日", "本", "カタカナ"]);
}

/// Every way three ASCII bytes can stand between, before and after letters and digits.
#[test]
fn all_short_ascii_texts_over_the_bytes_that_matter() {
    let bytes = b"aZ9_.':,; -\"";
    let mut text = String::new();
    for code in 0..bytes.len().pow(5) {
        text.clear();
        let mut rest = code;
        for _ in 0..5 {
            text.push(char::from(bytes[rest % bytes.len()]));
            rest /= bytes.len();
        }
        let expected: Vec<&str> = text.unicode_words().collect();
        let expected: Vec<String> = expected.iter().map(|word| word.to_ascii_lowercase()).collect();
        SHARED.with_borrow_mut(|tokenizer| {
            assert_eq!(crate::support::run(tokenizer, &text), place(&expected), "{text:?}");
        });
    }
}

thread_local! {
    static SHARED: std::cell::RefCell<spirit_text::Tokenizer> =
        std::cell::RefCell::new(spirit_text::Tokenizer::new(Standard, 64));
}

/// Regions are cut out of the text for the segmentation crate: every pair of hard characters around
/// every sort of cut.
#[test]
fn hard_pairs_around_cuts() {
    for first in HARD {
        for second in HARD {
            for cut in
                ["", " ", "  ", "\t", "\r\n", ".", "'", ",", "_", "a", "1", " a ", "a.", ".a", ". "]
            {
                check(&format!("x{cut}{first}{cut}{second}{cut}y"));
                check(&format!("x {first}{cut}{second} y"));
            }
        }
    }
}

#[test]
fn joins_across_block_edges() {
    for lead in (0..8).chain(50..70).chain(114..134) {
        for tail in ["'t", ".b", "_", "_x_", "..", ".1", "é", "_é", ".é", " é", "'"] {
            check(&format!("{}{tail}", "x".repeat(lead)));
            check(&format!("{}{tail} y", "1".repeat(lead)));
        }
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn random_text(text in any_text()) {
        prop_assert_eq!(tokens(Standard, &text), place(&oracle(&text)));
    }

    #[test]
    fn arbitrary_strings(text in "\\PC{0,40}") {
        prop_assert_eq!(tokens(Standard, &text), place(&oracle(&text)));
    }
}
