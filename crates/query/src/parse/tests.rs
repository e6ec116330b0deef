//! What texts mean, and what is said of those that mean nothing.

use std::sync::Arc;

use spirit_schema::{FieldKind, Schema};
use spirit_text::Analyzer;

use super::{Operator, Parser, Problem};
use crate::pattern::PatternKind;
use crate::query::{Kind, NONE, NodeId, Occur, Query};

fn parser() -> Parser {
    let mut schema = Schema::new(Analyzer::Simple, false);
    schema.add("by", FieldKind::Keyword).unwrap();
    schema.add("stems", FieldKind::Text(Analyzer::English)).unwrap();
    schema.add("views", FieldKind::Integer).unwrap();
    Parser::new(Arc::new(schema), 1 << 16, Operator::Or)
}

/// A query as a text in which everything is written out.
fn shown(query: &Query) -> String {
    if query.root == NONE { "nothing".to_owned() } else { node(query, query.root) }
}

fn node(query: &Query, id: NodeId) -> String {
    let found = &query.nodes[id as usize];
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let children = |sign: fn(Occur) -> &'static str| -> String {
        let child =
            |id: NodeId| format!("{}{}", sign(query.nodes[id as usize].occur), node(query, id));
        query.children(id).map(child).collect::<Vec<_>>().join(" ")
    };
    let plain = match found.kind {
        Kind::Nothing => "∅".to_owned(),
        Kind::Everything => "*".to_owned(),
        Kind::Term(term) => text(query.bytes_of(&query.terms[term as usize])),
        Kind::Key(term) => format!("key:{}", text(query.bytes_of(&query.terms[term as usize]))),
        Kind::Phrase { slop } => format!("\"{}\"~{slop}", children(|_| "")),
        Kind::Pattern(pattern) => {
            let pattern = &query.patterns[pattern as usize];
            let bytes = text(query.pattern_bytes(pattern));
            match pattern.kind {
                PatternKind::Prefix => format!("{bytes}…"),
                PatternKind::Wildcard => format!("/{bytes}/"),
                PatternKind::Fuzzy(fuzzy) => format!("{bytes}~{}", fuzzy.distance),
            }
        }
        Kind::Clauses { minimum } => {
            let inside = children(|occur| match occur {
                Occur::Must => "+",
                Occur::Should => "",
                Occur::Not => "-",
            });
            if minimum > 0 { format!("({inside})~{minimum}") } else { format!("({inside})") }
        }
    };
    match (found.constant, found.boost) {
        (true, score) => format!("{plain}^={score}"),
        (false, 1.0) => plain,
        (false, by) => format!("{plain}^{by}"),
    }
}

fn strict(text: &str) -> Result<String, (usize, String)> {
    let parsed = parser().parse(text);
    parsed.map(|query| shown(&query)).map_err(|error| (error.offset, error.problem.to_string()))
}

#[test]
fn texts_mean_what_users_of_lucene_expect() {
    for (text, expected) in [
        ("", "nothing"),
        ("Sea", "sea"),
        ("sea star", "(sea star)"),
        ("+sea -star fish", "(+sea -star fish)"),
        ("sea AND star OR fish", "((+sea +star) fish)"),
        ("sea && star || fish", "((+sea +star) fish)"),
        ("NOT sea", "(-sea)"),
        ("!sea star", "(-sea star)"),
        ("sea AND NOT star", "(+sea -star)"),
        ("(sea star)~2", "(sea star)~2"),
        ("\"Grey  Heron\"", "\"grey heron\"~0"),
        ("\"grey heron\"~3", "\"grey heron\"~3"),
        ("\"heron\"", "heron"),
        ("wi-fi", "\"wi fi\"~0"),
        ("heron^2.5", "heron^2.5"),
        ("(sea star)^2", "(sea star)^2"),
        ("\"grey heron\"^=3", "\"grey heron\"~0^=3"),
        ("HER*", "her…"),
        ("h?r*n", "/h?r*n/"),
        ("heron~", "heron~2"),
        ("heron~1", "heron~1"),
        ("\\*", "∅"),
        ("AND\\ OR", "\"and or\"~0"),
        ("text:sea", "sea"),
        ("text:(sea star)", "(sea star)"),
        ("text:\"grey heron\"", "\"grey heron\"~0"),
        ("key:17 sea", "(key:17 sea)"),
        ("key:\"a b\"", "key:a b"),
        ("*", "*"),
        ("text:*", "*"),
        ("10:30", "\"10 30\"~0"),
        ("x^y", "\"x y\"~0"),
        ("by:Ann-Lee", "Ann-Lee"),
        ("by:\"Ann Lee\"", "Ann Lee"),
        ("by:A*", "A…"),
        ("by:*", "…"),
        ("stems:Herons", "heron"),
        ("stems:(Herons seas) Herons", "((heron sea) herons)"),
        ("a~b", "\"a b\"~0"),
    ] {
        assert_eq!(strict(text), Ok(expected.to_owned()), "{text}");
    }
}

#[test]
fn a_strict_parser_says_where_and_what() {
    for (text, offset, expected) in [
        ("sea AND", 7, "a word"),
        ("AND sea", 0, "a word before the operator"),
        ("(sea", 4, "`)`"),
        ("sea)", 3, "a word, or the end"),
        ("()", 1, "a word, not `)`"),
        ("+ -sea", 2, "a word after"),
        ("a \"grey heron", 2, "a second `\""),
        ("title:sea", 0, "no such field"),
        ("views:3", 0, "a field of kind integer has no words"),
        ("text: sea", 5, "a value after `:`"),
        ("key:", 4, "a value after `:`"),
        ("heron~7", 6, "a distance of 0, 1 or 2"),
        ("\"a b\"~x", 6, "a whole number"),
        ("(a b)^x", 6, "a number from 0 on"),
    ] {
        let (at, problem) = strict(text).unwrap_err();
        assert_eq!(at, offset, "{text}: {problem}");
        assert!(problem.contains(expected), "{text}: {problem}");
    }
}

#[test]
fn a_lenient_parser_takes_what_it_can() {
    for (text, expected, warnings) in [
        ("sea star", "(sea star)", 0),
        ("sea AND", "(+sea +∅)", 1),
        ("AND sea", "sea", 1),
        ("(sea", "sea", 1),
        ("sea) star", "(sea star)", 1),
        ("say \"grey heron", "(say \"grey heron\"~0)", 1),
        ("title:sea", "\"title sea\"~0", 1),
        ("a - b", "(a b)", 0),
        ("what is this?", "(what is this)", 0),
        ("C++ -x", "(c -x)", 0),
        ("heron~7", "heron~2", 1),
        (":-)", "∅", 1),
    ] {
        let (query, found) = parser().parse_lenient(text);
        assert_eq!(
            (shown(&query).as_str(), found.len()),
            (expected, warnings),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn a_hostile_text_is_refused_or_cut() {
    let deep = "(".repeat(100_000);
    assert!(matches!(parser().parse(&deep).unwrap_err().problem, Problem::TooLarge(_)));
    let (_, warnings) = parser().parse_lenient(&deep);
    assert!(!warnings.is_empty());
    let long = "a ".repeat(5000);
    assert!(matches!(parser().parse(&long).unwrap_err().problem, Problem::TooLarge(_)));
    let (query, warnings) = parser().parse_lenient(&long);
    assert_eq!((query.terms.len(), warnings.len()), (1024, 1));
    let phrase = format!("\"{}\"", "a ".repeat(129));
    assert!(matches!(parser().parse(&phrase).unwrap_err().problem, Problem::TooLarge(_)));
    let patterns = "a* ".repeat(33);
    assert!(matches!(parser().parse(&patterns).unwrap_err().problem, Problem::TooLarge(_)));
}
