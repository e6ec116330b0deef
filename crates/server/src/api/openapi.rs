//! `/api/v1/openapi.json`: a description of our own paths for programs, kept as one document.
//!
//! A test compares it with the table of routes, and with what the server answers.

use axum::response::Response;

use super::server::json;

const DOCUMENT: &str = include_str!("openapi.json");

pub(super) async fn show() -> Response {
    json(DOCUMENT.into())
}
