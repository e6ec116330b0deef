//! What clients of OpenSearch and Elasticsearch speak, at the root.
//!
//! The crate [opensearch](spirit_opensearch) has their words; this room has their paths. Each answer has
//! the header that clients look for, errors too. What is not here is an error, never an empty answer.

mod answer;
mod bulk;
mod cat;
mod change;
mod document;
mod fields;
mod hits;
mod identity;
mod indices;
mod mapping;
mod names;
mod parameters;
mod refused;
mod search;
mod settings;
mod state;
mod stats;
mod table;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};

use crate::api::server::Server;

/// Clients of Elasticsearch since version 7.14 refuse a server without it.
const PRODUCT: (&str, &str) = ("x-elastic-product", "Elasticsearch");

/// What shippers look for, and make if it is not there: templates and policies.
const SETUP: [&str; 4] = ["/_ilm/", "/_index_template/", "/_template/", "/_component_template/"];

/// Returns all routes.
pub(crate) fn router() -> Router<Server> {
    let index = get(indices::show).head(indices::exists).put(indices::make).delete(indices::delete);
    let document = get(document::get).head(document::exists).put(document::put);
    let document = document.post(document::put).delete(document::delete);
    Router::new()
        .route("/", get(identity::root))
        .route("/_license", get(identity::license))
        .route("/_cluster/health", get(identity::health))
        .route("/_cluster/health/{index}", get(identity::health))
        .route("/_bulk", post(bulk::bulk).put(bulk::bulk))
        .route("/{index}/_bulk", post(bulk::bulk).put(bulk::bulk))
        .route("/_search", get(search::one).post(search::one))
        .route("/{index}/_search", get(search::one).post(search::one))
        .route("/_msearch", get(search::many).post(search::many))
        .route("/{index}/_msearch", get(search::many).post(search::many))
        .route("/_count", get(search::count).post(search::count))
        .route("/{index}/_count", get(search::count).post(search::count))
        .route("/{index}", index)
        .route("/{index}/_doc", post(document::post))
        .route("/{index}/_doc/{id}", document)
        .route("/{index}/_create/{id}", put(document::create).post(document::create))
        .route("/{index}/_update/{id}", post(document::update))
        .route("/{index}/_source/{id}", get(document::source).head(document::exists))
        .route("/_mget", get(document::many).post(document::many))
        .route("/{index}/_mget", get(document::many).post(document::many))
        .route("/_refresh", get(indices::refresh).post(indices::refresh))
        .route("/{index}/_refresh", get(indices::refresh).post(indices::refresh))
        .route("/{index}/_flush", get(indices::refresh).post(indices::refresh))
        .route("/_mapping", get(indices::mapping))
        .route("/{index}/_mapping", get(indices::mapping))
        .route("/_mapping/field/{fields}", get(fields::of_mapping))
        .route("/{index}/_mapping/field/{fields}", get(fields::of_mapping))
        .route("/_field_caps", get(fields::capabilities).post(fields::capabilities))
        .route("/{index}/_field_caps", get(fields::capabilities).post(fields::capabilities))
        .route("/_settings", get(settings::show))
        .route("/_settings/{name}", get(settings::show_named))
        .route("/{index}/_settings", get(settings::show))
        .route("/{index}/_settings/{name}", get(settings::show_named))
        .route("/_stats", get(stats::all))
        .route("/_stats/{metrics}", get(stats::some))
        .route("/{index}/_stats", get(stats::all))
        .route("/{index}/_stats/{metrics}", get(stats::some))
        .route("/_cat/indices", get(cat::indices))
        .route("/_cat/indices/{index}", get(cat::indices))
        .route("/_cat/health", get(cat::health))
        .route("/_cat/count", get(cat::count))
        .route("/_cat/count/{index}", get(cat::count))
}

/// The answer to a path that is not here.
pub(crate) fn unknown(method: &Method, path: &str) -> Response {
    let error = format!("no handler found for uri [{path}] and method [{method}]");
    // Shippers take 404 for a template that does not exist, and anything else for a broken server.
    let status = if SETUP.iter().any(|setup| path.starts_with(setup)) { 404 } else { 400 };
    refused::json(status, serde_json::json!({ "error": error, "status": status }).to_string())
}

/// The answer to a request that is not let in.
pub(crate) fn denied(status: u16, reason: String) -> Response {
    refused::denied(status, reason).into_response()
}

/// Returns the reason of a request that its key does not allow, in OpenSearch's words.
pub(crate) fn no_permissions(action: &str, user: &str) -> String {
    format!(
        "no permissions for [{action}] and User [name={user}, backend_roles=[], requestedTenant=null]"
    )
}

/// The answer to a method that a path does not take.
pub(crate) fn not_allowed(method: &Method, path: &str) -> Response {
    let error = format!("Incorrect HTTP method for uri [{path}] and method [{method}]");
    refused::json(405, serde_json::json!({ "error": error, "status": 405 }).to_string())
}

/// Adds the header that clients look for, to problems too.
pub(crate) async fn named(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let (name, value) = PRODUCT;
    response.headers_mut().insert(name, HeaderValue::from_static(value));
    response
}
