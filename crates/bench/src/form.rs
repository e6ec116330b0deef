//! A query tree as our engine takes it, for what our engine has.

use std::ops::Bound;

use spirit::query::{Bool, Word};
use spirit::schema::Schema;
use spirit::{Clause, Query};
use spirit_peer_protocol::{Clauses, Query as Tree, TEXT, Unsupported};

/// The query, or what we lack for it, where documents have nothing but a text.
pub(crate) fn query(tree: &Tree) -> Result<Query, Unsupported> {
    Query::new_of(&clause(tree)?).map_err(|problem| Unsupported(problem.to_string()))
}

/// The same where they have these fields.
pub(crate) fn in_schema(tree: &Tree, schema: &Schema) -> Result<Query, Unsupported> {
    Query::in_schema(&clause(tree)?, schema).map_err(|problem| Unsupported(problem.to_string()))
}

/// Why another engine may well answer otherwise: the query means something else to us.
pub(crate) fn differs(tree: &Tree) -> Option<&'static str> {
    match tree {
        Tree::Phrase { terms, slop: 1.., .. } if has_a_term_twice(terms) => {
            Some("a match is found if there is one, and no token is two of the phrase's terms")
        }
        Tree::Bool(clauses) => {
            let mut all = clauses.must.iter().chain(&clauses.should).chain(&clauses.not);
            all.find_map(differs)
        }
        Tree::Constant { query, .. } | Tree::Boost { query, .. } => differs(query),
        _ => None,
    }
}

fn has_a_term_twice(terms: &[String]) -> bool {
    terms.iter().enumerate().any(|(at, term)| terms[..at].contains(term))
}

fn clause(tree: &Tree) -> Result<Clause, Unsupported> {
    Ok(match tree {
        Tree::Term { field, value } if field == TEXT => Clause::Term(word(field, value)),
        // The peers' keywords have no weight of their own.
        Tree::Term { field, value } => Clause::Term(word(field, value)).constant(1.0),
        Tree::Phrase { field, terms, slop } => {
            let words = terms.iter().cloned().map(Some).collect();
            Clause::Phrase { field: field.clone(), words, slop: *slop }
        }
        Tree::PhrasePrefix { field, terms } => {
            let mut words: Vec<Option<String>> = terms.iter().cloned().map(Some).collect();
            let prefix = words.pop().flatten().unwrap_or_default();
            Clause::PhrasePrefix { field: field.clone(), words, prefix }
        }
        Tree::Prefix { field, value } => Clause::Prefix(word(field, value)),
        // A backslash is a letter there and an escape here.
        Tree::Wildcard { field, value } => {
            Clause::Wildcard(word(field, &value.replace('\\', "\\\\")))
        }
        Tree::Fuzzy { field, value, distance, transpositions, prefix_length } => {
            let prefix_length = u8::try_from(*prefix_length)
                .map_err(|_| Unsupported("so long a prefix of a fuzzy term".to_owned()))?;
            let (word, distance, transpositions) = (word(field, value), *distance, *transpositions);
            Clause::Fuzzy { word, distance, prefix_length, transpositions }
        }
        Tree::Bool(clauses) => bool(clauses)?,
        Tree::Constant { query, score } => clause(query)?.constant(*score),
        Tree::Boost { query, by } => clause(query)?.boost(*by),
        Tree::All {} => Clause::Everything,
        Tree::OneOf { field, values } => Clause::one_of(field, values),
        Tree::Range { field, from: None, to: None, .. } => Clause::exists(field),
        Tree::Range { field, from, to, include_from, include_to } => {
            Clause::range(field, (bound(*from, *include_from), bound(*to, *include_to)))
        }
    })
}

fn bound(value: Option<i64>, included: bool) -> Bound<i64> {
    match value {
        None => Bound::Unbounded,
        Some(value) if included => Bound::Included(value),
        Some(value) => Bound::Excluded(value),
    }
}

fn bool(clauses: &Clauses) -> Result<Clause, Unsupported> {
    if clauses.must.is_empty() && clauses.should.is_empty() {
        // To us, what must not match alone would leave all others.
        return Ok(Clause::Nothing);
    }
    let all = |trees: &[Tree]| trees.iter().map(clause).collect::<Result<Vec<_>, _>>();
    Ok(Clause::Bool(Bool {
        must: all(&clauses.must)?,
        should: all(&clauses.should)?,
        not: all(&clauses.not)?,
        minimum: clauses.should_min() as u32,
    }))
}

fn word(field: &str, text: &str) -> Word {
    Word { field: field.to_owned(), text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(tree: &Tree) -> String {
        clause(tree).expect("we have it").to_string()
    }

    #[test]
    fn a_tree_keeps_its_meaning() {
        let [a, b, c] = ["a", "b", "c"].map(Tree::term);
        let two = Clauses {
            should: vec![a.clone(), b.clone(), c.clone()],
            not: vec![Tree::phrase(&["x", "y"], 2)],
            minimum_should_match: Some(2),
            ..Clauses::default()
        };
        assert_eq!(said(&Tree::Bool(two)), "(a b c -\"x y\"~2)~2");
        assert_eq!(said(&Tree::all_of(vec![a.clone(), Tree::any_of(vec![b, c])])), "(+a +(b c))");
        let louder = Tree::Boost { query: Box::new(a.clone()), by: 2.0 };
        assert_eq!(said(&Tree::Constant { query: Box::new(louder), score: 3.0 }), "((a)^2)^=3");
        let without = Tree::Bool(Clauses { not: vec![a], ..Clauses::default() });
        assert_eq!(clause(&without), Ok(Clause::Nothing));
        assert_eq!(said(&Tree::wildcard(r"a\*")), r"a\\*");
        assert!(query(&Tree::All {}).is_ok());
    }

    #[test]
    fn what_is_lacking_is_told_however_deep_it_is() {
        let channel = Tree::Term { field: "channel".to_owned(), value: "a".to_owned() };
        let both = Tree::all_of(vec![Tree::term("a"), channel]);
        assert_eq!(query(&both).err(), Some(Unsupported("no such field".to_owned())));
    }

    #[test]
    fn columns_are_fields() {
        let range = |text| serde_json::from_str(&format!(r#"{{"range": {text}}}"#)).unwrap();
        let cases = [
            (range(r#"{"field": "ts", "from": 1, "to": 5, "include_to": false}"#), "ts:[1 TO 5}"),
            (range(r#"{"field": "ts", "to": 5}"#), "ts:[* TO 5]"),
            (range(r#"{"field": "ts"}"#), "ts:*"),
        ];
        for (tree, expected) in cases {
            assert_eq!(said(&tree), expected);
        }
        let (field, value) = ("channel".to_owned(), "a b".to_owned());
        let one_of = Tree::OneOf { field: field.clone(), values: vec!["a".to_owned(), value] };
        assert_eq!(said(&one_of), r#"channel:IN [a "a b"]"#);
        let term = Tree::Term { field, value: "a b".to_owned() };
        assert_eq!(said(&term), r"(channel:a\ b)^=1".replace(r"\\", r"\"));
    }

    #[test]
    fn only_slop_with_a_term_twice_means_something_else() {
        let inside = |tree| Tree::any_of(vec![Tree::term("a"), tree]);
        assert!(differs(&inside(Tree::phrase(&["a", "b", "a"], 1))).is_some());
        assert!(differs(&inside(Tree::phrase(&["a", "b", "a"], 0))).is_none());
        assert!(differs(&inside(Tree::phrase(&["a", "b"], 1))).is_none());
    }
}
