//! `keyword`: the value itself.

use proptest::prelude::*;
use spirit_text::Analyzer::Keyword;
use spirit_text::Tokenizer;

use crate::support::{any_text, cases, place, run, tokens};

#[test]
fn an_empty_value_has_no_token() {
    assert_eq!(tokens(Keyword, ""), place::<&str>(&[]));
}

#[test]
fn values_do_not_mix() {
    let mut tokenizer = Tokenizer::new(Keyword, 1000);
    for value in ["A long value, kept as it is", &"x".repeat(256), "Ab", " "] {
        assert_eq!(run(&mut tokenizer, value), place(&[value]));
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn the_value_is_the_token(text in any_text()) {
        let expected: &[&str] = if text.is_empty() { &[] } else { &[&text] };
        prop_assert_eq!(tokens(Keyword, &text), place(expected));
    }
}
