//! `/api/v1/{index}/search` and `/count`: the questions of `spirit search`, with the same answers.
//!
//! Members of a query string and of a JSON body have the same names. A body's array is a member that is
//! there several times.

mod asked;

use axum::Json;
use axum::body::Body;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Serialize;
use spirit::search::Total;
use spirit::{Lenient, Reader};
use spirit_forms::answer::Answer;
use spirit_forms::question::Counting;

use super::body;
use super::server::{Parameters, Server, State, json};
use crate::problem::{Answered, Problem};
use asked::Asked;

type Pairs = Vec<(String, String)>;

pub(super) async fn get(
    State(server): State<Server>,
    Path(index): Path<String>,
    Parameters(pairs): Parameters<Pairs>,
) -> Answered<Response> {
    answer(&server, &index, Asked::read(pairs)?).await
}

pub(super) async fn post(
    State(server): State<Server>,
    Path(index): Path<String>,
    Parameters(mut pairs): Parameters<Pairs>,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let body = body::read(&server, &headers, body).await?;
    pairs.extend(asked::pairs(&body)?);
    answer(&server, &index, Asked::read(pairs)?).await
}

async fn answer(server: &Server, index: &str, asked: Asked) -> Answered<Response> {
    let served = server.index(index)?;
    asked.check(&served.index)?;
    let (asked_of, trail) = (served.clone(), server.trail().clone());
    let found = server.ask(served, move |reader| {
        asked.prepare(reader);
        let answer = Answer::of(&asked_of.index, reader, &asked.text, &asked.question)?;
        trail.found(answer.count);
        serde_json::to_vec(&answer).map_err(Problem::internal)
    });
    Ok(json(found.await?))
}

#[derive(Serialize)]
pub(super) struct Counted {
    count: u64,
    exact: bool,
}

pub(super) async fn count(
    State(server): State<Server>,
    Path(index): Path<String>,
    Parameters(pairs): Parameters<Pairs>,
) -> Answered<Json<Counted>> {
    let (served, asked) = (server.index(&index)?, Asked::read(pairs)?);
    asked.check(&served.index)?;
    let total = server.ask(served, move |reader| {
        asked.prepare(reader);
        count_of(reader, &asked)
    });
    let total = total.await?;
    server.trail().found(total.count());
    Ok(Json(Counted { count: total.count(), exact: total.is_exact() }))
}

fn count_of(reader: &mut Reader, asked: &Asked) -> Answered<Total> {
    let text = &*asked.text;
    Ok(match (asked.question.counting, asked.question.lenient) {
        (Counting::UpTo(u64::MAX) | Counting::No, true) => {
            Total::Exact(reader.count(Lenient(text))?)
        }
        (Counting::UpTo(u64::MAX) | Counting::No, false) => Total::Exact(reader.count(text)?),
        (Counting::UpTo(limit), true) => reader.count_up_to(Lenient(text), limit)?,
        (Counting::UpTo(limit), false) => reader.count_up_to(text, limit)?,
    })
}
