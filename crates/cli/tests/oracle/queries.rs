//! Queries of every kind that `docs/opensearch.md` lists, drawn by a seed.

use serde_json::{Value, json};

use super::chance::Chance;
use super::documents::{self, LEVELS, ZONES, any_word, words};

/// How a query scores here, beside OpenSearch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scores {
    /// By words alone: OpenSearch's are `k1 + 1` times as high.
    Words,
    /// By constants alone: equal.
    Constants,
    /// On purpose another score: see the table of differences.
    Different,
}

pub(crate) struct Query {
    pub(crate) json: Value,
    pub(crate) scores: Scores,
}

impl Query {
    fn words(json: Value) -> Query {
        Query { json, scores: Scores::Words }
    }

    fn constants(json: Value) -> Query {
        Query { json, scores: Scores::Constants }
    }

    fn different(json: Value) -> Query {
        Query { json, scores: Scores::Different }
    }
}

/// Draws the query of a search.
pub(crate) fn whole(chance: &mut Chance) -> Query {
    if chance.percent(5) {
        return nested(chance);
    }
    let depth = chance.below(4);
    query(chance, depth)
}

/// Draws a query, whose clauses are at most that deep.
pub(crate) fn query(chance: &mut Chance, depth: u64) -> Query {
    if depth == 0 || chance.percent(55) {
        return leaf(chance);
    }
    match chance.below(10) {
        0..=5 => bool(chance, depth),
        6 => {
            let filter = query(chance, depth - 1).json;
            Query::constants(json!({"constant_score": {"filter": filter, "boost": 2.5}}))
        }
        7 => dis_max(chance, depth),
        8 => boosting(chance, depth),
        _ => {
            let inner = query(chance, depth - 1);
            let json = json!({"function_score": {"query": inner.json, "weight": 3}});
            Query { json, ..inner }
        }
    }
}

/// Returns how a sum of clauses scores.
fn of_all(clauses: &[Query]) -> Scores {
    let first = clauses.first().map_or(Scores::Different, |clause| clause.scores);
    if clauses.iter().all(|clause| clause.scores == first) { first } else { Scores::Different }
}

fn json_of(clauses: &[Query]) -> Value {
    clauses.iter().map(|clause| clause.json.clone()).collect()
}

fn bool(chance: &mut Chance, depth: u64) -> Query {
    let mut list = |most: u64| -> Vec<Query> {
        (0..chance.below(most + 1)).map(|_| query(chance, depth - 1)).collect()
    };
    let (must, should, filter, must_not) = (list(2), list(3), list(2), list(1));
    let mut json = json!({});
    for (name, clauses) in
        [("must", &must), ("should", &should), ("filter", &filter), ("must_not", &must_not)]
    {
        if !clauses.is_empty() {
            json[name] = json_of(clauses);
        }
    }
    let mut scores = of_all(&must.into_iter().chain(should).collect::<Vec<_>>());
    if json["should"].as_array().is_some_and(|should| should.len() > 1) && chance.percent(30) {
        json["minimum_should_match"] =
            chance.one(&[json!(1), json!(2), json!("50%"), json!(-1)].each_ref()).clone();
    }
    if chance.percent(10) {
        json["boost"] = json!(2);
    }
    if json.get("must").is_none() && json.get("should").is_none() {
        // Nothing scores.
        scores = Scores::Different;
    }
    Query { json: json!({"bool": json}), scores }
}

fn dis_max(chance: &mut Chance, depth: u64) -> Query {
    let clauses: Vec<_> = (0..chance.between(1, 3)).map(|_| query(chance, depth - 1)).collect();
    let tie = chance.one(&[0.0, 0.3, 1.0]);
    let json = json!({"dis_max": {"queries": json_of(&clauses), "tie_breaker": tie}});
    Query { json, scores: of_all(&clauses) }
}

fn boosting(chance: &mut Chance, depth: u64) -> Query {
    let (positive, negative) = (query(chance, depth - 1), query(chance, depth - 1).json);
    let json = json!({"positive": positive.json, "negative": negative, "negative_boost": 0.2});
    Query { json: json!({"boosting": json}), scores: positive.scores }
}

fn text_field(chance: &mut Chance) -> &'static str {
    chance.one(&["title", "body"])
}

fn leaf(chance: &mut Chance) -> Query {
    match chance.below(21) {
        0..=3 => match_words(chance),
        4 => phrase(chance),
        5 => beginning(chance),
        6 | 7 => multi_match(chance),
        8 => {
            let (field, word) = (text_field(chance), any_word(chance));
            Query::words(
                json!({"term": {field: {"value": word, "boost": chance.one(&[1.0, 2.0])}}}),
            )
        }
        9 | 10 => value(chance),
        11 => list(chance),
        12 => {
            let fields = ["title", "body", "tag", "views", "ok", "at", "user", "user.age", "none"];
            Query::constants(json!({"exists": {"field": chance.one(&fields)}}))
        }
        13..=15 => range(chance),
        16 => pattern(chance),
        17 => fuzzy(chance),
        18 => query_string(chance),
        19 => simple_query_string(chance),
        _ if chance.percent(80) => Query::constants(json!({"match_all": {}})),
        _ => Query::constants(json!({"match_none": {}})),
    }
}

fn match_words(chance: &mut Chance) -> Query {
    let count = chance.between(1, 4);
    let (field, text) = (text_field(chance), words(chance, count));
    let json = match chance.below(5) {
        0 => json!(text),
        1 => json!({"query": text, "operator": chance.one(&["and", "OR"])}),
        2 => {
            let least = ["1", "2", "-1", "75%", "-30%", "2<75%"];
            json!({"query": text, "minimum_should_match": chance.one(&least)})
        }
        3 => json!({"query": text, "boost": 1.5, "lenient": true}),
        _ => {
            let choices = json!({
                "query": mistyped(chance), "fuzziness": chance.one(&["AUTO", "1", "2"]),
                "prefix_length": chance.below(2), "fuzzy_transpositions": chance.percent(70),
            });
            return Query::different(json!({"match": {field: choices}}));
        }
    };
    Query::words(json!({"match": {field: json}}))
}

/// A word of the vocabulary with two letters changed, one left out or one more.
fn mistyped(chance: &mut Chance) -> String {
    let mut letters: Vec<char> = any_word(chance).chars().collect();
    let at = chance.below(letters.len() as u64 - 1) as usize;
    match chance.below(3) {
        0 => letters.swap(at, at + 1),
        1 => drop(letters.remove(at)),
        _ => letters.insert(at, 'e'),
    }
    letters.into_iter().collect()
}

fn phrase(chance: &mut Chance) -> Query {
    let (field, text) = (text_field(chance), words(chance, 2));
    match chance.below(3) {
        0 => Query::different(json!({"match_phrase": {field: text}})),
        slop => {
            Query::different(json!({"match_phrase": {field: {"query": text, "slop": slop * 2}}}))
        }
    }
}

/// The beginning of a word.
fn stem(chance: &mut Chance) -> String {
    let word = any_word(chance);
    word[..word.len().min(chance.between(2, 4) as usize)].to_owned()
}

fn beginning(chance: &mut Chance) -> Query {
    let (field, text) = (text_field(chance), format!("{} {}", any_word(chance), stem(chance)));
    let json = match chance.below(2) {
        0 => json!({"match_phrase_prefix": {field: {"query": text, "max_expansions": 1000}}}),
        _ => {
            json!({"match_bool_prefix": {field: {"query": text, "operator": chance.one(&["or", "and"])}}})
        }
    };
    Query::different(json)
}

fn multi_match(chance: &mut Chance) -> Query {
    let count = chance.between(1, 3);
    let (text, fields) =
        (words(chance, count), [json!(["title", "body"]), json!(["title^2", "bod*"])]);
    let fields = &fields[chance.below(2) as usize];
    let json = match chance.below(4) {
        0 => json!({"query": text, "fields": fields}),
        1 => {
            json!({"query": text, "fields": fields, "type": "best_fields", "tie_breaker": 0.3, "operator": "and"})
        }
        2 => json!({"query": text, "fields": fields, "type": "most_fields"}),
        _ => {
            let json = json!({"query": text, "fields": fields, "type": "phrase"});
            return Query::different(json!({"multi_match": json}));
        }
    };
    Query::words(json!({"multi_match": json}))
}

/// A value as it is.
fn value(chance: &mut Chance) -> Query {
    let (field, value) = match chance.below(9) {
        0 | 1 => ("tag", json!(documents::tag(chance))),
        2 => ("level", json!(chance.one(&LEVELS))),
        3 => ("user.name", json!(documents::user(chance))),
        4 => ("ok", json!(chance.percent(50))),
        5 => return Query::constants(json!({"term": {"user.age": chance.between(15, 75)}})),
        6 => {
            return Query::constants(
                json!({"term": {"at": documents::day(chance.between(0, 91))}}),
            );
        }
        7 => return Query::constants(json!({"match": {"views": chance.between(-60, 1010)}})),
        _ => {
            let upper = documents::tag(chance).to_uppercase();
            let json = json!({"value": upper, "case_insensitive": true});
            return Query::constants(json!({"term": {"tag": json}}));
        }
    };
    Query::different(json!({chance.one(&["term", "match"]): {field: value}}))
}

fn list(chance: &mut Chance) -> Query {
    let count = chance.between(0, 4);
    let json = match chance.below(4) {
        0 => json!({"tag": (0..count).map(|_| documents::tag(chance)).collect::<Vec<_>>()}),
        1 => json!({"n": (0..count).map(|_| chance.below(2500)).collect::<Vec<_>>()}),
        2 => json!({"body": (0..count).map(|_| any_word(chance)).collect::<Vec<_>>()}),
        _ => {
            let ids: Vec<_> = (0..count).map(|_| chance.below(2500).to_string()).collect();
            return Query::constants(json!({"ids": {"values": ids}}));
        }
    };
    Query::constants(json!({"terms": json}))
}

pub(crate) fn range(chance: &mut Chance) -> Query {
    let lower = chance.one(&["gt", "gte"]);
    let upper = chance.one(&["lt", "lte"]);
    let (field, mut json) = match chance.below(5) {
        0 => {
            let least = chance.between(-60, 900);
            ("views", json!({lower: least, upper: least + chance.between(0, 500)}))
        }
        1 => ("price", json!({lower: chance.between(0, 9_000) as f64 / 100.0, upper: 95.5})),
        2 => ("user.age", json!({lower: chance.between(10, 80)})),
        3 => {
            let day = chance.between(0, 80);
            let end = documents::day(day + chance.between(0, 11));
            let zone = chance.one(&ZONES);
            ("at", json!({lower: documents::day(day), upper: end, "time_zone": zone}))
        }
        _ => {
            let moment = documents::moment(chance);
            let math = chance.one(&["||-1d/d", "||/M", "||+12h", ""]);
            ("at", json!({lower: format!("{moment}{math}")}))
        }
    };
    if chance.percent(20) {
        json["boost"] = json!(1.5);
    }
    Query::constants(json!({"range": {field: json}}))
}

fn pattern(chance: &mut Chance) -> Query {
    let field = chance.one(&["title", "body", "tag", "user.name"]);
    let stem = match field {
        "tag" => "t1".to_owned(),
        "user.name" => format!("user{}", chance.below(6)),
        _ => stem(chance),
    };
    Query::constants(match chance.below(3) {
        0 => json!({"prefix": {field: stem}}),
        1 => {
            json!({"wildcard": {field: {"value": chance.one(&["STEM*", "*STEM", "S?STEM*", "STEM?"]).replace("STEM", &stem).replace('S', "")}}})
        }
        _ => {
            json!({"regexp": {field: format!("{stem}({}|.{{1,3}})", chance.one(&["[a-m]+n", "[0-9]", "e?"]))}})
        }
    })
}

fn fuzzy(chance: &mut Chance) -> Query {
    let (field, word) = (text_field(chance), mistyped(chance));
    let json = json!({
        "value": word, "fuzziness": chance.one(&["AUTO", "1", "2", "0"]),
        "prefix_length": chance.below(3), "transpositions": chance.percent(60),
    });
    Query::different(json!({"fuzzy": {field: json}}))
}

fn query_string(chance: &mut Chance) -> Query {
    let (one, two) = (any_word(chance), any_word(chance));
    let (field, fields) = (text_field(chance), json!(["title", "body^2"]));
    match chance.below(6) {
        0 => Query::words(json!({"query_string": {"query": format!("{field}:({one} {two})")}})),
        1 => Query::words(
            json!({"query_string": {"query": format!("{one} AND {two}"), "fields": fields}}),
        ),
        2 => Query::words(
            json!({"query_string": {"query": format!("{one} {two}"), "default_field": field, "default_operator": "AND"}}),
        ),
        3 => Query::different(
            json!({"query_string": {"query": format!("\"{one} {two}\" OR {one}"), "default_field": field}}),
        ),
        4 => Query::constants(
            json!({"query_string": {"query": format!("views:[{} TO 500]", chance.between(-50, 400))}}),
        ),
        _ => {
            let text = format!(
                "{one} -{two} +tag:{} user.age:>{}",
                documents::tag(chance),
                chance.between(10, 70)
            );
            Query::different(json!({"query_string": {"query": text, "default_field": field}}))
        }
    }
}

fn simple_query_string(chance: &mut Chance) -> Query {
    let (one, two) = (any_word(chance), any_word(chance));
    let fields = json!(["title", "body"]);
    let text = match chance.below(5) {
        0 => format!("{one} {two}"),
        1 => format!("{one} + {two}"),
        2 | 3 => {
            let text = match chance.percent(50) {
                true => format!("\"{one} {two}\" | {one}"),
                false => format!("{one} -{two} {}*", stem(chance)),
            };
            return Query::different(
                json!({"simple_query_string": {"query": text, "fields": fields}}),
            );
        }
        _ => format!("({one} | {two}) + {}", any_word(chance)),
    };
    let operator = chance.one(&["or", "and"]);
    Query::words(
        json!({"simple_query_string": {"query": text, "fields": fields, "default_operator": operator}}),
    )
}

/// Clauses about members of one object.
fn nested(chance: &mut Chance) -> Query {
    let kind = json!({"term": {"parts.kind": chance.one(&["bolt", "nut", "gear"])}});
    let count = json!({"term": {"parts.count": chance.between(1, 6)}});
    let query = chance.one(&[0, 1, 2]);
    let query = match query {
        0 => kind,
        1 => count,
        _ => json!({"bool": {"must": [kind, count]}}),
    };
    Query::different(json!({"nested": {"path": "parts", "query": query}}))
}
