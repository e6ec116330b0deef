//! The lenient parser's results for invalid and for too large texts.

use proptest::prelude::*;

use super::{parser, shown};
use crate::parse::WARNINGS_MAX;
use crate::problem::Problem;
use crate::query::{DEPTH_MAX, NONE, NodeId, Query};

/// Checks each text's query, and the number of its warnings.
fn check(cases: &[(&str, &str, usize)]) {
    for (text, expected, warnings) in cases {
        let (query, found) = parser().parse_lenient(text);
        let made = (shown(&query), found.len());
        assert_eq!(made, ((*expected).to_owned(), *warnings), "{text}: {found:?}");
    }
}

#[test]
fn a_lenient_parser_takes_what_it_can() {
    check(&[
        ("sea star", "(sea star)", 0),
        ("(cat sea | grep star)~2", "(cat sea ∅ grep star)~2", 0),
        ("sea AND", "sea", 1),
        ("sea AND AND star fish", "((+sea +star) fish)", 1),
        ("NOT NOT sea", "(-sea)", 1),
        ("sea^-1 ^2", "(\"sea 1\"~0 ∅^2)", 2),
        ("heron~0.5", "\"heron 0 5\"~0", 1),
        ("\"a b\"~1.5", "(\"a b\"~1 5)", 1),
        ("a.b.c:3 At:x", "(\"a b c 3\"~0 \"at x\"~0)", 2),
        ("http://a.b HTTPS://b mailto:a", "(\"http a b\"~0 \"https b\"~0 \"mailto a\"~0)", 0),
        ("key:[a TO b]", "(key:[a to b)", 1),
        ("(a AND b)~1", "(+a +b)", 1),
        ("AND sea", "sea", 1),
        ("(sea", "sea", 1),
        ("sea) star", "(sea star)", 1),
        ("say \"grey heron", "(say \"grey heron\"~0)", 1),
        ("title:sea", "\"title sea\"~0", 1),
        ("a - b", "(a b)", 0),
        ("-- a", "a", 1),
        ("a - - b", "(a b)", 1),
        ("what is this?", "(what is this)", 0),
        ("C++ -x", "(c -x)", 0),
        ("heron~7", "heron~2", 1),
        ("\"a b\"~2* c", "(\"a 1:b…\" c)", 1),
        ("\"a b\"*~2^3 c", "(\"a 1:b…\"^3 c)", 1),
        ("\"a b\"*~", "\"a 1:b…\"", 1),
        ("views:\"3\"* c", "(#3:3 c)", 1),
        (":-)", "∅", 1),
    ]);
}

#[test]
fn a_lenient_parser_passes_over_what_is_no_range() {
    check(&[
        ("views:[1 2] sea", "(∅ sea)", 1),
        ("sea views:[1 TO", "(sea ∅)", 1),
        ("views:[x TO 2] sea", "(∅ sea)", 1),
        ("views:x sea", "(∅ sea)", 1),
        ("views:>", "views", 1),
        ("views:>x sea", "(∅ sea)", 1),
        ("views:IN [1 x] sea", "(∅ sea)", 1),
        ("by:[a TO \"b]", "\"by a to b\"~0", 2),
    ]);
}

#[test]
fn a_hostile_text_is_refused_or_cut() {
    let deep = "(".repeat(100_000);
    assert!(matches!(parser().parse(&deep).unwrap_err().problem, Problem::TooLarge(_)));
    let (_, warnings) = parser().parse_lenient(&deep);
    assert!(!warnings.is_empty());
    for text in [")".repeat(10_000), "a)".repeat(900), "+".repeat(1 << 20), "OR ".repeat(1 << 18)] {
        let (query, warnings) = parser().parse_lenient(&text);
        assert!(warnings.len() <= WARNINGS_MAX && depth(&query, query.root) <= 2, "{}", &text[..9]);
    }
    let long = "a ".repeat(5000);
    assert!(matches!(parser().parse(&long).unwrap_err().problem, Problem::TooLarge(_)));
    let (query, warnings) = parser().parse_lenient(&long);
    assert_eq!((query.terms.len(), warnings.len()), (1024, 1));
    let phrase = format!("\"{}\"", "a ".repeat(129));
    assert!(matches!(parser().parse(&phrase).unwrap_err().problem, Problem::TooLarge(_)));
    let phrase = format!("\"{}\"*", "a ".repeat(129));
    assert!(matches!(parser().parse(&phrase).unwrap_err().problem, Problem::TooLarge(_)));
    let patterns = "\"a b\"* ".repeat(33);
    assert!(matches!(parser().parse(&patterns).unwrap_err().problem, Problem::TooLarge(_)));
    let patterns = "a* ".repeat(33);
    assert!(matches!(parser().parse(&patterns).unwrap_err().problem, Problem::TooLarge(_)));
}

/// Returns the number of nodes on the longest path down from a node.
fn depth(query: &Query, node: NodeId) -> usize {
    if node == NONE {
        return 0;
    }
    1 + query.children(node).map(|child| depth(query, child)).max().unwrap_or(0)
}

proptest! {
    /// Recursive functions over a tree rely on its depth.
    #[test]
    fn no_text_makes_a_deep_tree(parts in prop::collection::vec(0usize..14, 0..400)) {
        let parts = parts.iter().map(|part| {
            ["(", ")", " a ", "+", "-", " OR ", " AND ", "\"", "~2", "^2", "NOT ", " b", ":", "(("][*part]
        });
        let text: String = parts.collect();
        let (query, _) = parser().parse_lenient(&text);
        prop_assert!(depth(&query, query.root) <= 4 * (DEPTH_MAX + 1), "{text}");
        if let Ok(query) = parser().parse(&text) {
            prop_assert!(depth(&query, query.root) <= 4 * (DEPTH_MAX + 1), "{text}");
        }
    }
}
