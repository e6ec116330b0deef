//! What clients of OpenSearch and Elasticsearch speak, at the root.
//!
//! The crate [opensearch](spirit_opensearch) has their words; this room has their paths. Each answer has
//! the header that clients look for, errors too. What is not here is an error, never an empty answer.

mod aliases;
mod analyze;
mod answer;
mod bulk;
mod by_query;
mod cat;
mod change;
mod composed;
mod document;
mod dynamic_settings;
mod explain;
mod fields;
mod hit;
mod hits;
mod identity;
mod index_settings;
mod indices;
mod made_id;
mod making;
mod mapping;
mod marks;
mod names;
mod node;
mod page;
mod parameters;
mod point_in_time;
mod policies;
mod refused;
mod scroll;
mod search;
mod settings;
mod simulate;
mod sliced;
mod state;
mod stats;
mod streams;
mod table;
mod tasks;
mod templates;
mod top_hits;
mod tried;

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use axum::{Extension, Router};

use crate::api::server::Server;
use crate::settings::Settings;
use point_in_time::PointsInTime;
use scroll::Scrolls;
use tasks::Tasks;

/// Clients of Elasticsearch since version 7.14 refuse a server without it.
const PRODUCT: (&str, &str) = ("x-elastic-product", "Elasticsearch");

/// What shippers look for, and make if it is not there: templates and policies.
const SETUP: [&str; 4] = ["/_ilm/", "/_index_template/", "/_template/", "/_component_template/"];

/// Returns all routes.
pub(crate) fn router(settings: &Settings) -> Router<Server> {
    let scroll = get(scroll::next).post(scroll::next).delete(scroll::clear);
    let points = get(point_in_time::show_all).delete(point_in_time::delete_all);
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
        .route("/_search", get(scroll::search).post(scroll::search))
        .route("/{index}/_search", get(scroll::search).post(scroll::search))
        .route("/_search/scroll", scroll.clone())
        .route("/_search/scroll/{id}", scroll)
        .route("/{index}/_search/point_in_time", post(point_in_time::make))
        .route("/_search/point_in_time", delete(point_in_time::delete))
        .route("/_search/point_in_time/_all", points)
        .route("/{index}/_pit", post(point_in_time::open))
        .route("/_pit", delete(point_in_time::close))
        .route("/_msearch", get(search::many).post(search::many))
        .route("/{index}/_msearch", get(search::many).post(search::many))
        .route("/_count", get(search::count).post(search::count))
        .route("/{index}/_count", get(search::count).post(search::count))
        .route("/{index}/_explain/{id}", get(explain::explain).post(explain::explain))
        .route("/_validate/query", get(explain::validate).post(explain::validate))
        .route("/{index}/_validate/query", get(explain::validate).post(explain::validate))
        .route("/{index}", index)
        .route("/{index}/_doc", post(document::post))
        .route("/{index}/_doc/{id}", document)
        .route("/{index}/_create/{id}", put(document::create).post(document::create))
        .route("/{index}/_update/{id}", post(document::update))
        .route("/{index}/_source/{id}", get(document::source).head(document::exists))
        .route("/{index}/_delete_by_query", post(by_query::delete))
        .route("/{index}/_update_by_query", post(by_query::update))
        .route("/_tasks", get(tasks::list))
        .route("/_tasks/{id}", get(tasks::show))
        .route("/_tasks/{id}/_cancel", post(tasks::cancel))
        .route("/_tasks/_cancel", post(tasks::cancel_all))
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
        .route("/_settings", get(settings::show).put(settings::update))
        .route("/_settings/{name}", get(settings::show_named))
        .route("/{index}/_settings", get(settings::show).put(settings::update))
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
        .merge(administration())
        .merge(of_node())
        .layer(Extension(Arc::new(Tasks::default())))
        .layer(Extension(Arc::new(Scrolls::new(settings))))
        .layer(Extension(Arc::new(PointsInTime::new(settings))))
}

/// Returns the routes of aliases, templates and data streams.
fn administration() -> Router<Server> {
    let alias = get(aliases::get).head(aliases::exists_of).put(aliases::put);
    let alias = alias.post(aliases::put).delete(aliases::delete);
    let named = put(aliases::put).post(aliases::put).delete(aliases::delete);
    let stream = get(streams::show).put(streams::make).delete(streams::delete);
    use templates::{components, legacy, of_indexes};
    let index = get(of_indexes::show).head(of_indexes::exists).put(of_indexes::put);
    let index = index.post(of_indexes::put).delete(of_indexes::delete);
    let component = get(components::show).head(components::exists).put(components::put);
    let component = component.post(components::put).delete(components::delete);
    let old = get(legacy::show).head(legacy::exists).put(legacy::put);
    let old = old.post(legacy::put).delete(legacy::delete);
    Router::new()
        .route("/_aliases", post(aliases::steps))
        .route("/_alias", get(aliases::of_all))
        .route("/_alias/{alias}", get(aliases::of_all).head(aliases::exists))
        .route("/{index}/_alias", get(aliases::of))
        .route("/{index}/_alias/{alias}", alias)
        .route("/{index}/_aliases/{alias}", named)
        .route("/_cat/aliases", get(cat::aliases))
        .route("/_cat/aliases/{alias}", get(cat::aliases))
        .route("/_index_template", get(of_indexes::show))
        .route("/_index_template/{name}", index)
        .route("/_index_template/_simulate", post(simulate::template))
        .route("/_index_template/_simulate/{name}", post(simulate::template))
        .route("/_index_template/_simulate_index/{name}", post(simulate::index))
        .route("/_component_template", get(components::show))
        .route("/_component_template/{name}", component)
        .route("/_template", get(legacy::show))
        .route("/_template/{name}", old)
        .route("/_data_stream", get(streams::show))
        .route("/_data_stream/{name}", stream)
        .route("/_ilm/policy/{name}", get(policies::show).put(policies::put))
}

/// Returns the routes about the node.
fn of_node() -> Router<Server> {
    Router::new()
        .route("/_forcemerge", post(node::merge))
        .route("/{index}/_forcemerge", post(node::merge))
        .route("/_cluster/settings", get(node::settings).put(node::set))
        .route("/_cluster/stats", get(node::stats))
        .route("/_nodes", get(node::nodes))
        .route("/_nodes/http", get(node::nodes))
        .route("/_nodes/stats", get(node::node_stats))
        .route("/_resolve/index/{names}", get(node::resolve))
        .route("/{index}/_search_shards", get(node::shards).post(node::shards))
        .route("/_analyze", get(analyze::analyze).post(analyze::analyze))
        .route("/{index}/_analyze", get(analyze::analyze).post(analyze::analyze))
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
