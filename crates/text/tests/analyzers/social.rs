//! `social` against a scan of the whole text, character by character.

use proptest::prelude::*;
use spirit_text::Analyzer::Social;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use crate::code::signs_behind;
use crate::support::{HARD, any_text, cases, fold, normal, place, tokens};

/// The words, marks and emoji of a text: marks are found by trying every place, the rest by
/// whole-text segmentation.
fn oracle(text: &str) -> Vec<String> {
    let chars: Vec<char> = normal(text).chars().collect();
    let (mut words, mut plain, mut at) = (Vec::new(), String::new(), 0);
    while at < chars.len() {
        let free = at == 0 || !is_word_char(chars[at - 1]);
        let len = if free { mark_chars(&chars[at..]) } else { 0 };
        if len == 0 {
            plain.push(chars[at]);
            at += 1;
        } else {
            words.extend(plain_words(&plain, &chars[at..]));
            plain.clear();
            words.push(fold(&chars[at..at + len].iter().collect::<String>()));
            at += len;
        }
    }
    words.extend(plain_words(&plain, &[]));
    words
}

fn is_word_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn mark_chars(rest: &[char]) -> usize {
    let run =
        |from: usize, test: fn(char) -> bool| rest[from..].iter().take_while(|&&c| test(c)).count();
    match rest[0] {
        '#' | '@' => {
            let body = run(1, |c| is_word_char(c) || is_combining_mark(c));
            if rest[1..=body].iter().any(|c| c.is_alphanumeric()) { body + 1 } else { 0 }
        }
        '$' => {
            let body = run(1, |c| c.is_ascii_alphabetic());
            if body > 0 && body == run(1, is_word_char) { body + 1 } else { 0 }
        }
        _ => url_chars(&rest[..run(0, |c| !c.is_whitespace() && c != '\u{200b}')]),
    }
}

fn url_chars(span: &[char]) -> usize {
    let start: String = span.iter().take(8).collect::<String>().to_ascii_lowercase();
    let prefix =
        ["http://", "https://", "www."].into_iter().find(|prefix| start.starts_with(prefix));
    let mut len = span.len();
    while len > 0 && ".,;:!?\"')]}>…’”»".contains(span[len - 1]) {
        len -= 1;
    }
    if prefix.is_some_and(|prefix| len > prefix.len()) { len } else { 0 }
}

/// The words of a text without marks. `after` is the text behind it.
fn plain_words(text: &str, after: &[char]) -> Vec<String> {
    let mut words = Vec::new();
    for (at, segment) in text.split_word_bound_indices() {
        if segment.chars().any(char::is_alphanumeric) {
            let rest =
                text[at + segment.len()..].chars().chain(after.iter().copied()).collect::<String>();
            words.push(fold(segment) + signs_behind(segment, &rest));
        } else {
            words.extend(segment.graphemes(true).filter(|g| is_emoji(g)).map(fold));
        }
    }
    words
}

/// By code point ranges instead of by asking the segmentation crate; right for what the strategies
/// draw.
fn is_emoji(grapheme: &str) -> bool {
    let chars: Vec<char> = grapheme.chars().collect();
    match chars[0] {
        '🇦'..='🇿' => chars.len() > 1 && ('🇦'..='🇿').contains(&chars[1]),
        '🏻'..='🏿' => false,
        '❤' | '👍' | '👩' | '🚀' | '🅰' | 'Ⓜ' | '🎉' | '☺' | '🏴' | '↔' => true,
        '©' | '™' => grapheme.contains('\u{fe0f}'),
        '#' | '*' => grapheme.ends_with('\u{20e3}'),
        _ => false,
    }
}

#[track_caller]
fn check(text: &str) {
    assert_eq!(tokens(Social, text), place(&oracle(text)), "{text:?}");
}

#[track_caller]
fn expect(text: &str, terms: &[&str]) {
    assert_eq!(tokens(Social, text), place(terms), "{text:?}");
    check(text);
}

#[test]
fn tags_and_names() {
    expect("RT @Alice_1: I don't #LoveIt", &["rt", "@alice_1", "i", "don't", "#loveit"]);
    expect("#été @日本 #1 #_x", &["#été", "@日本", "#1", "#_x"]);
    expect("# @ #_ a#b mail me@x.org #a#b", &["a", "b", "mail", "me", "x.org", "#a", "b"]);
    expect("(#tag) \"@name\",#x", &["#tag", "@name", "#x"]);
}

#[test]
fn cash_tags() {
    expect("$AAPL $C $5M US$ $a1 $BRK.B", &["$aapl", "$c", "5m", "us", "a1", "$brk", "b"]);
}

#[test]
fn names_of_languages() {
    expect(
        "C, C++ or C#? #c++ c++#x a+b x#y",
        &["c", "c++", "or", "c#", "#c", "c", "#x", "a", "b", "x", "y"],
    );
    expect(
        "日本#旅 C++@bo c#$X 4# C\u{ad}++",
        &["日", "本", "旅", "c++", "@bo", "c#", "$x", "4", "c++"],
    );
}

#[test]
fn urls() {
    expect("see http://T.co/AbC?x=1#y.", &["see", "http://t.co/abc?x=1#y"]);
    expect("(https://a.b/c) WWW.x.com, www.", &["https://a.b/c", "www.x.com", "www"]);
    expect("here:http://t.co/x http://… xwww.a.b", &["here", "http://t.co/x", "http", "xwww.a.b"]);
    expect("www.é.fr/ü” w", &["www.é.fr/ü", "w"]);
}

#[test]
fn emoji() {
    expect(
        "ok👍🏽👩\u{200d}🚀 🇫🇷🇩 1\u{fe0f}\u{20e3}",
        &["ok", "👍🏽", "👩\u{200d}🚀", "🇫🇷", "1\u{20e3}"],
    );
    expect("❤ ❤\u{fe0f} © ™ ™\u{fe0f} #\u{fe0f}\u{20e3} 🏽 …", &["❤", "❤", "™", "#\u{20e3}"]);
}

#[test]
fn hard_cases_beside_marks() {
    for hard in HARD {
        for mark in ["#tag", "@n", "$X", "http://a", "www.b", "👍", "#", "http", "w", "c++", "c#"]
        {
            check(&format!("x {hard}{mark} y"));
            check(&format!("x {mark}{hard} y"));
            check(&format!("x {mark} {hard}"));
            check(&format!("x.{mark}_{hard}{mark}"));
        }
    }
}

/// Code points the oracle's ranges do not know would only test the oracle.
fn is_known(text: &str) -> bool {
    let known =
        |c: char| c.is_ascii() || c.is_alphanumeric() || HARD.iter().any(|hard| hard.contains(c));
    text.chars().all(known)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn random_text(text in any_text().prop_filter("unknown to the oracle", |text| is_known(text))) {
        prop_assert_eq!(tokens(Social, &text), place(&oracle(&text)));
    }
}
