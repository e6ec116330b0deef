//! One document by its id, and several by theirs.

use std::borrow::Cow;

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use spirit::{Clause, Reader, Search};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;
use spirit_opensearch::search::SourceFilter;

use super::answer::filtered;
use super::change::{self, Action, Change};
use super::made_id::made_id;
use super::making;
use super::names;
use super::parameters::Parameters;
use super::refused::{Answered, Refused};
use super::state::{self, State as Document};
use crate::api::body;
use crate::api::server::{Server, State};
use crate::problem::Problem;

pub(super) async fn put(
    State(server): State<Server>,
    Path((index, id)): Path<(String, String)>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let action = match parameters.take("op_type").as_deref() {
        Some("create") => Action::Create,
        None | Some("index") => Action::Index,
        Some(other) => {
            let reason = format!("opType must be 'create' or 'index', found: [{other}]");
            return Err(Refusal::illegal_argument(reason).into());
        }
    };
    write(server, index, Some(id), action, parameters, &headers, body).await
}

pub(super) async fn post(
    State(server): State<Server>,
    Path(index): Path<String>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    parameters.take("op_type");
    write(server, index, None, Action::Index, parameters, &headers, body).await
}

pub(super) async fn create(
    State(server): State<Server>,
    Path((index, id)): Path<(String, String)>,
    parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    write(server, index, Some(id), Action::Create, parameters, &headers, body).await
}

pub(super) async fn update(
    State(server): State<Server>,
    Path((index, id)): Path<(String, String)>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    parameters.take("retry_on_conflict");
    write(server, index, Some(id), Action::Update, parameters, &headers, body).await
}

pub(super) async fn delete(
    State(server): State<Server>,
    Path((index, id)): Path<(String, String)>,
    parameters: Parameters,
) -> Answered<Response> {
    write(server, index, Some(id), Action::Delete, parameters, &HeaderMap::new(), Body::empty())
        .await
}

async fn write(
    server: Server,
    index: String,
    id: Option<String>,
    action: Action,
    mut parameters: Parameters,
    headers: &HeaderMap,
    body: Body,
) -> Answered<Response> {
    let expected = parameters.number("if_seq_no")?;
    parameters.take("if_primary_term");
    parameters.no_pipeline()?;
    let parameters = parameters.end_of_write()?;
    let body = body::read(&server, headers, body).await?;
    let (writing, name) = (server.clone(), index.clone());
    let written = server.write_held(Some(&index), move || {
        write_now(&writing, &name, id.clone(), action, expected, &body)
    });
    let (status, body) = written.await??;
    Ok(filtered(&parameters, status, body))
}

fn write_now(
    server: &Server,
    index: &str,
    id: Option<String>,
    action: Action,
    expected: Option<u64>,
    body: &[u8],
) -> Answered<(u16, String)> {
    let body = std::str::from_utf8(body)
        .map_err(|error| Refusal::json(format!("Invalid UTF-8 at byte {}", error.valid_up_to())))?;
    if body.trim_ascii().is_empty() && action != Action::Delete {
        return Err(Refusal::parse("request body is required").into());
    }
    let (is_new, id) = (id.is_none(), Cow::Owned(id.unwrap_or_else(made_id)));
    let written = making::written(server, index, action != Action::Delete)?;
    // A document without an id is new, so a data stream takes it.
    let is_created = written.is_stream && is_new && action == Action::Index;
    let action = if is_created { Action::Create } else { action };
    let change = Change { action, id, is_new, body: body.trim_ascii(), expected };
    if let Some(refusal) = written.refusal(&change) {
        return Err(refusal.into());
    }
    let (served, index) = (&written.served, written.served.name.as_str());
    let made = change::make(served, &[&change])?.pop();
    let changed = made.ok_or_else(|| Refusal::new("engine_exception", 500, "no result"))?;
    let changed = changed.map_err(|refusal| refusal.in_index(index, index))?;
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let mut answer = format!(r#"{{"_index":{},"_id":{},"#, quoted(index), quoted(&change.id));
    changed.put_members(&mut answer);
    answer.push('}');
    Ok((changed.status, answer))
}

/// What a document is read with.
struct Reading {
    filter: SourceFilter,
}

impl Reading {
    fn of(parameters: &mut Parameters) -> Reading {
        let mut filter = SourceFilter::default();
        let list = |text: String| text.split(',').map(str::to_owned).collect();
        if let Some(text) = parameters.take("_source") {
            filter.read_parameter(&text);
        }
        for name in ["_source_includes", "_source_include"] {
            filter.includes =
                parameters.take(name).map_or(std::mem::take(&mut filter.includes), list);
        }
        for name in ["_source_excludes", "_source_exclude"] {
            filter.excludes =
                parameters.take(name).map_or(std::mem::take(&mut filter.excludes), list);
        }
        parameters.take("refresh");
        Reading { filter }
    }
}

/// Finds the document with an id.
fn find(reader: &mut Reader, id: &str) -> Result<Option<Document>, Problem> {
    let hits = reader.search(Clause::key(id), Search::newest(1))?;
    Ok(hits.get(0).map(|hit| state::of(&hit)).transpose()?)
}

/// Returns the name of the index that was asked, and the document.
async fn found(server: &Server, index: &str, id: &str) -> Answered<(String, Option<Document>)> {
    let (served, id) = (names::named(server, index)?, id.to_owned());
    let name = served.name.to_string();
    Ok((name, server.ask(served, move |reader| find(reader, &id)).await?))
}

pub(super) async fn get(
    State(server): State<Server>,
    Path((index, id)): Path<(String, String)>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let reading = Reading::of(&mut parameters);
    let parameters = parameters.end_of_indexes()?;
    let (index, document) = found(&server, &index, &id).await?;
    let status = if document.is_some() { 200 } else { 404 };
    Ok(filtered(&parameters, status, shown(&index, &id, document.as_ref(), &reading.filter)))
}

/// Returns a document as `_doc` and `_mget` show it.
fn shown(index: &str, id: &str, document: Option<&Document>, filter: &SourceFilter) -> String {
    let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let (index, id) = (text(index), text(id));
    let Some(Document { sequence, version, source }) = document else {
        return format!(r#"{{"_index":{index},"_id":{id},"found":false}}"#);
    };
    let head = format!(
        r#"{{"_index":{index},"_id":{id},"_version":{version},"_seq_no":{sequence},"_primary_term":1,"found":true"#
    );
    if filter.is_off {
        return format!("{head}}}");
    }
    let source = filter.apply(source.as_bytes());
    format!(r#"{head},"_source":{}}}"#, String::from_utf8_lossy(&source))
}

pub(super) async fn exists(
    State(server): State<Server>,
    Path((index, id)): Path<(String, String)>,
) -> Answered<StatusCode> {
    let (_, document) = found(&server, &index, &id).await?;
    Ok(if document.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND })
}

pub(super) async fn source(
    State(server): State<Server>,
    Path((index, id)): Path<(String, String)>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let reading = Reading::of(&mut parameters);
    let parameters = parameters.end_of_indexes()?;
    let (_, Some(document)) = found(&server, &index, &id).await? else {
        let reason = format!("Document not found [{index}]/[{id}]");
        return Err(Refusal::new("resource_not_found_exception", 404, reason).into());
    };
    let source = reading.filter.apply(document.source.as_bytes());
    Ok(filtered(&parameters, 200, String::from_utf8_lossy(&source).into_owned()))
}

pub(super) async fn many(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let reading = Reading::of(&mut parameters);
    let parameters = parameters.end_of_indexes()?;
    let body = Json::parse(&body::read(&server, &headers, body).await?)?;
    let index = index.map(|Path(index)| index);
    let mut documents = Vec::new();
    for (index, id, filter) in wanted(&body, index.as_deref(), &reading.filter)? {
        documents.push(match found(&server, &index, &id).await {
            Ok((index, document)) => shown(&index, &id, document.as_ref(), &filter),
            Err(Refused(refusal)) => {
                let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
                let error = refusal.error_json();
                format!(r#"{{"_index":{},"_id":{},"error":{error}}}"#, text(&index), text(&id))
            }
        });
    }
    Ok(filtered(&parameters, 200, format!(r#"{{"docs":[{}]}}"#, documents.join(","))))
}

/// Returns the indexes and ids of the documents that `_mget` asks for.
fn wanted(
    body: &Json,
    index: Option<&str>,
    filter: &SourceFilter,
) -> Answered<Vec<(String, String, SourceFilter)>> {
    let invalid = |what: &str| {
        let reason = format!("Validation Failed: 1: {what};");
        Refused(Refusal::new("action_request_validation_exception", 400, reason))
    };
    let id_of = |value: &Json| match value {
        Json::String(id) => Ok(id.clone()),
        Json::Number(id) => Ok(id.to_string()),
        _ => Err(invalid("id is missing")),
    };
    let index_of = |own: Option<&Json>| {
        let own = own.and_then(Json::as_str).or(index);
        own.map(str::to_owned).ok_or_else(|| invalid("index is missing"))
    };
    match (body.get("ids"), body.get("docs")) {
        (Some(Json::Array(ids)), None) => {
            ids.iter().map(|id| Ok((index_of(None)?, id_of(id)?, filter.clone()))).collect()
        }
        (None, Some(Json::Array(documents))) => {
            let one = |document: &Json| {
                let id = id_of(document.get("_id").unwrap_or(&Json::Null))?;
                let own = document.get("_source").map(SourceFilter::read).transpose()?;
                Ok((index_of(document.get("_index"))?, id, own.unwrap_or_else(|| filter.clone())))
            };
            documents.iter().map(one).collect()
        }
        _ => Err(invalid("no documents to get")),
    }
}
