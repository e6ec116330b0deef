//! Lets requests in, or not: decided on the route that a request matched, and on the indexes in its path.
//!
//! Names in bodies, and patterns, are decided where they become indexes, by [`Server::access`].

use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::server::Server;
use super::trail::Trail;
use crate::client::Client;
use crate::guard::{Access, Denied, Need, Rule};
use crate::problem::Problem;
use crate::rest;

/// What clients without a key are asked for.
const CHALLENGE: &str = r#"ApiKey, Bearer, Basic realm="spirit", charset="UTF-8""#;
/// The parameter of a path that names indexes.
const INDEX: &str = "index";

/// Lets a request in with what its key may do, or refuses it.
pub(super) async fn authorize(
    State(server): State<Server>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    match judged(&server, &mut parts).await {
        Ok(access) => {
            if let Some(trail) = parts.extensions.get::<Arc<Trail>>() {
                trail.let_in(&access);
            }
            parts.extensions.insert(access);
            next.run(Request::from_parts(parts, body)).await
        }
        Err(refused) => refused,
    }
}

async fn judged(server: &Server, parts: &mut Parts) -> Result<Access, Response> {
    let route = parts.extensions.get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let rule = route.as_deref().and_then(|route| Rule::find(route, &parts.method));
    if rule.is_some_and(|rule| rule.need == Need::Open) {
        return Ok(Access::Nothing);
    }
    let access = server.keyring().access(&parts.headers);
    let access = access.map_err(|why| unauthorized(server, parts, why))?;
    if matches!(access, Access::All) {
        return Ok(access);
    }
    match (route.as_deref(), rule) {
        // There is nothing, which the fallback says.
        (None, _) => Ok(access),
        (Some(_), Some(rule)) if access.allows(rule.need) => {
            check_indexes(&access, rule, parts).await?;
            Ok(access)
        }
        (Some(_), Some(rule)) => Err(forbidden(parts, rule.action, access.user())),
        (Some(route), None) if Rule::is_known(route) => {
            Err(super::not_allowed(parts.method.clone(), parts.uri.clone()).await)
        }
        (Some(_), None) => Err(forbidden(parts, "unknown", access.user())),
    }
}

/// Returns a refusal if the path names an index that is not the key's. Patterns stand for those of the
/// key's indexes that they match.
async fn check_indexes(access: &Access, rule: &Rule, parts: &mut Parts) -> Result<(), Response> {
    if !rule.path.contains("{index}") {
        return Ok(());
    }
    let parameters = RawPathParams::from_request_parts(parts, &()).await;
    let parameters = parameters.map_err(IntoResponse::into_response)?;
    let named = parameters.iter().filter(|(name, _)| *name == INDEX);
    let mut names = named.flat_map(|(_, names)| names.split(','));
    let is_pattern = |name: &str| name.contains('*') || name == "_all" || name.starts_with('-');
    match names.all(|name| name.is_empty() || is_pattern(name) || access.is_for(name)) {
        true => Ok(()),
        false => Err(forbidden(parts, rule.action, access.user())),
    }
}

fn unauthorized(server: &Server, parts: &Parts, why: Denied) -> Response {
    if let Some(client) = parts.extensions.get::<Client>() {
        server.refusals().add(*client, why.why());
    }
    let path = parts.uri.path();
    let mut response = match super::is_own(&parts.uri) {
        true => {
            let status = StatusCode::UNAUTHORIZED;
            Problem::new(status, "unauthorized", "A key is needed", why.why()).into_response()
        }
        false => rest::denied(401, format!("{} for REST request [{path}]", why.why())),
    };
    let challenge = HeaderValue::from_static(CHALLENGE);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    response
}

fn forbidden(parts: &Parts, action: &str, user: &str) -> Response {
    match super::is_own(&parts.uri) {
        true => Problem::forbidden(format!("the key {user:?} does not allow {action} here"))
            .into_response(),
        false => rest::denied(403, rest::no_permissions(action, user)),
    }
}
