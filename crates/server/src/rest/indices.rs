//! Indexes: made, shown, deleted; their mappings; `_cat/indices`.

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;

use super::answer::filtered;
use super::document::empty;
use super::mapping::{self, Mapped};
use super::names;
use super::parameters::Parameters;
use super::refused::{Answered, Refused, absent, json, not_made};
use crate::api::body;
use crate::api::server::{Server, State};
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
    let mapped = match body.trim_ascii() {
        b"" => Mapped::default(),
        body => Mapped::read(&Json::parse(body)?)?,
    };
    let name = names::parsed(&index)?;
    let catalog = server.catalog().clone();
    let made = server.write(move || {
        let sizes = catalog.default_sizes();
        Ok(catalog.make(&name, sizes, |builder| mapped.added_to(builder)))
    });
    made.await?.map_err(|error| not_made(&index, &error))?;
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
    let served = names::resolve(&server, &index, may_be_missing)?;
    let names: Vec<_> = served.iter().map(|served| served.name.clone()).collect();
    drop(served);
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
    let parameters = parameters.end_of_indexes()?;
    let show = |served: &Served| {
        let mapping = mapping::json(&served.index.schema());
        let name = &served.name;
        format!(
            r#""{name}":{{"aliases":{{}},"mappings":{mapping},"settings":{{"index":{{"number_of_shards":"1","number_of_replicas":"0","provided_name":"{name}","uuid":"{name}"}}}}}}"#
        )
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

/// The columns of `_cat/indices`.
const COLUMNS: [&str; 10] = [
    "health",
    "status",
    "index",
    "uuid",
    "pri",
    "rep",
    "docs.count",
    "docs.deleted",
    "store.size",
    "pri.store.size",
];

pub(super) async fn cat(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let wanted = parameters.take("h");
    let has_head = parameters.flag("v")?;
    let is_text = parameters.is_text();
    for accepted in ["s", "bytes", "health", "ts", "time", "include_unloaded_segments", "pri"] {
        parameters.take(accepted);
    }
    let parameters = parameters.end_of_indexes()?;
    let columns: Vec<&str> = match &wanted {
        Some(names) => names.split(',').collect(),
        None => COLUMNS.to_vec(),
    };
    let mut rows = Vec::new();
    for served in names::resolve(&server, names::in_path(index.as_ref()), false)? {
        rows.push(row(&served)?);
    }
    let value = |row: &[String], column: &str| {
        let place = COLUMNS.iter().position(|known| *known == column || known.starts_with(column));
        place.map_or(String::new(), |place| row[place].clone())
    };
    if is_text {
        let mut lines: Vec<Vec<String>> = Vec::new();
        if has_head {
            lines.push(columns.iter().map(|column| (*column).to_owned()).collect());
        }
        lines.extend(
            rows.iter().map(|row| columns.iter().map(|column| value(row, column)).collect()),
        );
        let lines: String = lines.into_iter().map(|line| line.join(" ") + "\n").collect();
        let mut response = json(200, lines);
        let kind = axum::http::HeaderValue::from_static("text/plain; charset=UTF-8");
        response.headers_mut().insert("content-type", kind);
        return Ok(response);
    }
    let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let object = |row: &Vec<String>| {
        let members: Vec<_> = columns
            .iter()
            .map(|column| format!("{}:{}", text(column), text(&value(row, column))))
            .collect();
        format!("{{{}}}", members.join(","))
    };
    let body = format!("[{}]", rows.iter().map(object).collect::<Vec<_>>().join(","));
    Ok(filtered(&parameters, 200, body))
}

fn row(served: &Served) -> Answered<Vec<String>> {
    let stats = served.index.stats();
    let stats = stats.map_err(|error| Refusal::new("engine_exception", 500, error.to_string()))?;
    let size = format!("{}b", stats.bytes.index());
    let name = served.name.to_string();
    let (documents, deleted) = (stats.documents.to_string(), stats.deleted.to_string());
    Ok(["green", "open", &name, &name, "1", "0", &documents, &deleted, &size, &size]
        .map(str::to_owned)
        .to_vec())
}
