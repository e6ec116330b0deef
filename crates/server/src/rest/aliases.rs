//! Aliases: other names of indexes, made, shown and deleted.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;

use super::answer::{empty, filtered};
use super::names;
use super::parameters::Parameters;
use super::refused::{Answered, Refused, absent, json};
use crate::api::body;
use crate::api::server::{Server, State};
use crate::catalog::Catalog;
use crate::pattern::matches;
use crate::registry::Registered;

/// The answer to a change.
pub(super) const ACKNOWLEDGED: &str = r#"{"acknowledged":true}"#;

/// A step of a change.
#[derive(Debug)]
enum Step {
    Add { indexes: Vec<String>, aliases: Vec<String>, is_write: Option<bool> },
    Remove { indexes: Vec<String>, aliases: Vec<String>, must_exist: Option<bool> },
    RemoveIndex { indexes: Vec<String> },
}

/// Reads the aliases with which an index is made.
pub(super) fn of_index(value: &Json) -> Result<Vec<(String, Option<bool>)>, Refusal> {
    let Json::Object(aliases) = value else {
        return Err(Refusal::parse("Expected an object in [aliases]"));
    };
    let alias = |(name, options): &(String, Json)| {
        check_name(name)?;
        Ok((name.clone(), options_of(options)?))
    };
    aliases.iter().map(alias).collect()
}

/// Reads the options of an alias.
fn options_of(options: &Json) -> Result<Option<bool>, Refusal> {
    let Json::Object(members) = options else {
        return Err(Refusal::parse("Expected an object for an alias"));
    };
    let mut is_write = None;
    for (name, value) in members {
        match (&**name, value) {
            ("is_write_index", Json::Bool(yes)) => is_write = Some(*yes),
            (name, value) => option(name, value)?,
        }
    }
    Ok(is_write)
}

/// Checks an option of an alias that has no effect. One that would have another is refused.
fn option(name: &str, value: &Json) -> Result<(), Refusal> {
    match (name, value) {
        ("is_hidden", Json::Bool(false)) | ("filter", Json::Null) => Ok(()),
        // There is one shard, to which all routes lead.
        ("routing" | "index_routing" | "search_routing", _) => Ok(()),
        ("filter" | "is_hidden", _) => Err(Refusal::unsupported(format!("[{name}] of an alias"))),
        (name, _) => Err(Refusal::content(format!("[alias] unknown field [{name}]"))),
    }
}

/// Returns an error if no alias may have a name.
fn check_name(name: &str) -> Result<(), Refusal> {
    let wrong = |why: &str| {
        let reason = format!("Invalid alias name [{name}]: {why}");
        Err(Refusal::new("invalid_alias_name_exception", 400, reason))
    };
    if name.starts_with(['_', '-', '+']) {
        return wrong("must not start with '_', '-', or '+'");
    }
    if name.contains([' ', '"', '*', '\\', '<', '|', ',', '>', '/', '?', '#', ':']) {
        return wrong("must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?]");
    }
    if name.is_empty() || name.len() > 255 || matches!(name, "." | "..") {
        return wrong("must not be empty, '.', '..' or longer than 255 bytes");
    }
    Ok(())
}

/// Gives an index its aliases.
pub(super) fn give(
    catalog: &Catalog,
    index: &str,
    aliases: &[(String, Option<bool>)],
) -> Answered<()> {
    catalog.registry().change(|registered| {
        aliases.iter().try_for_each(|(name, is_write)| {
            add(catalog, registered, index, name, *is_write).map_err(Refused)
        })
    })
}

fn add(
    catalog: &Catalog,
    registered: &mut Registered,
    index: &str,
    alias: &str,
    is_write: Option<bool>,
) -> Result<(), Refusal> {
    check_name(alias)?;
    let is_index = alias.parse().is_ok_and(|name| catalog.get(&name).is_ok());
    if is_index || registered.streams.contains_key(alias) {
        let reason = format!(
            "Invalid alias name [{alias}], an index exists with the same name as the alias"
        );
        let refusal = Refusal::new("invalid_alias_name_exception", 400, reason);
        return Err(refusal.in_index(alias, alias));
    }
    registered.aliases.entry(alias.to_owned()).or_default().insert(index.to_owned(), is_write);
    Ok(())
}

/// Returns an error if an alias has two indexes to write to.
fn check_writes(registered: &Registered) -> Result<(), Refusal> {
    for (alias, indexes) in &registered.aliases {
        let writes = indexes.iter().filter(|(_, is_write)| **is_write == Some(true));
        let writes: Vec<&str> = writes.map(|(index, _)| &**index).collect();
        if writes.len() > 1 {
            let reason =
                format!("alias [{alias}] has more than one write index [{}]", writes.join(","));
            return Err(Refusal::new("illegal_state_exception", 500, reason));
        }
    }
    Ok(())
}

/// Makes all steps of a change, or none. For a thread that may wait for a disk.
fn change(server: &Server, steps: &[Step]) -> Answered<()> {
    let catalog = server.catalog();
    let mut removed = Vec::new();
    for step in steps {
        if let Step::RemoveIndex { indexes } = step {
            removed.extend(concrete(server, indexes)?);
        }
    }
    catalog.registry().change(|registered| {
        for step in steps {
            match step {
                Step::Add { indexes, aliases, is_write } => {
                    for index in concrete(server, indexes)? {
                        for alias in aliases {
                            // An index that is removed by the same change leaves its name.
                            if removed.contains(alias) {
                                check_name(alias)?;
                                let own = registered.aliases.entry(alias.clone()).or_default();
                                own.insert(index.clone(), *is_write);
                            } else {
                                add(catalog, registered, &index, alias, *is_write)?;
                            }
                        }
                    }
                }
                Step::Remove { indexes, aliases, must_exist } => {
                    let indexes = concrete(server, indexes)?;
                    remove(registered, &indexes, aliases, *must_exist)?;
                }
                Step::RemoveIndex { .. } => {}
            }
        }
        check_writes(registered)?;
        // Aliases are written before an index is gone. A crash between leaves an index more.
        Ok::<(), Refused>(())
    })?;
    for index in removed {
        let name = names::parsed(&index)?;
        catalog.delete(&name).map_err(|why| absent(&index, &why))??;
    }
    Ok(())
}

fn remove(
    registered: &mut Registered,
    indexes: &[String],
    aliases: &[String],
    must_exist: Option<bool>,
) -> Result<(), Refusal> {
    let mut found = false;
    for (name, alias) in &mut registered.aliases {
        if aliases.iter().any(|pattern| is_named(pattern, name)) {
            let before = alias.len();
            alias.retain(|index, _| !indexes.contains(index));
            found |= alias.len() < before;
        }
    }
    registered.aliases.retain(|_, alias| !alias.is_empty());
    if found || must_exist == Some(false) {
        return Ok(());
    }
    let names = aliases.join(",");
    Err(Refusal::new("aliases_not_found_exception", 404, format!("aliases [{names}] missing")))
}

fn is_named(pattern: &str, name: &str) -> bool {
    pattern == "_all" || matches(pattern, name)
}

/// Returns the names of indexes; an alias among them is an error.
fn concrete(server: &Server, names: &[String]) -> Answered<Vec<String>> {
    let mut found = Vec::new();
    for name in names {
        let is_pattern = name == "_all" || name.contains('*');
        if !is_pattern && server.catalog().registry().now().aliases.contains_key(name) {
            return Err(Refused(names::is_alias(name)));
        }
        let indexes = names::resolve(server, name, false)?;
        found.extend(indexes.iter().map(|served| served.name.to_string()));
    }
    Ok(found)
}

/// `POST /_aliases`: several steps.
pub(super) async fn steps(
    State(server): State<Server>,
    parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let parameters = parameters.end_of_write()?;
    let body = Json::parse(&body::read(&server, &headers, body).await?)?;
    let steps = match body.get("actions") {
        Some(Json::Array(actions)) if !actions.is_empty() => actions,
        _ => return Err(Refusal::illegal_argument("No action specified").into()),
    };
    let steps = steps.iter().map(step).collect::<Result<Vec<_>, _>>()?;
    let changing = server.clone();
    server.write(move || Ok(change(&changing, &steps))).await??;
    Ok(filtered(&parameters, 200, ACKNOWLEDGED.to_owned()))
}

fn step(action: &Json) -> Result<Step, Refusal> {
    let Json::Object(members) = action else {
        return Err(Refusal::content("[aliases] an action is an object"));
    };
    let [(kind, Json::Object(members))] = &**members else {
        return Err(Refusal::content("[alias_action] expected one object with a name"));
    };
    let (mut indexes, mut aliases) = (None, None);
    let (mut is_write, mut must_exist) = (None, None);
    for (name, value) in members {
        match (&**name, value) {
            ("index" | "indices", value) => indexes = Some(strings(name, value)?),
            ("alias" | "aliases", value) => aliases = Some(strings(name, value)?),
            ("is_write_index", Json::Bool(yes)) => is_write = Some(*yes),
            ("must_exist", Json::Bool(yes)) => must_exist = Some(*yes),
            (name, value) if kind == "add" => option(name, value)?,
            (name, _) => return Err(Refusal::content(format!("[{kind}] unknown field [{name}]"))),
        }
    }
    let required = |what| move || Refusal::illegal_argument(what);
    let indexes = indexes.ok_or_else(required("One of [index] or [indices] is required"))?;
    if kind == "remove_index" {
        return Ok(Step::RemoveIndex { indexes });
    }
    let aliases = aliases.ok_or_else(required("One of [alias] or [aliases] is required"))?;
    match &**kind {
        "add" => Ok(Step::Add { indexes, aliases, is_write }),
        "remove" => Ok(Step::Remove { indexes, aliases, must_exist }),
        other => Err(Refusal::content(format!("[alias_action] unknown field [{other}]"))),
    }
}

fn strings(name: &str, value: &Json) -> Result<Vec<String>, Refusal> {
    let wrong = || Refusal::content(format!("[{name}] expected a name or an array of names"));
    let all = match value {
        Json::String(name) => name.split(',').map(str::to_owned).collect(),
        Json::Array(names) => {
            let names = names.iter().map(|name| name.as_str().map(str::to_owned));
            names.collect::<Option<Vec<String>>>().ok_or_else(wrong)?
        }
        _ => return Err(wrong()),
    };
    Ok(all)
}

pub(super) async fn put(
    State(server): State<Server>,
    Path((index, alias)): Path<(String, String)>,
    parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let parameters = parameters.end_of_write()?;
    let body = body::read(&server, &headers, body).await?;
    let is_write = match body.trim_ascii() {
        b"" => None,
        body => options_of(&Json::parse(body)?)?,
    };
    let step = Step::Add { indexes: vec![index], aliases: vec![alias], is_write };
    let changing = server.clone();
    server.write(move || Ok(change(&changing, &[step]))).await??;
    Ok(filtered(&parameters, 200, ACKNOWLEDGED.to_owned()))
}

pub(super) async fn delete(
    State(server): State<Server>,
    Path((index, alias)): Path<(String, String)>,
    parameters: Parameters,
) -> Answered<Response> {
    let parameters = parameters.end_of_write()?;
    let aliases = alias.split(',').map(str::to_owned).collect();
    let step = Step::Remove { indexes: vec![index], aliases, must_exist: None };
    let changing = server.clone();
    server.write(move || Ok(change(&changing, &[step]))).await??;
    Ok(filtered(&parameters, 200, ACKNOWLEDGED.to_owned()))
}

/// Returns the options of an alias of an index, as they are shown.
fn options_json(is_write: Option<bool>) -> String {
    is_write.map_or("{}".to_owned(), |yes| format!(r#"{{"is_write_index":{yes}}}"#))
}

/// Returns the aliases of an index, as they are shown.
pub(super) fn shown(registered: &Registered, index: &str) -> String {
    let alias = |(name, is_write): (&str, Option<bool>)| {
        format!("{}:{}", serde_json::to_string(name).unwrap_or_default(), options_json(is_write))
    };
    let aliases: Vec<_> = registered.of_index(index).into_iter().map(alias).collect();
    format!("{{{}}}", aliases.join(","))
}

/// The aliases of each index, as they are shown.
type OfIndexes = BTreeMap<String, Vec<String>>;

/// Returns the indexes with aliases that match some patterns, and the names that no alias has.
fn found(
    server: &Server,
    index: &str,
    patterns: Option<&str>,
) -> Answered<(OfIndexes, Vec<String>)> {
    let registered = server.catalog().registry().now();
    let patterns: Vec<&str> = patterns.map_or(Vec::new(), |patterns| patterns.split(',').collect());
    let mut indexes = BTreeMap::new();
    let mut missing: Vec<String> = patterns
        .iter()
        .filter(|name| !name.contains('*') && **name != "_all")
        .map(|name| (*name).to_owned())
        .collect();
    for served in names::resolve(server, index, false)? {
        let mut own = Vec::new();
        for (name, is_write) in registered.of_index(served.name.as_str()) {
            let mut is_in = patterns.is_empty();
            for pattern in &patterns {
                match pattern.strip_prefix('-') {
                    Some(excluded) => is_in &= !is_named(excluded, name),
                    None => is_in |= is_named(pattern, name),
                }
            }
            if is_in {
                missing.retain(|missing| missing != name);
                let text = serde_json::to_string(name).unwrap_or_default();
                own.push(format!("{text}:{}", options_json(is_write)));
            }
        }
        if patterns.is_empty() || !own.is_empty() {
            indexes.insert(served.name.to_string(), own);
        }
    }
    missing.retain(|name| !name.starts_with('-'));
    Ok((indexes, missing))
}

async fn show(
    server: &Server,
    index: &str,
    patterns: Option<&str>,
    mut parameters: Parameters,
) -> Answered<Response> {
    parameters.take("ignore_unavailable");
    let parameters = parameters.end_of_indexes()?;
    let (indexes, missing) = found(server, index, patterns)?;
    let members: Vec<String> = indexes
        .iter()
        .map(|(index, own)| format!(r#""{index}":{{"aliases":{{{}}}}}"#, own.join(",")))
        .collect();
    if missing.is_empty() {
        return Ok(filtered(&parameters, 200, format!("{{{}}}", members.join(","))));
    }
    let what = if missing.len() == 1 { "alias" } else { "aliases" };
    let error = format!("{what} [{}] missing", missing.join(","));
    let error = serde_json::to_string(&error).unwrap_or_default();
    let rest: String = members.iter().map(|member| format!(",{member}")).collect();
    Ok(json(404, format!(r#"{{"error":{error},"status":404{rest}}}"#)))
}

/// `GET /_alias`, `GET /_alias/{alias}`.
pub(super) async fn of_all(
    State(server): State<Server>,
    alias: Option<Path<String>>,
    parameters: Parameters,
) -> Answered<Response> {
    let alias = alias.map(|Path(alias)| alias);
    show(&server, "*,.*", alias.as_deref(), parameters).await
}

/// `GET /{index}/_alias`.
pub(super) async fn of(
    State(server): State<Server>,
    Path(index): Path<String>,
    parameters: Parameters,
) -> Answered<Response> {
    show(&server, &index, None, parameters).await
}

/// `GET /{index}/_alias/{alias}`.
pub(super) async fn get(
    State(server): State<Server>,
    Path((index, alias)): Path<(String, String)>,
    parameters: Parameters,
) -> Answered<Response> {
    show(&server, &index, Some(&alias), parameters).await
}

/// `HEAD /_alias/{alias}`.
pub(super) async fn exists(
    State(server): State<Server>,
    Path(alias): Path<String>,
) -> Answered<Response> {
    is_there(&server, "*,.*", &alias)
}

/// `HEAD /{index}/_alias/{alias}`.
pub(super) async fn exists_of(
    State(server): State<Server>,
    Path((index, alias)): Path<(String, String)>,
) -> Answered<Response> {
    is_there(&server, &index, &alias)
}

fn is_there(server: &Server, index: &str, alias: &str) -> Answered<Response> {
    let found = found(server, index, Some(alias));
    let is_there = found.is_ok_and(|(own, missing)| !own.is_empty() && missing.is_empty());
    Ok(empty(if is_there { 200 } else { 404 }))
}
