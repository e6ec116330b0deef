//! `/api/v1/{index}/tail`: documents that match a query, as they arrive, as server-sent events.
//!
//! Each event has a document as a search gives it, and as its `id` the place behind it. A client that
//! comes back with `Last-Event-ID` gets what it has not seen.
//!
//! An event `missed` says how many documents were dropped before the client got them, in all. An event
//! `end` says why there are no more.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use super::listening::{Listening, NEWS_MAX, News, Wish};
use super::server::{Parameters, Server, State};
use crate::problem::{Answered, Problem};

/// The time after which a client that gets nothing else gets a comment, so that nobody closes the connection.
const ALIVE: Duration = Duration::from_secs(15);

pub(super) async fn get(
    State(server): State<Server>,
    Path(index): Path<String>,
    Parameters(pairs): Parameters<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Answered<Response> {
    let mut wish = wish(pairs)?;
    let last = headers.get("last-event-id");
    let last = last.map(|last| last.to_str().map(str::to_owned));
    let last = last.transpose().map_err(|_| Problem::bad("Last-Event-ID is no text"))?;
    wish.since = last.filter(|last| !last.is_empty()).or(wish.since);
    let listening = Listening::begin(server, &index, wish).await?;
    let (sender, events) = mpsc::channel(NEWS_MAX);
    tokio::spawn(listening.run(sender, event));
    let events = ReceiverStream::new(events).map(Ok::<Event, Infallible>);
    let stream = Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE));
    // Proxies that know the header pass each event on at once.
    Ok(([("x-accel-buffering", "no")], stream).into_response())
}

fn wish(pairs: Vec<(String, String)>) -> Answered<Wish> {
    let mut wish = Wish::default();
    for (name, value) in pairs {
        match &*name {
            "q" => wish.q = Some(value),
            "name" => wish.name = Some(value),
            "since" => wish.since = Some(value),
            "highlight_field" => wish.highlight_field = Some(value),
            _ => {
                let members = "q, name, since, highlight_field";
                let why = format!("{name}: there is no such member; choose of {members}");
                return Err(Problem::bad(why));
            }
        }
    }
    Ok(wish)
}

fn event(news: News) -> Event {
    match news {
        // Within JSON this byte is a blank between values, and events end lines with it.
        News::Hit { place, json } => Event::default().id(place).data(json.replace('\r', " ")),
        News::Missed(count) => Event::default().event("missed").data(count.to_string()),
        News::End(why) => Event::default().event("end").data(why),
    }
}
