//! Answers in JSON, filtered by `filter_path`.

use axum::response::Response;

use super::parameters::Parameters;
use super::refused::json;

/// Returns an answer with the parts that the request asks for.
pub(super) fn filtered(parameters: &Parameters, status: u16, body: String) -> Response {
    match &parameters.filter_path {
        Some(path) if !path.is_empty() => json(status, path.apply(&body)),
        _ => json(status, body),
    }
}

/// An empty answer with a status, for `HEAD`.
pub(super) fn empty(status: u16) -> Response {
    let mut response = json(status, String::new());
    response.headers_mut().remove("content-type");
    response
}
