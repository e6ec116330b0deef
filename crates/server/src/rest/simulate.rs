//! `_simulate` and `_simulate_index`: what an index would be made with, and which templates overlap.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Map, Value, json};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;

use super::answer::filtered;
use super::composed::{has_name, number, of_template, patterns};
use super::made_id::made_id;
use super::parameters::Parameters;
use super::refused::Answered;
use super::templates::{self, Kind};
use crate::api::body;
use crate::api::server::{Server, State};
use crate::pattern::overlap;
use crate::registry::Registered;

/// A template by its name.
type Named = (String, Value);

/// `POST /_index_template/_simulate_index/{name}`. A template in the body is one more.
pub(super) async fn index(
    State(server): State<Server>,
    Path(index): Path<String>,
    parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let (parameters, own) = read(&server, parameters, &headers, body).await?;
    let registered = server.catalog().registry().now();
    let own = own.map(|own| checked(new_name(), own, &registered)).transpose()?;
    let known = registered.index_templates.iter();
    let known = known.map(|(name, template)| (name.clone(), template.clone()));
    let fitting = known.chain(own).filter(|(_, template)| has_name(template, &index));
    let best = fitting.max_by_key(|(_, template)| number(template, "priority"));
    let answer = best.map_or(json!({}), |best| shown(&registered, &best));
    Ok(filtered(&parameters, 200, answer.to_string()))
}

/// `POST /_index_template/_simulate` and `POST /_index_template/_simulate/{name}`. A template in the
/// body stands for the one of the name.
pub(super) async fn template(
    State(server): State<Server>,
    name: Option<Path<String>>,
    parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let (parameters, own) = read(&server, parameters, &headers, body).await?;
    let registered = server.catalog().registry().now();
    let name = name.map(|Path(name)| name);
    let simulated = match (own, name) {
        (Some(own), name) => checked(name.unwrap_or_else(new_name), own, &registered)?,
        (None, Some(name)) => {
            let missing = || {
                let what = format!("unable to simulate template [{name}] that does not exist");
                Refusal::illegal_argument(what)
            };
            let known = registered.index_templates.get(&name).ok_or_else(missing)?.clone();
            (name, known)
        }
        (None, None) => {
            let reason = "Validation Failed: 1: either index name or index template body must be \
                          specified for simulation;";
            return Err(Refusal::new("action_request_validation_exception", 400, reason).into());
        }
    };
    Ok(filtered(&parameters, 200, shown(&registered, &simulated).to_string()))
}

/// Reads the body of a request: a template, or nothing.
async fn read(
    server: &Server,
    mut parameters: Parameters,
    headers: &HeaderMap,
    body: Body,
) -> Answered<(Parameters, Option<Value>)> {
    parameters.flag("create")?;
    parameters.take("cause");
    let parameters = parameters.end_of_write()?;
    let body = body::read(server, headers, body).await?;
    match body.trim_ascii() {
        b"" => Ok((parameters, None)),
        body => Ok((parameters, Some(templates::read(Kind::Index, &Json::parse(body)?)?))),
    }
}

fn new_name() -> String {
    format!("simulate_template_{}", made_id().to_lowercase())
}

/// Returns a template that goes with those that are there.
fn checked(name: String, template: Value, registered: &Registered) -> Answered<Named> {
    templates::check(Kind::Index, &name, &template, registered)?;
    Ok((name, template))
}

/// Returns the answer for a template.
fn shown(registered: &Registered, (name, template): &Named) -> Value {
    let mut made = of_template(registered, template);
    let mut part = |name: &str| match made[name].take() {
        Value::Null => json!({}),
        part => part,
    };
    let (settings, mappings, aliases) = (part("settings"), part("mappings"), part("aliases"));
    let mut parts = Map::from_iter([("settings".to_owned(), settings)]);
    if mappings.as_object().is_some_and(|mappings| !mappings.is_empty()) {
        parts.insert("mappings".to_owned(), mappings);
    }
    parts.insert("aliases".to_owned(), aliases);
    let own = patterns(template);
    let mut overlapping = overlapping(&registered.index_templates, &own);
    overlapping.retain(|other| other["name"] != **name);
    overlapping.extend(self::overlapping(&registered.templates, &own));
    json!({"template": parts, "overlapping": overlapping})
}

/// Returns the templates that are for some names that match patterns.
fn overlapping(all: &BTreeMap<String, Value>, own: &[&str]) -> Vec<Value> {
    let is_shared = |theirs: &[&str]| own.iter().any(|a| theirs.iter().any(|b| overlap(a, b)));
    let all = all.iter().map(|(name, template)| (name, patterns(template)));
    let shared = all.filter(|(_, theirs)| is_shared(theirs));
    shared.map(|(name, theirs)| json!({"name": name, "index_patterns": theirs})).collect()
}
