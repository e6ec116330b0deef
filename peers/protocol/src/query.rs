//! A query as the caller writes it: a tree in JSON, each node an object with one member, its kind.
//!
//! ```json
//! {"bool": {"must": [{"term": {"value": "big"}}], "not": [{"prefix": {"value": "dat"}}]}}
//! ```
//!
//! Terms are tokens as the analyzer makes them; nothing here is analyzed.

use serde::{Deserialize, Serialize};

/// The field of a leaf that names none.
pub const TEXT: &str = "text";

/// A node of the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Query {
    /// The documents of one term.
    Term {
        /// Where it is looked for.
        #[serde(default = "text", skip_serializing_if = "is_text")]
        field: String,
        /// The term.
        value: String,
    },
    /// Terms in this order, next to each other or nearly so.
    Phrase {
        /// Where they are looked for.
        #[serde(default = "text", skip_serializing_if = "is_text")]
        field: String,
        /// At least one.
        terms: Vec<String>,
        /// By how many positions they may be apart from where the phrase has them.
        #[serde(default)]
        slop: u32,
    },
    /// Terms in this order, next to each other, and the last is any that begins so.
    PhrasePrefix {
        /// Where they are looked for.
        #[serde(default = "text", skip_serializing_if = "is_text")]
        field: String,
        /// At least one.
        terms: Vec<String>,
    },
    /// The documents of all terms that begin so.
    Prefix {
        /// Where they are looked for.
        #[serde(default = "text", skip_serializing_if = "is_text")]
        field: String,
        /// The beginning.
        value: String,
    },
    /// The documents of all terms of this pattern: `*` is any characters, `?` one, all others themselves.
    Wildcard {
        /// Where they are looked for.
        #[serde(default = "text", skip_serializing_if = "is_text")]
        field: String,
        /// The pattern.
        value: String,
    },
    /// The documents of all terms within a number of edits.
    Fuzzy {
        /// Where they are looked for.
        #[serde(default = "text", skip_serializing_if = "is_text")]
        field: String,
        /// The term.
        value: String,
        /// Edits of one character: at most 2.
        distance: u8,
        /// Whether two neighbours that changed places are one edit.
        #[serde(default = "yes")]
        transpositions: bool,
        /// Characters at the beginning that must be the same.
        #[serde(default)]
        prefix_length: usize,
    },
    /// Clauses.
    Bool(Clauses),
    /// The documents of a query, all with the same score.
    Constant {
        /// Which documents.
        query: Box<Query>,
        /// Their score.
        score: f32,
    },
    /// A query whose scores count for more, or less.
    Boost {
        /// The query.
        query: Box<Query>,
        /// What its scores are multiplied by.
        by: f32,
    },
    /// Every document, with a score of 1.
    All {},
    /// The documents with one of these values in a column of keywords, all with a score of 1.
    OneOf {
        /// The column.
        field: String,
        /// At least one.
        values: Vec<String>,
    },
    /// The documents whose integer column is within bounds; without bounds, those that have a value there.
    Range {
        /// The column.
        field: String,
        /// The lower bound, if there is one.
        #[serde(default)]
        from: Option<i64>,
        /// The upper bound, if there is one.
        #[serde(default)]
        to: Option<i64>,
        /// Whether the lower bound is within.
        #[serde(default = "yes")]
        include_from: bool,
        /// Whether the upper bound is within.
        #[serde(default = "yes")]
        include_to: bool,
    },
}

/// What a query is put together from. Without `must` and `should` it matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Clauses {
    /// All of these have to match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub must: Vec<Query>,
    /// At least [`Clauses::should_min`] of these have to match; all that match add to the score.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub should: Vec<Query>,
    /// None of these may match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not: Vec<Query>,
    /// How many of `should` the caller wants to match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_should_match: Option<usize>,
}

impl Clauses {
    /// How many of `should` have to match: what the caller says, but one where nothing must match.
    pub fn should_min(&self) -> usize {
        let least = usize::from(self.must.is_empty() && !self.should.is_empty());
        self.minimum_should_match.unwrap_or(least).max(least)
    }
}

impl Query {
    /// One term of the text.
    pub fn term(value: &str) -> Query {
        Query::Term { field: text(), value: value.to_owned() }
    }

    /// Terms of the text in this order.
    pub fn phrase<S: AsRef<str>>(terms: &[S], slop: u32) -> Query {
        let terms = terms.iter().map(|term| term.as_ref().to_owned()).collect();
        Query::Phrase { field: text(), terms, slop }
    }

    /// Terms of the text in this order, of the last its beginning.
    pub fn phrase_prefix<S: AsRef<str>>(terms: &[S]) -> Query {
        let terms = terms.iter().map(|term| term.as_ref().to_owned()).collect();
        Query::PhrasePrefix { field: text(), terms }
    }

    /// Terms of the text that begin so.
    pub fn prefix(value: &str) -> Query {
        Query::Prefix { field: text(), value: value.to_owned() }
    }

    /// Terms of the text of this pattern.
    pub fn wildcard(value: &str) -> Query {
        Query::Wildcard { field: text(), value: value.to_owned() }
    }

    /// Terms of the text within this many edits, transpositions among them.
    pub fn fuzzy(value: &str, distance: u8) -> Query {
        let value = value.to_owned();
        Query::Fuzzy { field: text(), value, distance, transpositions: true, prefix_length: 0 }
    }

    /// All of these.
    pub fn all_of(must: Vec<Query>) -> Query {
        Query::Bool(Clauses { must, ..Clauses::default() })
    }

    /// At least one of these.
    pub fn any_of(should: Vec<Query>) -> Query {
        Query::Bool(Clauses { should, ..Clauses::default() })
    }

    /// What the form of the tree does not rule out.
    pub(crate) fn check(&self) -> Result<(), String> {
        match self {
            Query::Phrase { terms, .. } | Query::PhrasePrefix { terms, .. } if terms.is_empty() => {
                Err("a phrase of no terms".into())
            }
            Query::OneOf { values, .. } if values.is_empty() => Err("one of no values".into()),
            Query::Fuzzy { distance, .. } if *distance > 2 => Err("more than two edits".into()),
            Query::Constant { query, .. } | Query::Boost { query, .. } => query.check(),
            Query::Bool(clauses) => {
                let mut all = clauses.must.iter().chain(&clauses.should).chain(&clauses.not);
                all.try_for_each(Query::check)
            }
            _ => Ok(()),
        }
    }
}

fn text() -> String {
    TEXT.to_owned()
}

fn is_text(field: &str) -> bool {
    field == TEXT
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parse(tree: Value) -> Result<Query, String> {
        let query: Query = serde_json::from_value(tree).map_err(|error| error.to_string())?;
        query.check().map(|()| query)
    }

    #[test]
    fn what_is_not_said_is_the_usual() {
        let fuzzy = parse(json!({"fuzzy": {"value": "wrod", "distance": 1}})).unwrap();
        let Query::Fuzzy { field, transpositions, prefix_length, .. } = fuzzy else {
            panic!("{fuzzy:?}")
        };
        assert_eq!((field.as_str(), transpositions, prefix_length), ("text", true, 0));
        let phrase = parse(json!({"phrase": {"terms": ["a", "b"]}})).unwrap();
        assert!(matches!(phrase, Query::Phrase { slop: 0, .. }));
        let range = parse(json!({"range": {"field": "ts", "to": 9}})).unwrap();
        assert!(matches!(
            range,
            Query::Range { from: None, to: Some(9), include_from: true, include_to: true, .. }
        ));
        assert_eq!(parse(json!({"all": {}})).unwrap(), Query::All {});
    }

    #[test]
    fn a_tree_is_written_as_it_is_read() {
        let trees = [
            json!({"term": {"value": "a"}}),
            json!({"term": {"field": "channel", "value": "a"}}),
            json!({"one_of": {"field": "channel", "values": ["a", "b c"]}}),
            json!({"phrase": {"terms": ["a", "b"], "slop": 2}}),
            json!({"phrase_prefix": {"terms": ["a", "b"]}}),
            json!({"bool": {"should": [{"all": {}}], "minimum_should_match": 1}}),
            json!({"constant": {"query": {"wildcard": {"value": "a*"}}, "score": 2.0}}),
        ];
        for tree in trees {
            assert_eq!(serde_json::to_value(parse(tree.clone()).unwrap()).unwrap(), tree);
        }
        let both = Query::all_of(vec![Query::term("a"), Query::prefix("b")]);
        let tree =
            json!({"bool": {"must": [{"term": {"value": "a"}}, {"prefix": {"value": "b"}}]}});
        assert_eq!(parse(tree).unwrap(), both);
    }

    #[test]
    fn one_clause_has_to_match_where_none_must() {
        let least = |clauses: Value| {
            let query = parse(json!({ "bool": clauses })).unwrap();
            let Query::Bool(clauses) = query else { panic!("{query:?}") };
            clauses.should_min()
        };
        let [a, b] = ["a", "b"].map(|word| json!({"term": {"value": word}}));
        assert_eq!(least(json!({"should": [a, b]})), 1);
        assert_eq!(least(json!({"should": [a, b], "minimum_should_match": 0})), 1);
        assert_eq!(least(json!({"should": [a, b], "minimum_should_match": 2})), 2);
        assert_eq!(least(json!({"must": [a], "should": [b]})), 0);
        assert_eq!(least(json!({"not": [a]})), 0);
    }

    #[test]
    fn what_is_no_query_is_refused_however_deep() {
        for wrong in [
            json!({}),
            json!({"term": {}}),
            json!({"term": {"value": "a"}, "all": {}}),
            json!({"near": {"value": "a"}}),
            json!({"term": {"value": "a", "slop": 1}}),
            json!({"phrase": {"terms": []}}),
            json!({"phrase_prefix": {"terms": []}}),
            json!({"one_of": {"field": "channel", "values": []}}),
            json!({"fuzzy": {"value": "a", "distance": 3}}),
        ] {
            let deep = json!({"bool": {"not": [{"boost": {"query": wrong, "by": 2.0}}]}});
            assert!(parse(wrong.clone()).is_err(), "{wrong}");
            assert!(parse(deep).is_err(), "{wrong}");
        }
    }
}
