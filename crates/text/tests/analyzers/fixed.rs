//! The terms of one text, fixed for each analyzer.
//!
//! Files keep the terms that an analyzer made, so these are part of the file format. The oracles of
//! the other tests use the same tables and the same stemmer. So they do not notice when a new
//! version of those changes a term. A test fails here when that has happened. Old segments and new
//! queries then differ: the changed analyzer needs another name and another number.

use spirit_text::Analyzer;

use crate::support::tokens;

const TEXT: &str = "The HERON’s wings don't flap 3.14 times: naïve ΣΟΦΟΣ, İstanbul, Straße, \
    e\u{301}tude, snake_case, wi-fi, #Tag @Name $AAPL https://example.org/a?b=1. 👩‍👩‍👧 🇫🇷 1️⃣ \
    ©2026 北京市 สวัสดี カタカナ ½ x² running generously happiest skies";

/// Compares the terms of `text` with `expected`. Each is its position, a colon and the term.
fn check(analyzer: Analyzer, text: &str, expected: &str) {
    let (placed, _) = tokens(analyzer, text);
    let terms: Vec<_> = placed.iter().map(|(term, at)| format!("{at}:{term}")).collect();
    assert_eq!(terms.join(" "), expected, "{analyzer}");
}

#[test]
fn simple() {
    check(
        Analyzer::Simple,
        TEXT,
        "0:the 1:heron 2:s 3:wings 4:don 5:t 6:flap 7:3 8:14 9:times 10:naïve 11:σοφοσ \
         12:i\u{307}stanbul 13:straße 14:e 15:tude 16:snake 17:case 18:wi 19:fi 20:tag 21:name \
         22:aapl 23:https 24:example 25:org 26:a 27:b 28:1 29:1 30:2026 31:北京市 32:สวัสดี \
         33:カタカナ 34:½ 35:x² 36:running 37:generously 38:happiest 39:skies",
    );
}

#[test]
fn standard() {
    check(
        Analyzer::Standard,
        TEXT,
        "0:the 1:heron’s 2:wings 3:don't 4:flap 5:3.14 6:times 7:naïve 8:σοφοσ 9:i\u{307}stanbul \
         10:straße 11:e\u{301}tude 12:snake_case 13:wi 14:fi 15:tag 16:name 17:aapl 18:https \
         19:example.org 20:a 21:b 22:1 23:1️⃣ 24:2026 25:北 26:京 27:市 28:ส 29:วั 30:ส 31:ดี \
         32:カタカナ 33:½ 34:x 35:² 36:running 37:generously 38:happiest 39:skies",
    );
}

#[test]
fn social() {
    check(
        Analyzer::Social,
        TEXT,
        "0:the 1:heron’s 2:wings 3:don't 4:flap 5:3.14 6:times 7:naïve 8:σοφοσ 9:i\u{307}stanbul \
         10:straße 11:e\u{301}tude 12:snake_case 13:wi 14:fi 15:#tag 16:@name 17:$aapl \
         18:https://example.org/a?b=1 19:👩‍👩‍👧 20:🇫🇷 21:1️⃣ 22:2026 23:北 24:京 25:市 26:ส 27:วั 28:ส \
         29:ดี 30:カタカナ 31:½ 32:x 33:² 34:running 35:generously 36:happiest 37:skies",
    );
}

#[test]
fn english() {
    check(
        Analyzer::English,
        TEXT,
        "1:heron 2:wing 3:don't 4:flap 5:3.14 6:time 7:naïv 8:σοφοσ 9:i\u{307}stanbul 10:straße \
         11:e\u{301}tud 12:snake_cas 13:wi 14:fi 15:tag 16:name 17:aapl 18:https 19:example.org \
         21:b 22:1 23:1️⃣ 24:2026 25:北 26:京 27:市 28:ส 29:วั 30:ส 31:ดี 32:カタカナ 33:½ 34:x 35:² \
         36:run 37:generous 38:happiest 39:sky",
    );
}

#[test]
fn keyword() {
    check(Analyzer::Keyword, "The HERON’s Wings ", "0:The HERON’s Wings ");
}

/// The text above has few of the characters whose class a new version of Unicode may change.
#[test]
fn word_boundaries_are_those_of_one_version_of_unicode() {
    assert_eq!(unicode_segmentation::UNICODE_VERSION, (17, 0, 0));
}
