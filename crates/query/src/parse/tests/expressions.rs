//! Regular expressions in a query's text: where they begin and end, and what stays text.

use proptest::prelude::*;

use super::typed::{check, refuses};
use super::{parser, schema, shown};
use crate::clause::Clause;
use crate::query::Query;

#[test]
fn a_slash_where_a_clause_begins_and_one_where_it_ends_enclose_an_expression() {
    check(&[
        ("/her(on|ring)s?/", "regex<her(on|ring)s?>"),
        ("sea /h.*n/ sky", "(sea regex<h.*n> sky)"),
        ("+/h.*n/ -/s[ae]y/", "(+regex<h.*n> -regex<s[ae]y>)"),
        ("(/h.*n/) AND (sea OR /s./)", "(+regex<h.*n> +(sea regex<s.>))"),
        ("/h.*n/^2 /s./^=3", "(regex<h.*n>^2 regex<s.>^=3)"),
        ("by:/h.*n/ by:(/Bo .*/ x)", "(regex<h.*n> (regex<Bo .*> x))"),
        ("\"by\":/a\\/b+/", "regex<a/b+>"),
        ("by:/a\\ b\\\\/", "regex<a b\\\\>"),
        ("stems:/Herons?/", "regex<Herons?>"),
        ("/tmp/", "regex<tmp>"),
        ("/a:b|c/", "regex<a:b|c>"),
    ]);
}

#[test]
fn other_slashes_are_text() {
    check(&[
        ("/var/log/syslog", "\"var log syslog\"~0"),
        ("/var/log/", "\"var log\"~0"),
        ("/usr/local/bin/x y", "(\"usr local bin x\"~0 y)"),
        ("http://a.b/c/ text://x/", "(\"http a b c\"~0 \"text x\"~0)"),
        ("and/or /", "(\"and or\"~0 ∅)"),
        ("/ sea /", "(∅ sea ∅)"),
        ("a // ///", "(a ∅ ∅)"),
        ("/sea", "sea"),
        ("/sea sky/", "(sea sky)"),
        ("/my-dir/ /x/^y", "(\"my dir\"~0 \"x y\"~0)"),
        ("\\/sea/ \"/s.y/\"", "(sea \"s y\"~0)"),
        ("s/a.b/c/ 1/2/", "(\"s a b c\"~0 \"1 2\"~0)"),
        ("by:/srv/www/ by:\\/srv/", "(/srv/www/ /srv/)"),
        ("by:/a.b", "/a.b"),
        ("key:/a.b/", "key:/a.b/"),
        ("by:IN [/a/ /b.*/]", "(/a/ /b.*/)^=1"),
    ]);
}

#[test]
fn expressions_that_cannot_be_are_refused_with_their_place() {
    refuses(&[
        ("sea /a(b/", 6, "unclosed group"),
        ("/a(?=b)/", 2, "look-around"),
        ("by:/\\/(a)\\1/", 9, "backreferences"),
        ("/a\\b/", 2, "boundaries of words"),
        ("/*a*/", 1, "repetition operator missing expression"),
        ("/ord-\\d+/", 1, "an expression for one word"),
        ("sea /\\w{9999}/", 4, "automata take more than 1048576 bytes"),
        ("views:/3/", 6, "a whole number"),
    ]);
    let many = "/a.b/ ".repeat(33);
    let limit = parser().parse(&many).unwrap_err();
    assert!(limit.problem.to_string().contains("regular expressions"), "{limit}");
    assert_eq!(limit.offset, 6 * 32);
}

#[test]
fn a_lenient_parser_takes_what_is_no_expression_as_text() {
    for (text, expected, warnings) in [
        ("/her.n/ sea", "(regex<her.n> sea)", 0),
        ("/tmp/", "tmp", 0),
        ("/tmp", "tmp", 0),
        ("by:/tmp/", "regex<tmp>", 0),
        ("/a(b/", "(a b)", 2),
        ("/*a*/", "a", 2),
        ("cat /tmp/ less", "(cat tmp less)", 0),
    ] {
        let (query, found) = parser().parse_lenient(text);
        let made = shown(&query);
        // A line in which the expression matches no word is also found as text.
        let made =
            made.strip_prefix('(').and_then(|m| m.split_once(" \"")).map_or(made.as_str(), |m| m.0);
        assert!(
            made == expected || shown(&query) == expected,
            "{text}: {} {found:?}",
            shown(&query)
        );
        assert_eq!(found.len(), warnings, "{text}: {found:?}");
    }
}

#[test]
fn a_text_of_many_errors_is_read_in_time() {
    let text = format!("{} sea", r"/\pL(\pX)/ ".repeat(50_000));
    let (query, found) = parser().parse_lenient(&text);
    assert!(found.len() == 64 && found[0].to_string().contains("property"), "{:?}", found[0]);
    assert!(shown(&query).contains("px"));
    let error = parser().parse(&format!("sea /{}/", "a?".repeat(2100))).unwrap_err();
    assert!(error.offset == 4 && error.to_string().contains("more than 4096 bytes"), "{error}");
}

proptest! {
    /// An expression that a program has is read as it is written, in each kind of field.
    #[test]
    fn expressions_are_read_as_they_are_written(
        text in "([a-cÉß/ ]|\\\\[/. \\\\d]|\\[ab/]|\\(a\\|b\\)|[.*+?]|\u{a0}|\t){1,6}",
        field in prop::sample::select(vec!["by", "stems"]),
        boosted: bool,
    ) {
        let word = crate::clause::Word { field: field.to_owned(), text };
        let clause = Clause::Regex(word);
        let clause = if boosted { clause.boost(2.0) } else { clause };
        let typed = clause.to_string();
        // Without the parentheses of a boost, which a group may have.
        match Query::in_schema(&clause, &schema()) {
            Ok(built) => match parser().parse(&typed) {
                Ok(parsed) => prop_assert_eq!(shown(&parsed), shown(&built), "{}", typed),
                Err(error) => prop_assert!(
                    field == "stems" && error.to_string().contains("one word"), "{}: {}", typed, error
                ),
            },
            Err(_) => prop_assert!(parser().parse(&typed).is_err(), "{}", typed),
        }
    }

    /// A strict parser refuses no text by its slashes that a lenient one passes over in silence.
    #[test]
    fn a_lenient_parser_says_what_a_strict_one_refuses(text in "(by:|\\()?/[a/.(-)*^2 \\\\]{0,6}/(\\^[0-9x])?\\)?") {
        if parser().parse(&text).is_err() {
            prop_assert!(!parser().parse_lenient(&text).1.is_empty(), "{}", text);
        }
    }
}
