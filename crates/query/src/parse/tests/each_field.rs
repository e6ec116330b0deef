//! Words without a field's name: they mean what they mean in each field of text.

use std::sync::Arc;

use proptest::prelude::*;
use spirit_schema::{FieldKind, Schema};
use spirit_text::Analyzer;

use super::super::{Operator, Parser};
use super::shown;
use crate::query::{Query, QueryPattern};
use crate::query_pattern::PATTERNS_MAX;

const TEXTS: [&str; 4] = ["text", "title", "stems", "codes"];

fn schema() -> Schema {
    let mut schema = Schema::new(Analyzer::Simple, false);
    schema.add("by", FieldKind::Keyword).unwrap();
    schema.add("title", FieldKind::Text(Analyzer::Simple)).unwrap();
    schema.add("views", FieldKind::Integer).unwrap();
    schema.add("stems", FieldKind::Text(Analyzer::English)).unwrap();
    schema.add("codes", FieldKind::Text(Analyzer::Keyword)).unwrap();
    schema
}

fn parser(schema: Schema) -> Parser {
    Parser::new(Arc::new(schema), 1 << 20, Operator::Or)
}

/// Writes a query out in full, with the fields of its terms and patterns.
fn meaning(query: &Query) -> String {
    let terms = query.terms.iter().map(|term| (term.field(), query.bytes_of(term)));
    let pattern = |p: &QueryPattern| (p.field, p.kind, query.pattern_bytes(p));
    let patterns = query.patterns.iter().map(pattern);
    let fields = (terms.collect::<Vec<_>>(), patterns.collect::<Vec<_>>());
    format!("{} {fields:?}", shown(query))
}

fn strict(text: &str) -> Result<Query, String> {
    parser(schema()).parse(text).map_err(|error| error.to_string())
}

/// Returns what a text means that names each field itself.
fn named(text: &str) -> String {
    meaning(&strict(text).unwrap())
}

#[test]
fn words_are_looked_for_in_each_field_of_text() {
    for (text, same) in [
        ("Herons", "(text:Herons | title:Herons | stems:Herons | codes:Herons)"),
        ("-sea", "-(text:sea | title:sea | stems:sea | codes:sea)"),
        ("sea^2", "(text:sea^2 | title:sea^2 | stems:sea^2 | codes:sea^2)"),
        ("sea^=2", "(text:sea^=2 | title:sea^=2 | stems:sea^=2 | codes:sea^=2)"),
        (
            "\"Grey Herons\"~2",
            "(text:\"Grey Herons\"~2 | title:\"Grey Herons\"~2 | stems:\"Grey Herons\"~2 | \
             codes:\"Grey Herons\")",
        ),
        (
            "e-mail AND by:Bo",
            "(text:e-mail | title:e-mail | stems:e-mail | codes:e-mail) AND by:Bo",
        ),
        (
            "\"grey her\"*",
            "(text:\"grey her\"* | title:\"grey her\"* | stems:\"grey her\"* | codes:\"grey her\"*)",
        ),
        // What is a stop word of another field alone takes part.
        ("the", "(text:the | title:the | codes:the)"),
        // A group's minimum counts words, not fields.
        (
            "(sea sky)~2",
            "((text:sea | title:sea | stems:sea | codes:sea) \
             (text:sky | title:sky | stems:sky | codes:sky))~2",
        ),
    ] {
        assert_eq!(meaning(&strict(text).unwrap()), named(same), "{text}");
    }
}

/// What follows a word is no factor of a group.
#[test]
fn only_a_written_group_has_a_factor() {
    assert!(strict("(sea)~0.5").is_err());
    assert_eq!(shown(&strict("(sea)~1").unwrap()), shown(&strict("((sea))~1").unwrap()));
    assert!(strict("(text:sea | title:sea)~0.5").is_ok());
}

#[test]
fn what_names_a_field_is_looked_for_there_only() {
    for text in ["text:sea", "title:(sea -sky)", "text:\"a b\"", "text:her*", "key:1", "*", "by:x"]
    {
        let query = strict(text).unwrap();
        assert!(!shown(&query).contains("best"), "{text}: {}", shown(&query));
        assert!(query.patterns.iter().all(|pattern| pattern.more == 0), "{text}");
    }
}

/// A pattern has equal scores in all fields, so one leaf and one bitmap serve for all.
#[test]
fn a_pattern_is_one_leaf_for_all_fields() {
    for text in ["her*", "h?ron", "heron~1", "/her(on|ring)s?/", "her*^2", "h?ron^=3"] {
        let query = strict(text).unwrap();
        assert_eq!((query.nodes.len(), query.patterns.len()), (1, TEXTS.len()), "{text}");
        assert_eq!(query.patterns_of(0), 0..=3);
        assert!(query.patterns.iter().all(|pattern| pattern.leaf == 0));
        let fields = ["", "title:", "stems:", "codes:"].map(|field| format!("{field}{text}"));
        let each = fields.map(|text| strict(&text).unwrap());
        for (pattern, alone) in query.patterns.iter().zip(&each).skip(1) {
            let alone_pattern = &alone.patterns[0];
            assert_eq!(pattern.field, alone_pattern.field);
            assert_eq!(query.pattern_bytes(pattern), alone.pattern_bytes(alone_pattern), "{text}");
        }
    }
    let two = strict("her* sea /s.y/").unwrap();
    let leaves: Vec<u32> = two.patterns.iter().map(|pattern| pattern.leaf).collect();
    assert_eq!(leaves, [0, 0, 0, 0, 1, 1, 1, 1]);
    // The fields that an analyzer cuts alike share an automaton.
    assert_eq!(two.automata.len(), 3);
}

/// Where an analyzer cuts what is a pattern elsewhere, the field has a clause of its own.
#[test]
fn a_pattern_that_is_cut_in_some_fields_is_several_clauses() {
    let query = strict("ord-9*").unwrap();
    assert_eq!(shown(&query), "best(\"ord 1:9…\" \"ord 1:9…\" \"ord 1:9…\" ord-9…)~0", "{query:?}");
    let leaves: Vec<u32> = query.patterns.iter().map(|pattern| pattern.leaf).collect();
    assert_eq!(leaves, [0, 1, 2, 3]);
}

#[test]
fn the_limits_count_leaves_not_fields() {
    let words = |count| (0..count).map(|n| format!("w{n}* ")).collect::<String>();
    assert!(strict(&words(PATTERNS_MAX)).is_ok());
    let error = strict(&words(PATTERNS_MAX + 1)).unwrap_err();
    assert!(error.contains("more than 32 prefixes"), "{error}");
    let many: String = (0..257).map(|n| format!("w{n} ")).collect();
    let error = strict(&many).unwrap_err();
    assert!(error.contains("more than 1024 clauses"), "{error}");
    let (query, warnings) = parser(schema()).parse_lenient(&many);
    assert_eq!((query.terms.len(), warnings.len()), (1024, 1));
}

/// A lenient parser's errors are those of one field.
#[test]
fn an_error_is_reported_once() {
    for text in ["(sea", "sea AND", "\"sea", "sea^x ~9", "a:b", "+ +", "/(/ sea", "o-r?d sea"] {
        let mut only = parser(schema());
        only.within_fields(Some(1));
        let (_, of_text) = only.parse_lenient(text);
        let (_, of_all) = parser(schema()).parse_lenient(text);
        assert_eq!(of_all, of_text, "{text}");
    }
}

/// A parser of a later page knows the fields of the first one.
#[test]
fn fields_may_be_fewer_than_the_schema_has() {
    let mut parser = parser(schema());
    parser.within_fields(Some(3));
    let query = parser.parse("sea").unwrap();
    assert_eq!(meaning(&query), named("(text:sea | title:sea)"));
    parser.within_fields(None);
    assert_eq!(parser.parse("sea").unwrap().terms.len(), TEXTS.len());
}

proptest! {
    /// Whatever the text, it is an error in all fields if it is one in the text, and the first of
    /// each best is what the text means alone.
    #[test]
    fn the_text_decides_what_is_an_error(
        parts in prop::collection::vec(0usize..24, 0..12),
        lenient in any::<bool>(),
    ) {
        let parts = parts.iter().map(|part| {
            [
                " ", " ", "sea", "the", "o-r", "her*", "h?r", "~1", "^2", "\"", "(", ")", "-", "+",
                " AND ", " OR ", " | ", "by:", "title:", "/a.b/", "/x-y/", "*", "~2", "key:",
            ][*part]
        });
        let text: String = parts.collect();
        let mut all = parser(schema());
        let mut only = parser(schema());
        only.within_fields(Some(1));
        if lenient {
            let ((_, all), (_, only)) = (all.parse_lenient(&text), only.parse_lenient(&text));
            prop_assert_eq!(all, only);
        } else {
            let (all, only) = (all.parse(&text), only.parse(&text));
            prop_assert_eq!(all.err(), only.err());
        }
    }
}
