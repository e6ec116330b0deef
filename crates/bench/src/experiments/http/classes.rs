//! Classes of queries as bodies of `_search`, and whether both sides find the same.

use bytes::Bytes;
use hyper::Method;
use serde_json::{Value, json};
use spirit_peer_protocol::{Clauses, Query as Tree, TEXT};

use super::documents::INDEX;
use super::side::{Both, Side, Sides};
use crate::form;
use crate::query_sets::QuerySet;

/// The most terms that OpenSearch takes for a fuzzy word. Its default of 50 would find fewer
/// documents than ours.
const EXPANSIONS_MAX: u64 = 1024;

/// Queries of one kind.
#[derive(Clone)]
pub(super) struct Class {
    pub(super) name: String,
    queries: Vec<Value>,
    /// The bodies of searches for the ten best.
    pub(super) bodies: Vec<Bytes>,
}

/// A query to which the sides give different totals.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) class: String,
    what: String,
}

/// The classes of a set, but for queries that mean something else to us.
pub(super) fn of(set: &QuerySet) -> Vec<Class> {
    let classes = set.queries.chunk_by(|a, b| a.name == b.name).map(|class| {
        let alike = class.iter().filter(|named| form::differs(&named.query).is_none());
        let queries: Vec<Value> = alike.map(|named| query(&named.query)).collect();
        let body = |query: &Value| Bytes::from(json!({ "query": query }).to_string());
        Class { name: class[0].name.clone(), bodies: queries.iter().map(body).collect(), queries }
    });
    classes.filter(|class| !class.queries.is_empty()).collect()
}

fn query(tree: &Tree) -> Value {
    match tree {
        Tree::Term { field, value } => json!({"term": {field: value}}),
        Tree::Phrase { field, terms, slop } => {
            json!({"match_phrase": {field: {"query": terms.join(" "), "slop": slop}}})
        }
        Tree::PhrasePrefix { field, terms } => {
            json!({"match_phrase_prefix": {field: {"query": terms.join(" ")}}})
        }
        Tree::Prefix { field, value } => json!({"prefix": {field: value}}),
        Tree::Wildcard { field, value } => json!({"wildcard": {field: {"value": value}}}),
        Tree::Fuzzy { field, value, distance, transpositions, prefix_length } => {
            json!({"fuzzy": {field: {
                "value": value, "fuzziness": distance, "transpositions": transpositions,
                "prefix_length": prefix_length, "max_expansions": EXPANSIONS_MAX
            }}})
        }
        Tree::Bool(clauses) => json!({ "bool": bool(clauses) }),
        Tree::Constant { query, score } => {
            json!({"constant_score": {"filter": self::query(query), "boost": score}})
        }
        Tree::Boost { query, by } => {
            json!({"bool": {"must": [self::query(query)], "boost": by}})
        }
        Tree::All {} => json!({"match_all": {}}),
        Tree::OneOf { field, values } => json!({"terms": {field: values}}),
        Tree::Range { field, from, to, include_from, include_to } => {
            let lower = if *include_from { "gte" } else { "gt" };
            let upper = if *include_to { "lte" } else { "lt" };
            json!({"range": {field: {lower: from, upper: to}}})
        }
    }
}

fn bool(clauses: &Clauses) -> Value {
    let all = |trees: &[Tree]| trees.iter().map(query).collect::<Vec<_>>();
    let (must, should, not) = (all(&clauses.must), all(&clauses.should), all(&clauses.not));
    let least = clauses.should_min();
    json!({"must": must, "should": should, "must_not": not, "minimum_should_match": least})
}

/// Asks both sides for all totals. Returns the first difference of each class.
pub(super) fn compare(sides: &mut Sides, classes: &[Class]) -> Result<Vec<Difference>, String> {
    let Both { ours, theirs } = sides.each(|side| side.run(totals(side, classes)))?;
    let Ok(theirs) = theirs else { return Ok(Vec::new()) };
    let mut differences = Vec::new();
    for ((class, ours), theirs) in classes.iter().zip(&ours).zip(&theirs) {
        if let Some(at) = (0..ours.len()).find(|at| ours[*at] != theirs[*at]) {
            let (query, ours, theirs) = (&class.queries[at], ours[at], theirs[at]);
            let what = format!("{query}: spirit finds {ours}, opensearch {theirs}");
            differences.push(Difference { class: class.name.clone(), what });
        }
    }
    let queries: usize = classes.iter().map(|class| class.queries.len()).sum();
    println!("{queries} queries of {} classes asked of both sides", classes.len());
    for Difference { class, what } in &differences {
        println!("  {class} differs: {what}");
    }
    Ok(differences)
}

/// True if a difference is by design: OpenSearch takes some of a fuzzy word's terms.
pub(super) fn is_known(difference: &Difference) -> bool {
    difference.what.contains(r#""fuzzy""#)
}

async fn totals(side: &Side, classes: &[Class]) -> Result<Vec<Vec<u64>>, String> {
    let mut connection = side.connect().await?;
    let path = format!("/{INDEX}/_search");
    let mut all = Vec::with_capacity(classes.len());
    for class in classes {
        let mut totals = Vec::with_capacity(class.queries.len());
        for query in &class.queries {
            let body = json!({"query": query, "track_total_hits": true}).to_string();
            let answer = connection.json(Method::POST, &path, &body).await?;
            let total = answer["hits"]["total"]["value"].as_u64();
            let total = total.ok_or_else(|| format!("no total of {body}: {answer}"))?;
            let shown = answer["hits"]["hits"].as_array().map_or(0, Vec::len) as u64;
            if shown != total.min(10) {
                return Err(format!("{shown} hits of {total} for {body}"));
            }
            totals.push(total);
        }
        all.push(totals);
    }
    Ok(all)
}

/// A query for a word that one document has.
pub(super) fn one_word(word: &str) -> Bytes {
    Bytes::from(json!({"query": {"term": {TEXT: word}}, "size": 1}).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_said_in_opensearchs_words() {
        let [a, b] = ["a", "b"].map(Tree::term);
        let both = Tree::Bool(Clauses {
            must: vec![Tree::phrase(&["x", "y"], 2)],
            not: vec![a.clone()],
            ..Clauses::default()
        });
        assert_eq!(
            query(&both),
            json!({"bool": {
                "must": [{"match_phrase": {"text": {"query": "x y", "slop": 2}}}],
                "should": [], "must_not": [{"term": {"text": "a"}}], "minimum_should_match": 0
            }})
        );
        let constant = Tree::Constant { query: Box::new(Tree::any_of(vec![a, b])), score: 2.0 };
        let said = query(&constant);
        assert_eq!(said["constant_score"]["boost"], 2.0);
        assert_eq!(said["constant_score"]["filter"]["bool"]["minimum_should_match"], 1);
        assert_eq!(query(&Tree::fuzzy("wrod", 1))["fuzzy"]["text"]["fuzziness"], 1);
        assert_eq!(query(&Tree::prefix("he")), json!({"prefix": {"text": "he"}}));
        // Each is a query that we understand.
        let body = json!({ "query": query(&both) }).to_string();
        assert!(spirit_opensearch::search::SearchBody::parse(body.as_bytes()).is_ok());
    }
}
