//! `_explain` and `_validate/query`: why a document has its score, and whether a query can be asked.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Value, json};
use spirit::lab::{ExplainedClause, Frequency, Worth};
use spirit::{Clause, Search};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::query::Context;
use spirit_opensearch::search::SearchBody;

use super::answer::filtered;
use super::names;
use super::parameters::Parameters;
use super::refused::{Answered, Refused};
use super::search::{counted, now_ms};
use crate::api::body;
use crate::api::server::{Server, State};
use crate::served::Served;

/// Parameters that have a query, or options of it.
const OF_QUERY: [&str; 6] =
    ["q", "df", "default_operator", "analyzer", "analyze_wildcard", "lenient"];

/// Reads the query of a body and of the URL. True beside it if there is one.
fn asked(body: &[u8], parameters: &mut Parameters) -> Answered<(SearchBody, bool)> {
    let mut asked = counted(body)?;
    let mut has_query = asked.query.is_some();
    for name in OF_QUERY {
        if let Some(value) = parameters.take(name) {
            asked.parameter(name, &value)?;
            has_query |= name == "q";
        }
    }
    Ok((asked, has_query))
}

pub(super) async fn explain(
    State(server): State<Server>,
    Path((index, id)): Path<(String, String)>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let body = body::read(&server, &headers, body).await?;
    let (asked, has_query) = asked(&body, &mut parameters)?;
    for name in ["_source", "_source_includes", "_source_excludes", "stored_fields"] {
        if parameters.take(name).is_some() {
            return Err(Refusal::unsupported(format!("[{name}] of an explanation")).into());
        }
    }
    let parameters = parameters.end_of_indexes()?;
    if !has_query {
        let reason = "Validation Failed: 1: query is missing;";
        return Err(Refusal::new("action_request_validation_exception", 400, reason).into());
    }
    let served = names::named(&server, &index)?;
    let (own, key) = (served.clone(), id.clone());
    let found = server.ask(served, move |reader| {
        let clause = clause(&own, &asked, now_ms());
        Ok(clause.map_err(Refused).and_then(|clause| {
            let explained = reader.explain(&clause, &Search::best(1), &key)?;
            Ok(explained.map(|explained| (explained.matches(), details(explained.tree()))))
        }))
    });
    let mut answer = json!({ "_index": index, "_id": id });
    let status = match found.await?? {
        Some((matches, explanation)) => {
            answer["matched"] = matches.into();
            answer["explanation"] = explanation;
            200
        }
        None => {
            answer["matched"] = false.into();
            404
        }
    };
    Ok(filtered(&parameters, status, answer.to_string()))
}

fn clause(served: &Served, asked: &SearchBody, now: i64) -> Result<Clause, Refusal> {
    let schema = served.index.schema();
    asked.clause(&Context { schema: &schema, now })
}

/// Returns a clause's part of a score, with the parts that it comes from.
fn details(explained: &ExplainedClause) -> Value {
    let clause = &explained.clause;
    let within = || explained.clauses.iter().map(details).collect();
    let (description, details): (String, Vec<Value>) = match &explained.worth {
        Worth::Nothing => (format!("no match of {clause}"), within()),
        Worth::Constant => (format!("{clause}, a constant"), within()),
        Worth::Frequency(parts) => (
            format!("weight({clause}), computed as boost * idf * tf from:"),
            of_frequency(parts).to_vec(),
        ),
        Worth::Sum => ("sum of:".to_owned(), within()),
        Worth::Best(0.0) => ("max of:".to_owned(), within()),
        Worth::Best(tie) => (format!("max plus {tie} times others of:"), within()),
        Worth::Faded(factor) => {
            (format!("product with {factor}, which fades with age, of:"), within())
        }
        _ => (clause.clone(), within()),
    };
    one(explained.value, &description, details)
}

fn one(value: f32, description: &str, details: Vec<Value>) -> Value {
    // With the digits that it is good for.
    let value = value.to_string().parse::<f64>().ok();
    json!({ "value": value, "description": description, "details": details })
}

/// Returns the numbers of BM25.
fn of_frequency(parts: &Frequency) -> [Value; 3] {
    let leaf = |value: f32, what: &str| one(value, what, Vec::new());
    let count =
        |value: u64, what: &str| json!({ "value": value, "description": what, "details": [] });
    let with_term = "n, number of documents containing term";
    let mut of_idf: Vec<Value> = parts.with_terms.iter().map(|n| count(*n, with_term)).collect();
    of_idf.push(count(parts.documents, "N, total number of documents with field"));
    let (k1, b) = (parts.parameters.k1, parts.parameters.b);
    let length = f64::from(parts.length) / parts.average;
    let frequency = f64::from(parts.frequency);
    let norm = f64::from(k1) * (1.0 - f64::from(b) + f64::from(b) * length);
    let of_tf = vec![
        leaf(parts.frequency, "freq, occurrences of term within document"),
        leaf(k1, "k1, term saturation parameter"),
        leaf(b, "b, length normalization parameter"),
        count(parts.length.into(), "dl, length of field"),
        leaf(parts.average as f32, "avgdl, average length of field"),
    ];
    [
        leaf(parts.boost, "boost"),
        one(parts.idf as f32, "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:", of_idf),
        one(
            (frequency / (frequency + norm)) as f32,
            "tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:",
            of_tf,
        ),
    ]
}

pub(super) async fn validate(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let (explain, rewrite) = (parameters.flag("explain")?, parameters.flag("rewrite")?);
    let all_shards = parameters.flag("all_shards")?;
    let body = body::read(&server, &headers, body).await?;
    let asked = asked(&body, &mut parameters);
    let parameters = parameters.end_of_indexes()?;
    let served = names::resolve(&server, names::in_path(index.as_ref()), may_be_missing)?;
    let asked = match asked {
        Ok((asked, _)) => Arc::new(asked),
        // What is no query at all is not asked of any index.
        Err(Refused(refusal)) => {
            let mut answer = json!({ "valid": false });
            if explain || rewrite {
                answer["error"] = refusal.to_string().into();
            }
            return Ok(filtered(&parameters, 200, answer.to_string()));
        }
    };
    let (mut valid, mut explanations) = (true, Vec::new());
    for served in &served {
        let checked = check(&server, served, &asked).await?;
        valid &= checked.is_ok();
        let mut one = json!({ "index": served.name.as_str(), "valid": checked.is_ok() });
        match checked {
            Ok(text) => one["explanation"] = text.into(),
            Err(refusal) => one["error"] = refusal.to_string().into(),
        }
        if all_shards {
            one["shard"] = 0.into();
        }
        explanations.push(one);
    }
    let shards = served.len();
    let mut answer = json!({
        "_shards": { "total": shards, "successful": shards, "failed": 0 },
        "valid": valid,
    });
    if explain || rewrite {
        answer["explanations"] = explanations.into();
    }
    Ok(filtered(&parameters, 200, answer.to_string()))
}

/// Returns the text of a query in the engine's language, or why an index cannot be asked.
async fn check(
    server: &Server,
    served: &Arc<Served>,
    asked: &Arc<SearchBody>,
) -> Answered<Result<String, Refusal>> {
    let (own, asked) = (served.clone(), asked.clone());
    let checked = server.ask(served.clone(), move |reader| {
        Ok(clause(&own, &asked, now_ms()).and_then(|clause| {
            let text = clause.to_string();
            reader.parse(&clause).map(|_| text).map_err(|error| Refusal::from(&error))
        }))
    });
    Ok(checked.await?)
}
