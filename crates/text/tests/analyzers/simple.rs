//! `simple` against `str::split` of the normalized text.

use proptest::prelude::*;
use spirit_text::Analyzer::Simple;
use unicode_normalization::char::is_combining_mark;

use crate::support::{HARD, any_text, cases, fold, normal, place, tokens};

fn oracle(text: &str) -> Vec<String> {
    let text = normal(text);
    let words = text.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c));
    // Marks behind other characters belong to no word.
    let words = words.map(|word| word.trim_start_matches(is_combining_mark));
    words.filter(|word| !word.is_empty()).map(fold).collect()
}

#[track_caller]
fn check(text: &str) {
    assert_eq!(tokens(Simple, text), place(&oracle(text)), "{text:?}");
}

#[test]
fn examples() {
    check("");
    check(" ");
    check("Hello, World! don't snake_case 3.14");
    check("İstanbul STRASSE Straße naïve“quoted”text…end");
    assert_eq!(tokens(Simple, "İ").0, [("i".to_owned(), 0)]);
}

#[test]
fn every_hard_case_in_every_place_of_two_blocks() {
    for hard in HARD {
        for lead in (0..8).chain(50..70).chain(114..134) {
            let lead = "x".repeat(lead);
            check(&format!("{lead}{hard}"));
            check(&format!("{lead} {hard} y"));
            check(&format!("{lead}{hard}y{hard}"));
        }
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn random_text(text in any_text()) {
        prop_assert_eq!(tokens(Simple, &text), place(&oracle(&text)));
    }
}
