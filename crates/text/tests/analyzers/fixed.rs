//! The terms of one text, fixed for each analyzer.
//!
//! Files keep the terms that an analyzer made, so these are part of the file format. The oracles of
//! the other tests use the same tables and the same stemmer. So they do not notice when a new
//! version of those changes a term. A test fails here when that has happened. Old segments and new
//! queries then differ: the format needs a new version, or the changed analyzer another name and
//! another number.

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
         12:istanbul 13:strasse 14:étude 15:snake 16:case 17:wi 18:fi 19:tag 20:name 21:aapl \
         22:https 23:example 24:org 25:a 26:b 27:1 28:1\u{20e3} 29:2026 30:北京市 31:สวัสดี \
         32:カタカナ 33:½ 34:x² 35:running 36:generously 37:happiest 38:skies",
    );
}

#[test]
fn standard() {
    check(
        Analyzer::Standard,
        TEXT,
        "0:the 1:heron's 2:wings 3:don't 4:flap 5:3.14 6:times 7:naïve 8:σοφοσ 9:istanbul \
         10:strasse 11:étude 12:snake_case 13:wi 14:fi 15:tag 16:name 17:aapl 18:https \
         19:example.org 20:a 21:b 22:1 23:1\u{20e3} 24:2026 25:北 26:京 27:市 28:ส 29:วั 30:ส 31:ดี \
         32:カタカナ 33:½ 34:x 35:² 36:running 37:generously 38:happiest 39:skies",
    );
}

#[test]
fn social() {
    check(
        Analyzer::Social,
        TEXT,
        "0:the 1:heron's 2:wings 3:don't 4:flap 5:3.14 6:times 7:naïve 8:σοφοσ 9:istanbul \
         10:strasse 11:étude 12:snake_case 13:wi 14:fi 15:#tag 16:@name 17:$aapl \
         18:https://example.org/a?b=1 19:👩‍👩‍👧 20:🇫🇷 21:1\u{20e3} 22:2026 23:北 24:京 25:市 26:ส 27:วั 28:ส \
         29:ดี 30:カタカナ 31:½ 32:x 33:² 34:running 35:generously 36:happiest 37:skies",
    );
}

#[test]
fn english() {
    check(
        Analyzer::English,
        TEXT,
        "1:heron 2:wing 3:don't 4:flap 5:3.14 6:time 7:naïv 8:σοφοσ 9:istanbul 10:strass \
         11:étude 12:snake_cas 13:wi 14:fi 15:tag 16:name 17:aapl 18:https 19:example.org \
         21:b 22:1 23:1\u{20e3} 24:2026 25:北 26:京 27:市 28:ส 29:วั 30:ส 31:ดี 32:カタカナ 33:½ 34:x 35:² \
         36:run 37:generous 38:happiest 39:sky",
    );
}

#[test]
fn code() {
    check(
        Analyzer::Code,
        "C, C++17 and c#: .NET node.js don’t std::vector a->b f(x)[i++]; İ",
        "0:c 1:c++ 2:17 3:and 4:c# 5:.net 6:node.js 7:don't 8:std 9:vector 10:a 11:b 12:f 13:x \
         14:i++ 15:i",
    );
}

#[test]
fn keyword() {
    check(Analyzer::Keyword, "The HERON’s Wings ", "0:The HERON’s Wings ");
}

/// Signs, marks and letters that are written in several ways.
#[test]
fn written_in_several_ways() {
    check(
        Analyzer::Standard,
        "we’re weʼre note\u{2060}book head\u{feff}line so\u{ad}far می\u{200c}خواهم zero\u{200b}width \
         ﬁnſter ẞ ŉ ǰ ΐ σοφος ısı ᾼ \u{212b} \u{1112}\u{1161}\u{11ab} か\u{3099} \u{958} ①Ａ 葛\u{e0100}",
        "0:we're 1:we're 2:notebook 3:headline 4:sofar 5:میخواهم 6:zero 7:width 8:finster 9:ss \
         10:n 11:ǰ 12:ΐ 13:σοφοσ 14:isi 15:αι 16:å 17:한 18:が 19:\u{915}\u{93c} 20:① 21:ａ \
         22:葛",
    );
}

/// The text above has few of the characters whose class a new version of Unicode may change.
#[test]
fn tables_are_those_of_one_version_of_unicode() {
    assert_eq!(unicode_segmentation::UNICODE_VERSION, (17, 0, 0));
    assert_eq!(unicode_normalization::UNICODE_VERSION, (17, 0, 0));
}
