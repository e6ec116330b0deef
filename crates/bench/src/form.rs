//! A query tree as our engine takes it, for what our engine has.

use spirit::{Bool, Clause, Fuzzy, Query, Word};
use spirit_peer_protocol::{Clauses, Query as Tree, Unsupported};

/// The query, or what we lack for it.
pub(crate) fn query(tree: &Tree) -> Result<Query, Unsupported> {
    Query::new_of(&clause(tree)?).map_err(|problem| Unsupported(problem.to_string()))
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
        Tree::Term { field, value } => Clause::Term(word(field, value)),
        Tree::Phrase { field, terms, slop } => {
            let words = terms.iter().cloned().map(Some).collect();
            Clause::Phrase { field: field.clone(), words, slop: *slop }
        }
        Tree::Prefix { field, value } => Clause::Prefix(word(field, value)),
        // A backslash is a letter there and an escape here.
        Tree::Wildcard { field, value } => {
            Clause::Wildcard(word(field, &value.replace('\\', "\\\\")))
        }
        Tree::Fuzzy { field, value, distance, transpositions, prefix_length } => {
            let prefix_length = u8::try_from(*prefix_length)
                .map_err(|_| Unsupported("so long a prefix of a fuzzy term".to_owned()))?;
            let fuzzy =
                Fuzzy { distance: *distance, prefix_length, transpositions: *transpositions };
            Clause::Fuzzy(word(field, value), fuzzy)
        }
        Tree::Bool(clauses) => bool(clauses)?,
        Tree::Constant { query, score } => clause(query)?.constant(*score),
        Tree::Boost { query, by } => clause(query)?.boost(*by),
        Tree::All {} => Clause::Everything,
        // Not yet. What asks other fields is refused by the engine itself, for as long as it does that.
        Tree::Range { .. } => return Err(Unsupported("no ranges".to_owned())),
    })
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
        let range: Tree = serde_json::from_str(r#"{"range": {"field": "ts", "from": 1}}"#).unwrap();
        let both = Tree::all_of(vec![Tree::term("a"), range]);
        assert_eq!(query(&both).err(), Some(Unsupported("no ranges".to_owned())));
    }

    #[test]
    fn only_slop_with_a_term_twice_means_something_else() {
        let inside = |tree| Tree::any_of(vec![Tree::term("a"), tree]);
        assert!(differs(&inside(Tree::phrase(&["a", "b", "a"], 1))).is_some());
        assert!(differs(&inside(Tree::phrase(&["a", "b", "a"], 0))).is_none());
        assert!(differs(&inside(Tree::phrase(&["a", "b"], 1))).is_none());
    }
}
