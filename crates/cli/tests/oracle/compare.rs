//! Holds an answer of ours against OpenSearch's.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::differences::{NOT_COMPARED, NUMBER_ERROR, SCORE_ERROR};
use super::searches::Search;

/// Says what differs, if anything does.
pub(crate) fn compare(search: &Search, ours: &Value, theirs: &Value) -> Result<(), String> {
    let (our_hits, their_hits) = (&ours["hits"], &theirs["hits"]);
    equal(&our_hits["total"], &their_hits["total"], "total")?;
    let total = their_hits["total"]["value"].as_u64().unwrap_or(u64::MAX);
    compare_hits(search, list(&our_hits["hits"]), list(&their_hits["hits"]), total)?;
    match (ours.get("aggregations"), theirs.get("aggregations")) {
        (None, None) => Ok(()),
        (Some(ours), Some(theirs)) => equal(ours, theirs, "aggregations"),
        (ours, theirs) => Err(format!("aggregations: {ours:?}, there {theirs:?}")),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Hits have the same keys in the same order, where those of equal keys may change places.
fn compare_hits(
    search: &Search,
    ours: &[Value],
    theirs: &[Value],
    total: u64,
) -> Result<(), String> {
    if ours.len() != theirs.len() {
        return Err(format!("{} hits, there {}", ours.len(), theirs.len()));
    }
    for (place, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        compare_keys(search, ours, theirs).map_err(|error| format!("hit {place}: {error}"))?;
    }
    let from = search.theirs["from"].as_u64().unwrap_or(0);
    let is_cut = from + (theirs.len() as u64) < total;
    let mut start = 0;
    while start < theirs.len() {
        let is_tie = |pair: &[Value]| compare_keys_of_one(search, &pair[0], &pair[1]);
        let ties = theirs[start..].windows(2).take_while(|pair| is_tie(pair)).count();
        let end = start + ties + 1;
        // Equal hits beyond the page may be on it instead.
        let is_whole = (start > 0 || from == 0) && (end < theirs.len() || !is_cut);
        if is_whole {
            compare_ties(&ours[start..end], &theirs[start..end])
                .map_err(|error| format!("hits {start}..{end}: {error}"))?;
        }
        start = end;
    }
    Ok(())
}

fn compare_keys(search: &Search, ours: &Value, theirs: &Value) -> Result<(), String> {
    let Some(factor) = search.factor else {
        let theirs: Value = list(&theirs["sort"]).iter().map(null_if_missing).collect();
        return equal(&ours["sort"], &theirs, "sort");
    };
    let (Some(ours), Some(theirs)) = (ours["_score"].as_f64(), theirs["_score"].as_f64()) else {
        return Err(format!("scores {} and {}", ours["_score"], theirs["_score"]));
    };
    match is_near(ours * factor, theirs, SCORE_ERROR) {
        true => Ok(()),
        false => {
            Err(format!("score {ours}, there {theirs}, which is {} times as high", theirs / ours))
        }
    }
}

/// Returns null for what OpenSearch says of a hit without a value.
fn null_if_missing(value: &Value) -> Value {
    let numbers = [i64::MAX, i64::MIN, i64::from(i32::MAX), i64::from(i32::MIN)];
    let is_number = value.as_i64().is_some_and(|number| numbers.contains(&number));
    let is_text = ["Infinity", "-Infinity"].iter().any(|text| value == text);
    if is_number || is_text { Value::Null } else { value.clone() }
}

/// True if two hits of OpenSearch may change places.
fn compare_keys_of_one(search: &Search, one: &Value, other: &Value) -> bool {
    match search.factor {
        None => one["sort"] == other["sort"],
        Some(_) => {
            let score = |hit: &Value| hit["_score"].as_f64().unwrap_or(f64::NAN);
            is_near(score(one), score(other), SCORE_ERROR)
        }
    }
}

/// Both have the same documents.
fn compare_ties(ours: &[Value], theirs: &[Value]) -> Result<(), String> {
    let ids = |hits: &[Value]| -> BTreeSet<String> {
        hits.iter().map(|hit| hit["_id"].as_str().unwrap_or("none").to_owned()).collect()
    };
    if ids(ours) != ids(theirs) {
        return Err(format!("{:?}, there {:?}", ids(ours), ids(theirs)));
    }
    for hit in ours {
        let other = theirs.iter().find(|other| other["_id"] == hit["_id"]);
        let other = other.ok_or("a document is not there")?;
        for part in ["_source", "fields", "_index"] {
            equal(&hit[part], &other[part], part)?;
        }
    }
    Ok(())
}

fn is_near(one: f64, other: f64, error: f64) -> bool {
    (one - other).abs() <= error * one.abs().max(other.abs()) + 1e-12
}

/// Two values are equal but for the last digits of numbers.
fn equal(ours: &Value, theirs: &Value, path: &str) -> Result<(), String> {
    let differ = || Err(format!("{path}: {ours}, there {theirs}"));
    match (ours, theirs) {
        (Value::Object(one), Value::Object(other)) => equal_members(one, other, path),
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => one
            .iter()
            .zip(other)
            .enumerate()
            .try_for_each(|(place, (one, other))| equal(one, other, &format!("{path}.{place}"))),
        (Value::Number(one), Value::Number(other)) => {
            let near = one.as_f64().zip(other.as_f64());
            let is_near = near.is_some_and(|(one, other)| is_near(one, other, NUMBER_ERROR));
            if is_near && one.is_f64() == other.is_f64() { Ok(()) } else { differ() }
        }
        _ if ours == theirs => Ok(()),
        _ => differ(),
    }
}

fn equal_members(
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
    path: &str,
) -> Result<(), String> {
    let names = |object: &Map<String, Value>| {
        object
            .keys()
            .filter(|name| !NOT_COMPARED.contains(&name.as_str()))
            .cloned()
            .collect::<BTreeSet<_>>()
    };
    if names(ours) != names(theirs) {
        return Err(format!("{path}: {:?}, there {:?}", names(ours), names(theirs)));
    }
    for (name, value) in ours {
        let path = format!("{path}.{name}");
        match name.as_str() {
            name if NOT_COMPARED.contains(&name) => {}
            "sum_other_doc_count" if path.contains(".least") => {}
            name if name.starts_with("percentiles") => {
                compare_percentiles(&value["values"], &theirs[name]["values"], &path)?;
            }
            name => equal(value, &theirs[name], &path)?,
        }
    }
    Ok(())
}

/// Each value of ours is between those of OpenSearch for the percents below and above it.
fn compare_percentiles(ours: &Value, theirs: &Value, path: &str) -> Result<(), String> {
    let values = |of: &Value| -> Vec<(f64, Option<f64>)> {
        let members = of.as_object().into_iter().flatten();
        let mut values: Vec<_> = members
            .map(|(percent, value)| (percent.parse().unwrap_or(f64::NAN), value.as_f64()))
            .collect();
        values.sort_by(|one, other| one.0.total_cmp(&other.0));
        values
    };
    let (one, other) = (values(ours), values(theirs));
    let percents =
        |values: &[(f64, Option<f64>)]| values.iter().map(|value| value.0).collect::<Vec<_>>();
    if one.is_empty() || percents(&one) != percents(&other) {
        return Err(format!("{path}: {ours}, there {theirs}"));
    }
    for place in 1..one.len() - 1 {
        let is_between = match (other[place - 1].1, one[place].1, other[place + 1].1) {
            (Some(least), Some(value), Some(most)) => {
                let is_edge = [least, most].iter().any(|edge| is_near(*edge, value, NUMBER_ERROR));
                is_edge || (least <= value && value <= most)
            }
            (least, value, most) => least.is_none() && value.is_none() && most.is_none(),
        };
        if !is_between {
            return Err(format!("{path}.{}: {ours}, there {theirs}", one[place].0));
        }
    }
    Ok(())
}
