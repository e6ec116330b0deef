//! `_settings`: what an index was made with and given later, in OpenSearch's words.

use axum::body::Body;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::Value;
use spirit_opensearch::error::Refusal;

use super::aliases::ACKNOWLEDGED;
use super::answer::filtered;
use super::dynamic_settings::{Change, Kept};
use super::identity::VERSION;
use super::index_settings;
use super::names;
use super::parameters::Parameters;
use super::refused::{Answered, Refused};
use crate::api::body;
use crate::api::server::{Server, State};
use crate::catalog::Catalog;
use crate::pattern::matches;
use crate::registry::Registered;
use crate::served::Served;

pub(super) async fn show(
    State(server): State<Server>,
    index: Option<Path<String>>,
    parameters: Parameters,
) -> Answered<Response> {
    answer(&server, names::in_path(index.as_ref()), "*", parameters)
}

/// Shows the settings whose names match a list of patterns.
pub(super) async fn show_named(
    State(server): State<Server>,
    Path(path): Path<Vec<String>>,
    parameters: Parameters,
) -> Answered<Response> {
    match &path[..] {
        [index, name] => answer(&server, index, name, parameters),
        [name] => answer(&server, "*", name, parameters),
        _ => answer(&server, "*", "*", parameters),
    }
}

fn answer(
    server: &Server,
    index: &str,
    patterns: &str,
    mut parameters: Parameters,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let is_flat = parameters.flag("flat_settings")?;
    if parameters.flag("include_defaults")? {
        return Err(Refusal::unsupported("[include_defaults]").into());
    }
    let parameters = parameters.end_of_indexes()?;
    let pattern = |name: &str| if name == "_all" { "*".to_owned() } else { name.to_owned() };
    let patterns: Vec<String> = patterns.split(',').map(pattern).collect();
    let registered = server.catalog().registry().now();
    let shown: Vec<String> = names::resolve(server, index, may_be_missing)?
        .iter()
        .map(|served| (served, json(served, &registered, &patterns, is_flat)))
        .filter(|(_, settings)| settings != "{}")
        .map(|(served, settings)| format!(r#""{}":{{"settings":{settings}}}"#, served.name))
        .collect();
    Ok(filtered(&parameters, 200, format!("{{{}}}", shown.join(","))))
}

/// `PUT /_settings` and `PUT /{index}/_settings`: changes of dynamic settings.
pub(super) async fn update(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let is_new_only = parameters.flag("preserve_existing")?;
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let parameters = parameters.end_of_indexes()?;
    let change = Change::read(&body::read(&server, &headers, body).await?)?;
    let list = names::in_path(index.as_ref());
    let served = names::resolve(&server, list, may_be_missing)?;
    let names: Vec<String> = served.iter().map(|served| served.name.to_string()).collect();
    if names.is_empty() {
        return Err(Refusal::index_not_found(list).into());
    }
    change.check_dynamic(&names)?;
    let catalog = server.catalog().clone();
    let changed = server.write(move || {
        Ok(catalog.registry().change(|registered| {
            for name in names {
                change.apply(registered.settings.entry(name).or_default(), is_new_only);
            }
            registered.settings.retain(|_, kept| !kept.is_empty());
            Ok::<(), Refused>(())
        }))
    });
    changed.await??;
    Ok(filtered(&parameters, 200, ACKNOWLEDGED.to_owned()))
}

/// Keeps the settings with which an index is made.
pub(super) fn keep(catalog: &Catalog, index: &str, given: Kept) -> Answered<()> {
    if given.is_empty() {
        return Ok(());
    }
    catalog.registry().change(|registered| {
        registered.settings.insert(index.to_owned(), given);
        Ok(())
    })
}

/// Returns the settings of an index whose names match one of some patterns.
pub(super) fn json(
    served: &Served,
    registered: &Registered,
    patterns: &[String],
    is_flat: bool,
) -> String {
    let is_asked = |name: &str| {
        let full = format!("index.{name}");
        patterns.iter().any(|pattern| matches(pattern, &full))
    };
    let all = all(served, registered).into_iter().filter(|(name, _)| is_asked(name));
    let shown = match is_flat {
        true => all.map(|(name, value)| (format!("index.{name}"), value)).collect(),
        false => index_settings::nested(all),
    };
    match &shown {
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        shown if is_flat => shown.to_string(),
        shown => format!(r#"{{"index":{shown}}}"#),
    }
}

/// Returns names, without the `index.` in front, and values.
fn all(served: &Served, registered: &Registered) -> Kept {
    let name = served.name.as_str();
    let known = [
        ("creation_date", served.made_ms().map(|ms| ms.to_string())),
        ("number_of_replicas", Some("0".to_owned())),
        ("number_of_shards", Some("1".to_owned())),
        ("provided_name", Some(name.to_owned())),
        ("uuid", Some(name.to_owned())),
        ("version.created", Some(version_number(VERSION))),
    ];
    let known =
        known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
    let mut all: Kept = known.collect();
    all.extend(registered.settings.get(name).cloned().unwrap_or_default());
    all
}

/// Returns a version such as `8.19.0` as indexes keep it: two digits a part, and 99 for a release.
fn version_number(version: &str) -> String {
    let digits = |part: &str| format!("{part:0>2}");
    let parts: String = version.split('.').map(digits).collect();
    format!("{}99", parts.trim_start_matches('0'))
}
