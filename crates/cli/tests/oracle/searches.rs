//! Searches drawn by a seed: a query, an order, pages, filters of documents, aggregations.

use serde_json::{Value, json};

use super::aggregations::{aggregations, eight_deep};
use super::chance::Chance;
use super::differences::SCORES_OF_WORDS;
use super::queries::{Scores, query, whole};

/// More than there are documents.
const ALL: u64 = 9_000;

/// A search, in the two forms in which it is asked.
pub(crate) struct Search {
    pub(crate) ours: Value,
    pub(crate) theirs: Value,
    /// The factor from our scores to theirs, where hits come in the order of scores.
    pub(crate) factor: Option<f64>,
}

pub(crate) fn search(chance: &mut Chance) -> Search {
    let whole = whole(chance);
    let mut body = json!({"query": whole.json, "track_total_hits": true});
    if chance.percent(40) {
        let is_deep = chance.percent(15);
        body["aggs"] = if is_deep { eight_deep(chance) } else { aggregations(chance, 3) };
    }
    body["size"] = json!(chance.one(&[0, 1, 10, 10, 30, ALL]));
    if body["size"] != ALL && chance.percent(15) {
        body["from"] = json!(chance.below(20));
    }
    if chance.percent(10) {
        body["post_filter"] = query(chance, 0).json;
    }
    documents(chance, &mut body);
    let factor = match whole.scores {
        Scores::Words => Some(SCORES_OF_WORDS),
        Scores::Constants => Some(1.0),
        Scores::Different => None,
    };
    if factor.is_none() || chance.percent(25) {
        sort(chance, &mut body);
        return Search { ours: body.clone(), theirs: body, factor: None };
    }
    let mut theirs = body.clone();
    if body.get("aggs").is_none() && body["size"] != ALL && chance.percent(15) {
        let least = chance.below(300) as f64 / 100.0;
        body["min_score"] = json!(least);
        theirs["min_score"] = json!(least * factor.unwrap_or(1.0));
    }
    Search { ours: body, theirs, factor }
}

/// What is shown of documents.
fn documents(chance: &mut Chance, body: &mut Value) {
    match chance.below(6) {
        0 => body["_source"] = json!(false),
        1 => body["_source"] = json!(["n", "user.*", "ta*"]),
        2 => body["_source"] = json!({"excludes": ["body", "user.name", "parts.count"]}),
        3 => {
            body["_source"] = json!(["n"]);
            body["fields"] = json!(["views", "user.*", {"field": "at", "format": "yyyy-MM-dd"}]);
        }
        4 => {
            body["docvalue_fields"] = json!(["n", "tag", {"field": "at", "format": "epoch_millis"}])
        }
        _ => {}
    }
}

fn sort(chance: &mut Chance, body: &mut Value) {
    let order = chance.one(&["asc", "desc"]);
    let field = chance.one(&["n", "n", "views", "price", "at", "level", "user.name", "tag"]);
    if field == "n" {
        body["sort"] = json!([{"n": order}]);
        if chance.percent(30) && body.get("from").is_none() {
            body["search_after"] = json!([chance.below(2000)]);
        }
        return;
    }
    body["sort"] = match chance.below(3) {
        0 => json!([{field: {"order": order}}]),
        1 => json!([{field: order}, {"n": chance.one(&["asc", "desc"])}]),
        _ => json!([{"ok": "desc"}, {field: order}, "n"]),
    };
}
