//! Data streams: each is a name with one index, which takes new documents with a moment only.

use axum::extract::Path;
use axum::response::Response;
use spirit_opensearch::error::Refusal;

use super::aliases::ACKNOWLEDGED;
use super::answer::filtered;
use super::making;
use super::names;
use super::parameters::Parameters;
use super::refused::{Answered, absent};
use crate::api::server::{Server, State};
use crate::pattern::matches;
use crate::registry::{Registered, backing};

/// Returns the names of the data streams that a list names. One that is named and not there is an error.
fn named(registered: &Registered, list: &str) -> Answered<Vec<String>> {
    let mut found = Vec::new();
    for part in list.split(',') {
        let pattern = if part == "_all" { "*" } else { part };
        let before = found.len();
        let streams = registered.streams.keys().filter(|name| matches(pattern, name));
        found.extend(streams.cloned());
        if found.len() == before && !pattern.contains('*') {
            return Err(Refusal::index_not_found(part).into());
        }
    }
    Ok(found)
}

pub(super) async fn show(
    State(server): State<Server>,
    name: Option<Path<String>>,
    parameters: Parameters,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let registered = server.catalog().registry().now();
    let show = |name: &String| {
        let index = backing(name);
        let template = registered.streams.get(name);
        let template = serde_json::to_string(&template).unwrap_or_default();
        format!(
            r#"{{"name":"{name}","timestamp_field":{{"name":"@timestamp"}},"indices":[{{"index_name":"{index}","index_uuid":"{index}"}}],"generation":1,"status":"GREEN","template":{template}}}"#
        )
    };
    let shown: Vec<String> =
        named(&registered, names::in_path(name.as_ref()))?.iter().map(show).collect();
    Ok(filtered(&parameters, 200, format!(r#"{{"data_streams":[{}]}}"#, shown.join(","))))
}

pub(super) async fn make(
    State(server): State<Server>,
    Path(name): Path<String>,
    parameters: Parameters,
) -> Answered<Response> {
    let parameters = parameters.end_of_write()?;
    let making = server.clone();
    server.write(move || Ok(making::make_named_stream(&making, &name))).await??;
    Ok(filtered(&parameters, 200, ACKNOWLEDGED.to_owned()))
}

pub(super) async fn delete(
    State(server): State<Server>,
    Path(name): Path<String>,
    parameters: Parameters,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let streams = named(&server.catalog().registry().now(), &name)?;
    let catalog = server.catalog().clone();
    let deleted = server.write(move || {
        let delete = |stream: String| -> Answered<()> {
            let index = backing(&stream);
            let deleted = catalog.delete(&names::parsed(&index)?);
            Ok(deleted.map_err(|why| absent(&stream, &why))??)
        };
        Ok(streams.into_iter().try_for_each(delete))
    });
    deleted.await??;
    Ok(filtered(&parameters, 200, ACKNOWLEDGED.to_owned()))
}
