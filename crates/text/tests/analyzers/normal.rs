//! Texts that look the same have the same terms, of every analyzer but `keyword`.

use proptest::prelude::*;
use spirit_text::{Analyzer, Tokenizer, push_term};
use unicode_normalization::UnicodeNormalization;

use crate::support::{HARD, any_text, cases, fold, is_unseen, normal, tokens};

/// Those that cut texts.
fn cutting() -> impl Iterator<Item = Analyzer> {
    Analyzer::ALL.into_iter().filter(|&analyzer| analyzer != Analyzer::Keyword)
}

#[track_caller]
fn same(texts: &[&str]) {
    for analyzer in cutting() {
        let expected = tokens(analyzer, texts[0]);
        assert!(!expected.0.is_empty(), "{analyzer}: {:?}", texts[0]);
        for text in texts {
            assert_eq!(tokens(analyzer, text), expected, "{analyzer}: {text:?}");
        }
    }
}

#[test]
fn apostrophes_are_one() {
    same(&["we're", "we’re", "weʼre", "we＇re", "we‘re", "WE’RE", "we\u{ad}’\u{2060}re"]);
    same(&["Izmir'de", "İzmir’de", "izmirʼde"]);
    same(&["п'ять", "п’ять", "пʼять"]);
    same(&["שרה'", "שרה’", "שרהʼ"]);
    same(&["'tis the dogs' o'clock", "‘tis the dogs’ o’clock", "ʼtis the dogsʼ oʼclock"]);
    same(&["heron's wings", "heron’s wings", "heron＇s wings"]);
}

#[test]
fn signs_that_nobody_sees_are_left_out() {
    for c in "\u{ad}\u{34f}\u{61c}\u{180e}\u{200c}\u{200d}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\
              \u{2060}\u{2061}\u{2064}\u{2066}\u{2067}\u{2068}\u{2069}\u{206f}\u{feff}\u{fe0f}\u{e0100}\u{e0041}"
        .chars()
    {
        same(&["notebook", &format!("note{c}book"), &format!("{c}n{c}{c}otebook{c}")]);
        same(&["don't 3.14", &format!("don{c}'{c}t 3.{c}14")]);
        same(&["été", &format!("e{c}\u{301}te{c}\u{301}"), &format!("{c}é{c}t{c}é")]);
        same(&["ﻻم نامه日本", &format!("ﻻ{c}م نا{c}مه日{c}本")]);
        same(&["#tag", &format!("#{c}t{c}ag")]);
    }
    // A zero width space separates.
    same(&["note book", "note\u{200b}book"]);
}

#[test]
fn composed_and_combining_letters_are_one() {
    same(&["café", "cafe\u{301}"]);
    same(&["한글", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}", "하\u{11ab}그\u{11af}"]);
    same(&["ệ", "e\u{323}\u{302}", "e\u{302}\u{323}", "ẹ\u{302}", "ê\u{323}"]);
    same(&["が", "か\u{3099}"]);
    same(&["\u{958}", "\u{915}\u{93c}"]);
    same(&["Åse K", "A\u{30a}se k", "\u{212b}se \u{212a}"]);
    assert_eq!(tokens(Analyzer::Simple, "q\u{301}x हिन्दी").0.len(), 2);
}

#[test]
fn words_that_are_equal_in_capitals_are_one() {
    same(&["istanbul", "İSTANBUL", "İstanbul", "I\u{307}stanbul", "ISTANBUL", "i\u{307}stanbul"]);
    same(&["kızıl", "KIZIL"]);
    same(&["σοφος", "σοφοσ", "ΣΟΦΟΣ"]);
    same(&["straße", "STRASSE", "STRAẞE", "strasse"]);
    same(&["ﬁnſter", "FINSTER", "finster"]);
    same(&["ᾳ", "αι", "ΑΙ", "ᾼ"]);
    same(&["ǰ", "J\u{30c}", "j\u{30c}"]);
    same(&["ꭰ", "Ꭰ"]);
    same(&["ŉ", "n"]);
}

/// A text without the characters whose emoji would change: joiners, selectors and tags.
fn without_unseen(text: &str) -> String {
    text.chars().filter(|&c| !is_unseen(c)).collect()
}

fn check(text: &str) {
    let [nfc, nfd] = [text.nfc().collect::<String>(), text.nfd().collect::<String>()];
    for analyzer in cutting() {
        let expected = tokens(analyzer, text);
        for other in [&nfc, &nfd, &without_unseen(text), &normal(text)] {
            assert_eq!(tokens(analyzer, other), expected, "{analyzer}: {text:?} as {other:?}");
        }
    }
}

#[test]
fn hard_pairs() {
    for first in HARD {
        let pairs =
            HARD.iter().map(|second| format!("x{first}{second}y {second} #{second}{first} "));
        check(&pairs.collect::<String>());
    }
}

/// Emoji stay joined where the text between them is not seen, and an arrow that is struck out is
/// no emoji.
#[test]
fn joined_emoji() {
    for (text, form) in [
        ("👩\u{200d}🚀\u{200d}\u{338}", "👩\u{200d}🚀\u{338}"),
        ("👩\u{200d}\u{200d}\u{e0067}🚀", "👩\u{200d}🚀"),
        ("👩\u{200d}↔\u{200d}\u{338}", "👩\u{21ae}"),
        ("👩\u{200d}↔\u{301}\u{fe0f}\u{338}", "👩\u{21ae}\u{301}"),
        ("👩\u{200d}↔\u{fe0f}\u{338}", "👩\u{200d}↔\u{fe0f}\u{338}"),
    ] {
        assert_eq!(normal(text), form);
        check(text);
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn forms_and_unseen_signs_do_not_matter(text in any_text()) {
        check(&text);
    }

    /// A word in capitals has the terms of the word. Of letters: for a capital there may be two
    /// letters, of which a mark joins the last.
    #[test]
    fn capitals_do_not_matter(text in "[\\p{L} ']{0,12}") {
        let text: String = text.nfc().filter(|&c| c != 'ŉ').collect();
        let capitals = text.chars().flat_map(char::to_uppercase).collect::<String>();
        for analyzer in [Analyzer::Simple, Analyzer::Standard] {
            prop_assert_eq!(tokens(analyzer, &capitals), tokens(analyzer, &text));
        }
    }

    /// What queries ask for by a pattern or a beginning is in the form of terms.
    #[test]
    fn a_word_is_pushed_as_its_term(text in "[\\p{L}\\p{M}’ʼ\u{ad}\u{200d}\u{fe0f}iıİß]{0,8}") {
        let mut term = String::new();
        push_term(&text, &mut term);
        prop_assert_eq!(&term, &fold(&normal(&text)));
        let mut tokenizer = Tokenizer::new(Analyzer::Standard, 1 << 10);
        let mut terms = Vec::new();
        let mut spans = Vec::new();
        tokenizer.for_each_span(&text, |token, span| {
            terms.push(token.text().to_owned());
            spans.push(span);
        }).unwrap();
        if let ([one], true) = (&terms[..], normal(&text).len() == spans.iter().map(|s| normal(&text[s.clone()]).len()).sum()) {
            prop_assert_eq!(one, &term);
        }
    }
}
