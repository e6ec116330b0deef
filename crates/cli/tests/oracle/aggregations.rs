//! Aggregations of every kind that `docs/opensearch.md` lists, drawn by a seed.

use serde_json::{Map, Value, json};

use super::chance::Chance;
use super::documents::{self, ZONES};
use super::queries::range;

/// Draws one to three aggregations, which divide each other at most so often.
pub(crate) fn aggregations(chance: &mut Chance, depth: u64) -> Value {
    let mut all = Map::new();
    for number in 0..chance.between(1, 3) {
        let (kind, aggregation) = match chance.percent(45) || depth == 0 {
            true => metric(chance),
            false => buckets(chance, depth),
        };
        all.insert(format!("{kind}{number}"), aggregation);
    }
    Value::Object(all)
}

fn number_field(chance: &mut Chance) -> &'static str {
    chance.one(&["views", "price", "user.age", "n"])
}

fn any_field(chance: &mut Chance) -> &'static str {
    chance.one(&["views", "price", "tag", "level", "ok", "at", "user.name", "title.keyword"])
}

/// An aggregation that has a number or some, and the name of its kind.
fn metric(chance: &mut Chance) -> (&'static str, Value) {
    let kinds = [
        "avg",
        "min",
        "max",
        "sum",
        "stats",
        "value_count",
        "extended_stats",
        "cardinality",
        "percentiles",
    ];
    let kind = chance.one(&kinds);
    let field = match kind {
        "value_count" | "cardinality" => any_field(chance),
        "avg" | "min" | "max" | "stats" => chance.one(&["views", "price", "user.age", "at"]),
        _ => number_field(chance),
    };
    let mut options = json!({"field": field});
    match kind {
        "percentiles" => options["percents"] = percents(chance),
        "extended_stats" if chance.percent(30) => options["sigma"] = json!(3),
        "cardinality" => options["precision_threshold"] = json!(40_000),
        _ => {}
    }
    if chance.percent(25) {
        options["missing"] = stand_in(chance, field);
    }
    (kind, json!({kind: options}))
}

/// A value for documents without one.
fn stand_in(chance: &mut Chance, field: &str) -> Value {
    match field {
        "ok" => json!(chance.percent(50)),
        "at" => json!(documents::day(chance.between(0, 90))),
        "tag" | "level" | "user.name" | "title.keyword" => json!(documents::tag(chance)),
        _ => chance.one(&[json!(7), json!(7.5), json!("30")].each_ref()).clone(),
    }
}

/// Eight aggregations, each within the one before: all of them but the last have buckets.
pub(crate) fn eight_deep(chance: &mut Chance) -> Value {
    let mut within = metric(chance);
    for _ in 1..8 {
        let (kind, options) = few_buckets(chance);
        let (name, aggregation) = within;
        within = (kind, json!({kind: options, "aggs": {name: aggregation}}));
    }
    let (name, aggregation) = within;
    json!({ name: aggregation })
}

/// An aggregation whose buckets are few, and its options.
fn few_buckets(chance: &mut Chance) -> (&'static str, Value) {
    let kinds =
        ["terms", "terms", "date_histogram", "histogram", "range", "filter", "filters", "missing"];
    let kind = chance.one(&kinds);
    let options = match kind {
        "terms" => {
            let field = chance.one(&["tag", "level", "ok", "user.age"]);
            json!({"field": field, "size": chance.between(1, 3)})
        }
        "date_histogram" => {
            json!({"field": "at", "calendar_interval": "quarter", "min_doc_count": 1})
        }
        "histogram" => json!({"field": "views", "interval": 250, "min_doc_count": 1}),
        "range" => {
            let edge = chance.between(10, 60);
            json!({"field": number_field(chance), "ranges": [{"to": edge}, {"from": edge}]})
        }
        "filter" => range(chance).json,
        "filters" => filters(chance),
        _ => json!({"field": any_field(chance)}),
    };
    (kind, options)
}

/// Neighbours of each are asked for too, since both sides are approximate.
fn percents(chance: &mut Chance) -> Value {
    let first = chance.between(2, 30) as f64;
    (0..chance.between(3, 8)).map(|step| first + 8.0 * step as f64).collect()
}

/// An aggregation that divides documents, and the name of its kind.
fn buckets(chance: &mut Chance, depth: u64) -> (&'static str, Value) {
    let kinds = [
        "terms",
        "terms",
        "terms",
        "date_histogram",
        "date_histogram",
        "histogram",
        "range",
        "date_range",
        "filter",
        "filters",
        "missing",
    ];
    let kind = chance.one(&kinds);
    let mut within = json!({});
    if depth > 1 && chance.percent(40) {
        within = aggregations(chance, depth - 1);
    }
    let options = match kind {
        "terms" => terms(chance, &mut within),
        "date_histogram" => date_histogram(chance),
        "histogram" => histogram(chance),
        "range" => ranges(chance),
        "date_range" => date_ranges(chance),
        "filter" => range(chance).json,
        "filters" => filters(chance),
        _ => json!({"field": any_field(chance)}),
    };
    let options = match kind {
        "date_histogram" | "histogram" | "range" | "date_range" => with_missing(chance, options),
        _ => options,
    };
    // The comparison knows such buckets by their name.
    let name = if options["min_doc_count"].as_u64() > Some(1) { "least" } else { kind };
    let mut aggregation = json!({kind: options});
    if within.as_object().is_some_and(|within| !within.is_empty()) {
        aggregation["aggs"] = within;
    }
    (name, aggregation)
}

fn terms(chance: &mut Chance, within: &mut Value) -> Value {
    let fields = ["tag", "level", "user.name", "views", "user.age", "ok", "title.keyword", "price"];
    let field = chance.one(&fields);
    let mut options = json!({"field": field});
    if chance.percent(60) {
        options["size"] = json!(chance.between(1, 40));
    }
    match chance.below(5) {
        0 => options["order"] = json!({"_key": chance.one(&["asc", "desc"])}),
        1 => {
            options["order"] = json!([{"m": chance.one(&["asc", "desc"])}, {"_key": "asc"}]);
            within["m"] =
                json!({chance.one(&["avg", "sum", "min", "max"]): {"field": number_field(chance)}});
        }
        _ => {}
    }
    if options.get("order").is_none() && chance.percent(25) {
        options["min_doc_count"] = json!(chance.between(1, 5));
    }
    if chance.percent(15) && field != "ok" {
        options["missing"] = match field {
            // Documents have it too.
            "views" if within.as_object().is_none_or(|within| within.is_empty()) => json!(7),
            "views" | "user.age" => json!(7777),
            "price" => json!(777.25),
            _ => json!("nothing"),
        };
    }
    options
}

fn date_histogram(chance: &mut Chance) -> Value {
    let mut options = json!({"field": "at"});
    match chance.below(3) {
        0 => options["fixed_interval"] = json!(chance.one(&["12h", "1d", "3d", "90m", "7d"])),
        1 => {
            let units = ["day", "1w", "month", "quarter", "1y", "1d"];
            options["calendar_interval"] = json!(chance.one(&units));
        }
        _ => options["interval"] = json!(chance.one(&["1d", "6h", "month", "1w"])),
    }
    // See the table of differences.
    let is_part_of_day = ["12h", "90m", "6h"]
        .iter()
        .any(|part| options["fixed_interval"] == *part || options["interval"] == *part);
    let has_offset = chance.percent(20);
    let zones = if is_part_of_day || has_offset { &ZONES[..2] } else { &ZONES[..] };
    if chance.percent(40) {
        options["time_zone"] = json!(chance.one(zones));
    }
    if has_offset {
        options["offset"] = json!(chance.one(&["+6h", "-90m"]));
    }
    if chance.percent(30) {
        options["format"] = json!(chance.one(&["yyyy-MM-dd", "epoch_millis", "strict_date_time"]));
    }
    match chance.below(3) {
        0 => options["min_doc_count"] = json!(chance.between(0, 3)),
        1 => options["keyed"] = json!(true),
        _ => {}
    }
    options
}

/// Adds a value for documents without one.
fn with_missing(chance: &mut Chance, mut options: Value) -> Value {
    // It would be read by the format.
    if options.get("format").is_none() && chance.percent(25) {
        let field = options["field"].as_str().unwrap_or_default().to_owned();
        options["missing"] = stand_in(chance, &field);
    }
    options
}

fn histogram(chance: &mut Chance) -> Value {
    let interval = chance.one(&[5.0, 10.0, 25.0, 100.0, 0.5]);
    let field = if interval < 1.0 { "price" } else { number_field(chance) };
    let mut options = json!({"field": field, "interval": interval});
    match chance.below(4) {
        // See the table of differences.
        0 if interval > 1.0 => options["offset"] = json!(interval / 5.0),
        1 => options["min_doc_count"] = json!(chance.between(0, 4)),
        2 => options["extended_bounds"] = json!({"min": -100, "max": 1200}),
        _ => {}
    }
    if chance.percent(20) {
        options["keyed"] = json!(true);
    }
    options
}

fn ranges(chance: &mut Chance) -> Value {
    let from = chance.between(-10, 60);
    let to = from + chance.between(1, 40);
    let mut all = vec![json!({"to": from}), json!({"from": from, "to": to}), json!({"from": to})];
    if chance.percent(30) {
        all.push(json!({"key": "all of them", "from": -1000}));
    }
    json!({"field": number_field(chance), "ranges": all, "keyed": chance.percent(30)})
}

fn date_ranges(chance: &mut Chance) -> Value {
    let (from, to) = (chance.between(0, 50), chance.between(51, 90));
    let (from, to) = (documents::day(from), documents::day(to));
    let ranges = json!([{"to": from}, {"from": from, "to": to}, {"from": format!("{to}||/M")}]);
    let mut options = json!({"field": "at", "ranges": ranges});
    if chance.percent(30) {
        options["format"] = json!("yyyy-MM-dd");
    }
    if chance.percent(30) {
        options["time_zone"] = json!(chance.one(&ZONES));
    }
    options
}

fn filters(chance: &mut Chance) -> Value {
    let tag = json!({"term": {"tag": documents::tag(chance)}});
    let filters = match chance.percent(50) {
        true => json!({"a": tag, "b": range(chance).json, "c": {"match_all": {}}}),
        false => json!([tag, range(chance).json]),
    };
    match chance.percent(40) {
        true => json!({"filters": filters, "other_bucket": true}),
        false => json!({"filters": filters}),
    }
}
