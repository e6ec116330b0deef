//! `code` against the words of `standard` with signs of the whole normalized text.

use proptest::prelude::*;
use spirit_text::Analyzer::Code;
use unicode_segmentation::UnicodeSegmentation;

use crate::support::{HARD, any_text, cases, fold, normal, place, tokens};

fn oracle(text: &str) -> Vec<String> {
    let text = normal(text);
    let mut words = Vec::new();
    // A dot between two words stands alone or joins them, so no two words want it.
    for (at, word) in text.unicode_word_indices() {
        let before: Vec<char> = text[..at].chars().rev().take(2).collect();
        let opens = |c: &char| c.is_whitespace() || "([{<\"`/\\,;:=|'“„«‚–—".contains(*c);
        let dot = before.first() == Some(&'.')
            && before.get(1).is_none_or(opens)
            && word.starts_with(char::is_alphabetic);
        let signs = signs_behind(word, &text[at + word.len()..]);
        words.push(fold(&format!("{}{word}{signs}", if dot { "." } else { "" })));
    }
    words
}

/// The signs between a word and what follows it that belong to the word.
pub(crate) fn signs_behind(word: &str, rest: &str) -> &'static str {
    let continues = |c: char| c.is_alphanumeric() || "_+#".contains(c);
    // A sign with a mark on it is a segment longer than one byte.
    let bare = |signs: &str| rest.split_word_bounds().take(signs.len()).all(|s| s.len() == 1);
    let next = |signs| {
        rest.strip_prefix(signs).filter(|_| bare(signs)).map(|rest: &str| rest.chars().next())
    };
    if !word.starts_with(char::is_alphabetic) {
        return "";
    }
    match (next("++"), next("#")) {
        (Some(next), _) if next.is_none_or(|c| !continues(c) || c.is_numeric()) => "++",
        (_, Some(next)) if !next.is_some_and(continues) => "#",
        _ => "",
    }
}

#[track_caller]
fn check(text: &str) {
    assert_eq!(tokens(Code, text), place(&oracle(text)), "{text:?}");
}

#[track_caller]
fn expect(text: &str, terms: &[&str]) {
    assert_eq!(tokens(Code, text), place(terms), "{text:?}");
    check(text);
}

#[test]
fn languages_are_told_apart() {
    expect(
        "C, C++ and C#; F#/J#, g++-12 (Notepad++) Objective-C++!",
        &["c", "c++", "and", "c#", "f#", "j#", "g++", "12", "notepad++", "objective", "c++"],
    );
    expect("C++17, C++.", &["c++", "17", "c++"]);
    expect(".NET ASP.NET node.js “.NET”", &[".net", "asp.net", "node.js", ".net"]);
    expect("C++\u{2014}C#…С++ é++ Ü#", &["c++", "c#", "с++", "é++", "ü#"]);
    expect("C\u{ad}+\u{2060}+ C\u{200d}# \u{feff}.NET", &["c++", "c#", ".net"]);
}

#[test]
fn signs_of_other_meaning_are_left() {
    expect(
        "a+b x++y Array#map repo#12 #tag ## C+++ c## a.b. ...and 1.5 .5 end.\u{201d} a,.b",
        &[
            "a", "b", "x", "y", "array", "map", "repo", "12", "tag", "c", "c", "a.b", "and", "1.5",
            "5", "end", "a", ".b",
        ],
    );
    expect("aC++🏽\u{345} C++🏽 c#🏽", &["ac", "+🏽ι", "c", "c"]);
    expect(
        "_ .x ./run ../up /.git (.env) é.é —.é",
        &[".x", "run", "up", ".git", ".env", "é.é", ".é"],
    );
}

#[test]
fn hard_cases_around_signs() {
    for hard in HARD {
        for sign in ["++", "+", "#", ".n", "c++", "c#", ".", "C++1", "c++ .n", "1++", "_x#"] {
            check(&format!("x {hard}{sign} y"));
            check(&format!("x {sign}{hard} y"));
            check(&format!("x{hard}{sign}{hard}y"));
            check(&format!("{sign}{hard}{sign}"));
            check(&format!("c+{hard}+ c{hard}# {hard}.n"));
        }
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn random_text(text in any_text()) {
        prop_assert_eq!(tokens(Code, &text), place(&oracle(&text)));
    }
}
