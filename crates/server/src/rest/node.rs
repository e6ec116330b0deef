//! The node, as administration asks for it: settings, numbers, and where indexes are.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use serde_json::{Value, json};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;

use super::answer::filtered;
use super::names;
use super::parameters::Parameters;
use super::refused::{Answered, Refused};
use super::tasks::NODE;
use crate::api::body;
use crate::api::server::{Server, State};
use crate::pattern::matches;
use crate::registry::backing;
use crate::served::Served;

/// Flushes indexes, and waits for it. Segments are merged by the engine alone, at its own time.
pub(super) async fn merge(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    for accepted in ["max_num_segments", "only_expunge_deletes", "flush", "wait_for_completion"] {
        parameters.take(accepted);
    }
    let parameters = parameters.end_of_indexes()?;
    let served = names::resolve(&server, names::in_path(index.as_ref()), may_be_missing)?;
    let all = served.len();
    let flushed = server.write(move || {
        Ok(served.iter().try_for_each(|served| {
            let failed = |error: spirit::WriteError| {
                Refusal::new("engine_exception", 500, format!("{}: {error}", served.name))
            };
            served.index.flush().map_err(failed)
        }))
    });
    flushed.await?.map_err(Refused)?;
    let body = json!({"_shards": {"total": all, "successful": all, "failed": 0}});
    Ok(filtered(&parameters, 200, body.to_string()))
}

/// No setting of a cluster is set.
pub(super) async fn settings(mut parameters: Parameters) -> Answered<Response> {
    if parameters.flag("include_defaults")? {
        return Err(Refusal::unsupported("[include_defaults] of settings").into());
    }
    let parameters = parameters.end_of_indexes()?;
    Ok(filtered(&parameters, 200, r#"{"persistent":{},"transient":{}}"#.to_owned()))
}

/// Refuses settings: those of the server are set where it is started.
pub(super) async fn set(
    State(server): State<Server>,
    parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    parameters.end_of_indexes()?;
    let body = Json::parse(&body::read(&server, &headers, body).await?)?;
    for kind in ["persistent", "transient"] {
        if let Some(Json::Object(settings)) = body.get(kind)
            && let Some((name, _)) = settings.first()
        {
            let reason = format!("{kind} setting [{name}], not recognized");
            return Err(Refusal::illegal_argument(reason).into());
        }
    }
    let reason = "Validation Failed: 1: no settings to update;";
    Err(Refusal::new("action_request_validation_exception", 400, reason).into())
}

/// The documents and bytes of indexes.
#[derive(Default)]
struct Numbers {
    documents: u64,
    deleted: u64,
    bytes: u64,
}

impl Numbers {
    async fn of(server: &Server) -> Answered<(usize, Numbers)> {
        let all: Vec<Arc<Served>> = server.catalog().all();
        let count = all.len();
        let read = server.write(move || {
            let mut numbers = Numbers::default();
            for served in all {
                let stats = served.index.stats()?;
                numbers.documents += stats.documents;
                numbers.deleted += stats.deleted;
                numbers.bytes += stats.bytes.index();
            }
            Ok(numbers)
        });
        Ok((count, read.await?))
    }

    fn json(&self) -> [Value; 2] {
        let Numbers { documents, deleted, bytes } = self;
        [json!({"count": documents, "deleted": deleted}), json!({"size_in_bytes": bytes})]
    }
}

pub(super) async fn stats(
    State(server): State<Server>,
    parameters: Parameters,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let (count, numbers) = Numbers::of(&server).await?;
    let [docs, store] = numbers.json();
    let readiness = server.catalog().readiness();
    let status = match (readiness.starting, readiness.failed.len()) {
        (0, 0) => "green",
        (_, 0) => "yellow",
        _ => "red",
    };
    let body = json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0},
        "cluster_name": NODE,
        "status": status,
        "indices": {
            "count": count, "shards": {"total": count, "primaries": count}, "docs": docs, "store": store
        },
        "nodes": {"count": {"total": 1, "data": 1, "ingest": 1}, "versions": [super::identity::VERSION]},
    });
    Ok(filtered(&parameters, 200, body.to_string()))
}

/// Returns an answer about the only node.
fn of_node(node: Value) -> String {
    json!({
        "_nodes": {"total": 1, "successful": 1, "failed": 0}, "cluster_name": NODE,
        "nodes": {NODE: node}
    })
    .to_string()
}

/// The node, with the address by which the client reached it.
pub(super) async fn nodes(
    State(server): State<Server>,
    parameters: Parameters,
    headers: HeaderMap,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let address = host.map_or(server.settings().listen.to_string(), str::to_owned);
    let body = of_node(json!({
        "name": NODE, "host": server.settings().listen.ip().to_string(),
        "ip": server.settings().listen.ip().to_string(), "version": super::identity::VERSION,
        "roles": ["data", "ingest"],
        "http": {
            "bound_address": [address], "publish_address": address,
            "max_content_length_in_bytes": server.settings().body
        }
    }));
    Ok(filtered(&parameters, 200, body))
}

pub(super) async fn node_stats(
    State(server): State<Server>,
    parameters: Parameters,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let (_, numbers) = Numbers::of(&server).await?;
    let [docs, store] = numbers.json();
    let body = of_node(json!({
        "name": NODE, "roles": ["data", "ingest"], "indices": {"docs": docs, "store": store}
    }));
    Ok(filtered(&parameters, 200, body))
}

/// `_resolve/index/{names}`: what some names stand for.
pub(super) async fn resolve(
    State(server): State<Server>,
    Path(list): Path<String>,
    parameters: Parameters,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let registered = server.catalog().registry().now();
    let is_it =
        |name: &str| list.split(',').any(|pattern| pattern == "_all" || matches(pattern, name));
    let is_shown = |name: &str| is_it(name) && (!name.starts_with('.') || list.contains('.'));
    let mut indexes = Vec::new();
    for served in server.catalog().all().iter().filter(|served| is_shown(served.name.as_str())) {
        let name = served.name.as_str();
        let mut index = json!({"name": name, "attributes": ["open"]});
        let aliases: Vec<&str> = registered.of_index(name).iter().map(|alias| alias.0).collect();
        if !aliases.is_empty() {
            index["aliases"] = json!(aliases);
        }
        if let Some(stream) = registered.streams.keys().find(|stream| backing(stream) == name) {
            index["data_stream"] = json!(stream);
        }
        indexes.push(index);
    }
    let aliases = registered.aliases.iter().filter(|(name, _)| is_it(name));
    let aliases: Vec<Value> = aliases
        .map(|(name, alias)| json!({"name": name, "indices": alias.keys().collect::<Vec<_>>()}))
        .collect();
    let streams = registered.streams.keys().filter(|name| is_it(name));
    let streams: Vec<Value> = streams
        .map(|name| {
            json!({"name": name, "backing_indices": [backing(name)], "timestamp_field": "@timestamp"})
        })
        .collect();
    let body = json!({"indices": indexes, "aliases": aliases, "data_streams": streams});
    Ok(filtered(&parameters, 200, body.to_string()))
}

/// `_search_shards`: each index has one shard, on this node.
pub(super) async fn shards(
    State(server): State<Server>,
    Path(index): Path<String>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let parameters = parameters.end_of_indexes()?;
    let served = names::resolve(&server, &index, may_be_missing)?;
    let names: Vec<&str> = served.iter().map(|served| served.name.as_str()).collect();
    let shard = |name: &&str| {
        json!([{
            "state": "STARTED", "primary": true, "node": NODE, "relocating_node": null, "shard": 0,
            "index": name, "allocation_id": {"id": name}
        }])
    };
    let shards: Vec<Value> = names.iter().map(shard).collect();
    let indexes: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
    let body = json!({"nodes": {NODE: {"name": NODE}}, "indices": indexes, "shards": shards});
    Ok(filtered(&parameters, 200, body.to_string()))
}
