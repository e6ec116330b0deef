//! Indexes: made, shown, deleted; their mappings.

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;

use super::aliases;
use super::answer::{empty, filtered};
use super::making;
use super::mapping::{self, Mapped};
use super::names;
use super::parameters::Parameters;
use super::refused::{Answered, Refused, absent};
use super::settings;
use crate::api::body;
use crate::api::server::{Server, State};
use crate::registry::backing;
use crate::served::Served;

/// What every request has that changes nothing, since all is visible and durable already.
const REFRESHED: &str = r#"{"_shards":{"total":1,"successful":1,"failed":0}}"#;

pub(super) async fn refresh(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    for accepted in ["force", "wait_if_ongoing"] {
        parameters.take(accepted);
    }
    let parameters = parameters.end_of_indexes()?;
    names::resolve(&server, names::in_path(index.as_ref()), may_be_missing)?;
    Ok(filtered(&parameters, 200, REFRESHED.to_owned()))
}

pub(super) async fn exists(
    State(server): State<Server>,
    Path(index): Path<String>,
) -> Answered<Response> {
    let found = names::resolve(&server, &index, false).is_ok_and(|found| !found.is_empty());
    Ok(empty(if found { 200 } else { StatusCode::NOT_FOUND.as_u16() }))
}

pub(super) async fn make(
    State(server): State<Server>,
    Path(index): Path<String>,
    parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let body = body::read(&server, &headers, body).await?;
    let own = match body.trim_ascii() {
        b"" => None,
        body => Some(Json::parse(body)?),
    };
    if let Some(own) = &own {
        Mapped::read(own)?;
    }
    let (making, name) = (server.clone(), index.clone());
    server.write(move || Ok(making::make(&making, &name, own.as_ref()))).await??;
    let index = serde_json::to_string(&index).unwrap_or_default();
    let body = format!(r#"{{"acknowledged":true,"shards_acknowledged":true,"index":{index}}}"#);
    Ok(filtered(&parameters, 200, body))
}

pub(super) async fn delete(
    State(server): State<Server>,
    Path(index): Path<String>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let parameters = parameters.end_of_indexes()?;
    let served = names::resolve_concrete(&server, &index, may_be_missing)?;
    let names: Vec<_> = served.iter().map(|served| served.name.clone()).collect();
    drop(served);
    let registered = server.catalog().registry().now();
    let is_of = |stream: &&String| names.iter().any(|name| name.as_str() == backing(stream));
    if let Some(stream) = registered.streams.keys().find(is_of) {
        return Err(Refusal::illegal_argument(format!(
            "index [{}] is the write index for data stream [{stream}] and cannot be deleted",
            backing(stream)
        ))
        .into());
    }
    let catalog = server.catalog().clone();
    let deleted = server.write(move || {
        let delete = |name| match catalog.delete(&name) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                Err(Refused(Refusal::new("engine_exception", 500, format!("{name}: {error}"))))
            }
            Err(why) => Err(absent(name.as_str(), &why)),
        };
        Ok(names.into_iter().try_for_each(delete))
    });
    deleted.await??;
    Ok(filtered(&parameters, 200, r#"{"acknowledged":true}"#.to_owned()))
}

pub(super) async fn show(
    State(server): State<Server>,
    Path(index): Path<String>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let is_flat = parameters.flag("flat_settings")?;
    let parameters = parameters.end_of_indexes()?;
    let registered = server.catalog().registry().now();
    let show = |served: &Served| {
        let mapping = mapping::json(&served.index.schema());
        let settings = settings::json(served, &registered, &["*".to_owned()], is_flat);
        let name = &served.name;
        let aliases = aliases::shown(&registered, name.as_str());
        format!(r#""{name}":{{"aliases":{aliases},"mappings":{mapping},"settings":{settings}}}"#)
    };
    let shown: Vec<_> = names::resolve(&server, &index, may_be_missing)?
        .iter()
        .map(|served| show(served))
        .collect();
    Ok(filtered(&parameters, 200, format!("{{{}}}", shown.join(","))))
}

pub(super) async fn mapping(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let parameters = parameters.end_of_indexes()?;
    let show = |served: &Served| {
        format!(r#""{}":{{"mappings":{}}}"#, served.name, mapping::json(&served.index.schema()))
    };
    let shown: Vec<_> = names::resolve(&server, names::in_path(index.as_ref()), may_be_missing)?
        .iter()
        .map(|served| show(served))
        .collect();
    Ok(filtered(&parameters, 200, format!("{{{}}}", shown.join(","))))
}
