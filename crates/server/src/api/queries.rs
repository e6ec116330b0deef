//! `/api/v1/{index}/queries`: named standing queries, and `/api/v1/{index}/percolate`: which of them does
//! a document match?
//!
//! A query is kept by its name until it is deleted, or its index is. A document that is percolated is not
//! added to the index.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use axum::Json;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use spirit::Operator;

use super::body;
use super::server::{Server, State};
use super::write::read;
use crate::percolating::{NotPercolated, Percolating};
use crate::problem::{Answered, Problem};
use crate::served::Served;

/// The most bytes of a name.
const NAME_BYTES_MAX: usize = 255;
/// The most queries of an index.
const QUERIES_MAX: usize = 100_000;

/// A query, as it is put and shown.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    q: String,
}

#[derive(Serialize)]
pub(super) struct Listed {
    queries: BTreeMap<String, Named>,
}

#[derive(Serialize)]
pub(super) struct Put {
    created: usize,
    replaced: usize,
}

#[derive(Serialize)]
pub(super) struct Matching {
    queries: Vec<String>,
}

pub(super) async fn list(
    State(server): State<Server>,
    Path(index): Path<String>,
) -> Answered<Json<Listed>> {
    let served = server.index(&index)?;
    let registered = server.catalog().registry().now();
    let kept = registered.queries.get(served.name.as_str());
    let named = |(name, q): (&String, &String)| (name.clone(), Named { q: q.clone() });
    Ok(Json(Listed { queries: kept.into_iter().flatten().map(named).collect() }))
}

pub(super) async fn get(
    State(server): State<Server>,
    Path((index, name)): Path<(String, String)>,
) -> Answered<Json<Named>> {
    let served = server.index(&index)?;
    Ok(Json(Named { q: text_of(&server, &served, &name)? }))
}

/// Returns the text of a query.
pub(super) fn text_of(server: &Server, served: &Served, name: &str) -> Answered<String> {
    let registered = server.catalog().registry().now();
    let kept = registered.queries.get(served.name.as_str());
    kept.and_then(|kept| kept.get(name)).cloned().ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Problem {
    Problem::not_found("query-not-found", format!("the index has no query {name:?}"))
}

pub(super) async fn put(
    State(server): State<Server>,
    Path((index, name)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Answered<(StatusCode, Json<Put>)> {
    let body = body::read(&server, &headers, body).await?;
    let named: Named = parsed(&body)?;
    let put = keep(&server, &index, BTreeMap::from([(name, named)])).await?;
    let status = if put.created > 0 { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(put)))
}

/// Puts many queries: all of them, or none if one is not valid.
pub(super) async fn post(
    State(server): State<Server>,
    Path(index): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered<Json<Put>> {
    let body = body::read(&server, &headers, body).await?;
    Ok(Json(keep(&server, &index, parsed(&body)?).await?))
}

fn parsed<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Answered<T> {
    serde_json::from_slice(body).map_err(|error| {
        Problem::bad(format!("{error}; a query is an object with its text as the member q"))
    })
}

async fn keep(server: &Server, index: &str, named: BTreeMap<String, Named>) -> Answered<Put> {
    let served = server.index(index)?;
    if let Some(name) = named.keys().find(|name| !is_name(name)) {
        let what = format!("a name has 1 to {NAME_BYTES_MAX} bytes and no control characters");
        return Err(Problem::bad(format!("{name:?} is no name of a query: {what}")));
    }
    let asked = named.clone();
    let checked = server.ask(served.clone(), move |reader| {
        reader.default_operator(Operator::Or);
        asked.iter().try_for_each(|(name, named)| {
            let parsed = reader.parse(&named.q).map(drop);
            parsed.map_err(|why| Problem::from(why).of(&format!("the query {name:?}")))
        })
    });
    checked.await?;
    let registry = server.clone();
    server.write(move || kept(&registry, &served, named)).await
}

/// True if a query may have this name.
fn is_name(name: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.chars().any(char::is_control)
}

fn kept(server: &Server, served: &Served, named: BTreeMap<String, Named>) -> Answered<Put> {
    let mut put = Put { created: 0, replaced: 0 };
    let registry = server.catalog().registry();
    registry.change(|registered| {
        let queries = registered.queries.entry(served.name.as_str().to_owned()).or_default();
        for (name, Named { q }) in named {
            match queries.insert(name, q) {
                None => put.created += 1,
                Some(_) => put.replaced += 1,
            }
        }
        if queries.len() > QUERIES_MAX {
            return Err(Problem::bad(format!("an index has at most {QUERIES_MAX} queries")));
        }
        Ok(())
    })?;
    Ok(put)
}

pub(super) async fn delete(
    State(server): State<Server>,
    Path((index, name)): Path<(String, String)>,
) -> Answered<StatusCode> {
    let served = server.index(&index)?;
    let registry = server.clone();
    let deleted = server.write(move || {
        registry.catalog().registry().change(|registered| {
            let index = served.name.as_str();
            let queries = registered.queries.get_mut(index);
            queries.and_then(|queries| queries.remove(&name)).ok_or_else(|| missing(&name))?;
            registered.queries.retain(|_, queries| !queries.is_empty());
            Ok::<_, Problem>(())
        })
    });
    deleted.await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn percolate(
    State(server): State<Server>,
    Path(index): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered<Json<Matching>> {
    let served = server.index(&index)?;
    let body = body::read(&server, &headers, body).await?;
    let registered = server.catalog().registry().now();
    let queries = server.write(move || {
        let source = std::str::from_utf8(&body).map_err(|error| {
            Problem::bad(format!("the body is no UTF-8 at byte {}", error.valid_up_to()))
        })?;
        let document = read(source.trim_ascii(), &served).map_err(Problem::bad)?;
        let mut known = served.percolating.lock().unwrap_or_else(PoisonError::into_inner);
        let index = (served.name.as_str(), &served.index);
        let matching = Percolating::matching(&mut known, index, registered, document.to_add());
        matching.map_err(Problem::from)
    });
    Ok(Json(Matching { queries: queries.await? }))
}

impl From<NotPercolated> for Problem {
    fn from(error: NotPercolated) -> Problem {
        match error {
            NotPercolated::Query { name, why } => {
                Problem::from(why).of(&format!("the query {name:?}, which was kept"))
            }
            NotPercolated::Other(error) => error.into(),
        }
    }
}
