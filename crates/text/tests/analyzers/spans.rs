//! Where tokens were cut from: of the text as it was given, for every analyzer.

use std::ops::Range;

use proptest::prelude::*;
use spirit_text::{Analyzer, Tokenizer};

use crate::support::{HARD, any_text, cases, fold, normal, run};

/// A term, its position, and the bytes of the text that it was cut from.
type Spanned = (String, u32, Range<usize>);

fn spans(analyzer: Analyzer, text: &str) -> Vec<Spanned> {
    let mut tokenizer = Tokenizer::new(analyzer, text.len());
    let mut spanned: Vec<Spanned> = Vec::new();
    let summary = tokenizer.for_each_span(text, |token, span| {
        spanned.push((token.text().to_owned(), token.position(), span));
    });
    let placed = spanned.iter().map(|(term, position, _)| (term.clone(), *position)).collect();
    assert_eq!((placed, summary.unwrap()), run(&mut tokenizer, text), "{analyzer}: {text:?}");
    spanned
}

/// What holds of the spans of all analyzers, and what the text there has to do with the term.
fn check(analyzer: Analyzer, text: &str) {
    let mut end = 0;
    for (term, position, span) in spans(analyzer, text) {
        assert!(end <= span.start && span.start < span.end, "{analyzer}: {span:?} in {text:?}");
        end = span.end;
        let source = text.get(span.clone()).expect("on character boundaries");
        match analyzer {
            Analyzer::Keyword => assert_eq!(source, term),
            // The words are those of `standard`; that they become these stems is the matter of other tests.
            Analyzer::English => {
                let words = spans(Analyzer::Standard, text);
                assert!(words.iter().any(|(_, at, word)| (*at, word) == (position, &span)));
            }
            _ => assert_eq!(fold(&normal(source)), term, "{analyzer}: {span:?} in {text:?}"),
        }
    }
}

#[test]
fn spans_are_of_the_text_as_it_was_given() {
    let text = "İx _The HERON’s #Été https://a.b/C). 👍🏽日本 don't";
    for (analyzer, expected) in [
        (Analyzer::Simple, "İx|The|HERON|s|Été|https|a|b|C|日本|don|t"),
        (Analyzer::Standard, "İx|_The|HERON’s|Été|https|a.b|C|日|本|don't"),
        (Analyzer::Social, "İx|_The|HERON’s|#Été|https://a.b/C|👍🏽|日|本|don't"),
        (Analyzer::English, "İx|_The|HERON’s|Été|https|a.b|C|日|本|don't"),
        (Analyzer::Code, "İx|_The|HERON’s|Été|https|a.b|C|日|本|don't"),
        (Analyzer::Keyword, text),
    ] {
        let cut = spans(analyzer, text).into_iter().map(|(_, _, span)| &text[span]);
        assert_eq!(cut.collect::<Vec<_>>().join("|"), expected, "{analyzer}");
        check(analyzer, text);
    }
}

/// What became longer or shorter by lower-casing, or was left out, does not move what comes after it.
#[test]
fn hard_cases_in_front() {
    for hard in HARD {
        for lead in (0..4).chain(60..68) {
            let text = format!("{}{hard} {hard}{hard} y {}", "x".repeat(lead), "z".repeat(300));
            for analyzer in Analyzer::ALL {
                check(analyzer, &text);
                check(analyzer, &format!("{text} end"));
            }
        }
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn random_text(text in any_text()) {
        for analyzer in Analyzer::ALL {
            check(analyzer, &text);
        }
    }
}
