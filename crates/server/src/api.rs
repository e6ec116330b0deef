//! The API of our own, below `/api/v1`, and what operators ask.

mod authorize;
mod backup;
pub(crate) mod body;
mod budget;
mod documents;
mod entry;
mod grow;
mod health;
pub(crate) mod held;
mod indexes;
mod listening;
mod metrics;
mod observe;
mod openapi;
mod queries;
mod search;
pub(crate) mod server;
mod tail;
pub(crate) mod trail;
mod websocket;
mod write;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::problem::Problem;
use crate::{page, rest};
use server::Server;

/// Returns all routes.
pub(crate) fn router(server: Server) -> Router {
    let index = get(indexes::show).put(indexes::make).delete(indexes::delete);
    let document = get(documents::get).put(documents::put).delete(documents::delete);
    let query = get(queries::get).put(queries::put).delete(queries::delete);
    Router::new()
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", get(metrics::show))
        .route("/api/v1", get(indexes::list))
        .route("/api/v1/version", get(health::version))
        .route("/api/v1/openapi.json", get(openapi::show))
        .route("/api/v1/{index}", index)
        .route("/api/v1/{index}/backup", post(backup::post))
        .route("/api/v1/{index}/grow", post(grow::post))
        .route("/api/v1/{index}/stats", get(indexes::stats))
        .route("/api/v1/{index}/schema", get(indexes::schema))
        .route("/api/v1/{index}/documents", post(write::post))
        .route("/api/v1/{index}/documents/{*key}", document)
        .route("/api/v1/{index}/search", get(search::get).post(search::post))
        .route("/api/v1/{index}/count", get(search::count))
        .route("/api/v1/{index}/tail", get(tail::get))
        .route("/api/v1/{index}/socket", get(websocket::get))
        .route("/api/v1/{index}/queries", get(queries::list).post(queries::post))
        .route("/api/v1/{index}/queries/{name}", query)
        .route("/api/v1/{index}/percolate", post(queries::percolate))
        .merge(rest::router(server.settings()))
        .merge(page::router())
        .fallback(unknown)
        .method_not_allowed_fallback(not_allowed)
        .layer(from_fn_with_state(server.clone(), authorize::authorize))
        .layer(from_fn(rest::named))
        .layer(from_fn(page::at_root))
        .layer(from_fn_with_state(server.clone(), observe::observe))
        // Bodies are limited where they are read, with a message of our own.
        .layer(DefaultBodyLimit::disable())
        .with_state(server)
}

/// True if a path is below those of our own.
fn is_own(uri: &Uri) -> bool {
    let path = uri.path();
    path.starts_with("/api/") || path.starts_with("/health/") || path == "/metrics"
}

async fn unknown(method: Method, uri: Uri) -> Response {
    if !is_own(&uri) {
        return rest::unknown(&method, uri.path());
    }
    let detail = format!("{} is no path of this server; /api/v1 lists the indexes", uri.path());
    Problem::not_found("unknown-path", detail).into_response()
}

async fn not_allowed(method: Method, uri: Uri) -> Response {
    if !is_own(&uri) {
        return rest::not_allowed(&method, uri.path());
    }
    let (status, title) = (StatusCode::METHOD_NOT_ALLOWED, "The method is not allowed here");
    let detail = format!("{} does not take {method}", uri.path());
    Problem::new(status, "method-not-allowed", title, detail).into_response()
}
