//! Names, quotation marks, dashes, and patterns in words that the analyzer cuts.

use super::{parser, shown, strict};

pub(super) fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(strict(text), Ok((*expected).to_owned()), "{text}");
    }
}

pub(super) fn refuses(cases: &[(&str, usize, &str)]) {
    for (text, offset, expected) in cases {
        let (at, problem) = strict(text).expect_err(text);
        assert_eq!(at, *offset, "{text}: {problem}");
        assert!(problem.contains(expected), "{text}: {problem}");
    }
}

#[test]
fn quotation_marks_of_word_processors_make_a_phrase() {
    for text in [
        "“grey heron”",
        "„grey heron“",
        "”grey heron”",
        "‟grey heron”",
        "«grey heron»",
        "»grey heron«",
        "‹grey heron›",
        "›grey heron‹",
        "「grey heron」",
        "『grey heron』",
        "＂grey heron＂",
        "〝grey heron〟",
        "“grey heron\"",
        "\"grey heron”",
        "«grey heron\"",
        "„grey heron”",
    ] {
        check(&[(text, "\"grey heron\"~0")]);
        assert_eq!(shown(&parser().parse_lenient(text).0), "\"grey heron\"~0", "{text}");
    }
    check(&[
        ("“grey her”*", "\"grey 1:her…\""),
        ("“grey heron”~2 sea", "(\"grey heron\"~2 sea)"),
        ("\"so “grey heron” said\"", "\"so grey heron said\"~0"),
        ("by:“Ann Lee”", "Ann Lee"),
        ("by:IN [“Ann Lee” «Bo»]", "(Ann Lee Bo)^=1"),
        ("key:«a b»", "key:a b"),
        ("we’re", "\"we re\"~0"),
        ("‘sea’", "sea"),
    ]);
    refuses(&[("sea “grey heron", 4, "a second `\"`")]);
}

#[test]
fn a_dash_in_front_of_a_word_excludes_it() {
    check(&[
        ("sea –star", "(sea -star)"),
        ("sea —star", "(sea -star)"),
        ("sea −(star fish)", "(sea -(star fish))"),
        ("sea –\"a b\"", "(sea -\"a b\"~0)"),
        ("sea – star", "(sea ∅ star)"),
        ("sea –– star", "(sea ∅ star)"),
        ("sea–star", "\"sea star\"~0"),
        ("views:3 –views:5", "(#3:3 -#3:5)"),
    ]);
}

#[test]
fn names_are_refused_whatever_their_letters() {
    refuses(&[
        ("user-agnt:curl", 0, "no such field"),
        ("sea gröse:5", 4, "no such field"),
        ("名:x", 0, "no such field"),
        ("$typ:x", 0, "no such field"),
        ("user\\ nme:x", 0, "no such field"),
        ("sea \"user nme\":x", 4, "no such field"),
        ("“user nme”:x", 0, "no such field"),
        ("e\u{301}x:y", 0, "no such field"),
    ]);
    check(&[
        ("10:30", "\"10 30\"~0"),
        ("2026-11-22T10:30", "\"2026 11 22t10 30\"~0"),
        ("0a:1b", "\"0a 1b\"~0"),
        ("\"a b\": sea", "(\"a b\"~0 ∅ sea)"),
        ("\\views:3", "#3:3"),
        ("\"views\":3", "#3:3"),
        ("\"views\":[1 TO 2] «by»:\"Ann Lee\"", "(#3:1..2 Ann Lee)"),
        ("\"key\":17", "key:17"),
        ("-\"by\":(a b)", "(-(a b))"),
        ("https://a.b", "\"https a b\"~0"),
        ("mailto:a@b", "\"mailto a b\"~0"),
    ]);
}

#[test]
fn a_pattern_in_a_word_that_is_cut_begins_a_phrase_or_is_an_error() {
    check(&[
        ("ord-998*", "\"ord 1:998…\""),
        ("ord-*", "ord"),
        ("/srv/ww*", "\"srv 1:ww…\""),
        ("/srv*", "srv…"),
        ("a@EXAM*^2", "\"a 1:exam…\"^2"),
        ("stems:of-the-th*", "th…"),
        ("stems:ponds-of-th*", "\"pond 2:th…\""),
        ("by:ord-9?8*", "/ord-9?8*/"),
        ("heron!~1", "heron~1"),
        ("\"grey her*\"", "\"grey 1:her…\""),
        ("\"grey her*\"*^2", "\"grey 1:her…\"^2"),
        ("\"grey wi-f*\"", "\"grey wi 2:f…\""),
        ("\"her*\"", "her…"),
        ("\"find?q=otter a*b:\"", "\"find q otter a b\"~0"),
        ("\"is it? so\"", "\"is it so\"~0"),
        ("\"gre\\* heron\"", "\"gre heron\"~0"),
        ("by:\"a*\"", "a*"),
    ]);
    refuses(&[
        ("sea or?-998*", 4, "a pattern within one word"),
        ("ord-9?8", 0, "a pattern within one word"),
        ("*.txt", 0, "a pattern within one word"),
        ("ord-99812-qz~1", 0, "a pattern within one word"),
        ("\"gre* heron\"", 1, "only the last word may end with `*`"),
        ("\"grey h?ron\"", 6, "only the last word may end with `*`"),
        ("\"grey hern~1\"", 6, "only the last word may end with `*`"),
        ("\"grey *ron\"", 6, "only the last word may end with `*`"),
        ("\"grey her*\"~2", 11, "no slop"),
    ]);
    let mut bare = parser().without_positions();
    assert_eq!(shown(&bare.parse("ord-998*").unwrap()), "(+ord +998…)");
}

#[test]
fn a_boost_may_have_an_exponent() {
    check(&[
        ("sea^1e3", "sea^1000"),
        ("sea^2.5e-1", "sea^0.25"),
        ("(sea^2 star)^3", "(sea^2 star)^3"),
        ("(sea^2)^3", "sea^6"),
        ("sea^=1E2", "sea^=100"),
    ]);
    refuses(&[("sea^1e39", 4, "a number ≥ 0"), ("sea^1e", 4, "a number ≥ 0")]);
}

#[test]
fn a_lenient_parser_finds_what_was_pasted() {
    for (text, expected) in [
        ("find?q=otter", "\"find q otter\"~0"),
        ("is so?", "(is so)"),
        ("NOT", "not"),
        ("text: sea", "(text sea)"),
        ("AND", "and"),
        ("jaguar -car", "(jaguar -car)"),
        ("jaguar -2024", "(jaguar -2024)"),
        ("here -&gt; so", "(here gt so)"),
        ("jaguar -8.8% −$5 –1,5", "(jaguar \"8 8\"~0 5 \"1 5\"~0)"),
        ("a b -c", "(a b -c)"),
        ("a b c -d", "((a b c -d) \"a b c d\"~0)"),
        ("key:42", "key:42"),
        ("her*", "her…"),
        ("wi-fi her*", "(\"wi fi\"~0 her…)"),
        ("(a b)~3", "((a b)~3 \"a b 3\"~0)"),
    ] {
        assert_eq!(shown(&parser().parse_lenient(text).0), expected, "{text}");
    }
}
