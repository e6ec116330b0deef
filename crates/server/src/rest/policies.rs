//! Policies of life cycles. Shippers look for one, and make it if it is not there. None is kept.

use axum::extract::Path;
use axum::response::Response;
use spirit_opensearch::error::Refusal;

use super::aliases::ACKNOWLEDGED;
use super::answer::filtered;
use super::parameters::Parameters;
use super::refused::Answered;

pub(super) async fn show(Path(name): Path<String>) -> Answered<Response> {
    let reason = format!("Lifecycle policy not found: {name}");
    Err(Refusal::new("resource_not_found_exception", 404, reason).into())
}

/// Shippers end if it is refused. An index keeps its documents as its own settings say.
pub(super) async fn put(parameters: Parameters) -> Answered<Response> {
    let parameters = parameters.end_of_write()?;
    Ok(filtered(&parameters, 200, ACKNOWLEDGED.to_owned()))
}
