//! `/api/v1/{index}/socket`: many standing queries over one WebSocket.
//!
//! A client sends `{"listen": "ID", "q": "..."}`, with `name`, `since` and `highlight_field` as a tail has
//! them, and `{"leave": "ID"}`. It gets messages with the `id` of the query that they are about:
//!
//! | member | |
//! |---|---|
//! | `listening` | `true`: documents from now on, or since the place, will come |
//! | `hit`, `place` | a document as a search gives it, and the place behind it |
//! | `missed` | how many documents were dropped before the client got them, in all |
//! | `end` | the reason why nothing follows: also after `leave` |
//! | `error` | what was wrong with a message |
//!
//! Browsers let every page open sockets everywhere. So a page of another origin is refused. They send no
//! header `Authorization` either: the key is a second protocol beside `spirit`.

use std::collections::HashMap;
use std::time::Duration;

use axum::extract::Path;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::AbortHandle;

use super::listening::{KEY_LOOK, Listening, NEWS_MAX, News, REVOKED, SERVER_ENDS, Wish};
use super::server::{Server, State};
use crate::problem::{Answered, Problem};

/// The protocol that is spoken.
const PROTOCOL: &str = "spirit";
/// The most bytes of a client's message.
const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// The most queries of a socket.
const QUERIES_MAX: usize = 1_000;
/// The time after which a client that gets nothing else gets a ping, so that nobody closes the connection.
const ALIVE: Duration = Duration::from_secs(15);

/// What a client sends.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    listen: Option<String>,
    leave: Option<String>,
    q: Option<String>,
    name: Option<String>,
    since: Option<String>,
    highlight_field: Option<String>,
}

/// What a client gets.
#[derive(Default, Serialize)]
struct Said<'t> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'t str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    listening: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hit: Option<&'t RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'t str>,
}

impl Said<'_> {
    fn message(&self) -> Message {
        Message::text(serde_json::to_string(self).unwrap_or_default())
    }
}

pub(super) async fn get(
    State(server): State<Server>,
    Path(index): Path<String>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answered<Response> {
    server.index(&index)?;
    let upgrade = upgrade.map_err(|why| {
        let (status, title) = (StatusCode::UPGRADE_REQUIRED, "A WebSocket is opened here");
        Problem::new(status, "websocket-required", title, why.body_text())
    })?;
    check_origin(&headers)?;
    let permit = server.socket()?;
    let upgrade = upgrade.protocols([PROTOCOL]).max_message_size(MESSAGE_BYTES_MAX);
    let session = Session { server, index, queries: HashMap::new(), _permit: permit };
    Ok(upgrade.on_upgrade(|socket| session.run(socket)))
}

/// Refuses pages of other origins.
fn check_origin(headers: &HeaderMap) -> Answered<()> {
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let of_origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    match (of_origin, host) {
        (Some((_, of_origin)), Some(host)) if of_origin.eq_ignore_ascii_case(host) => Ok(()),
        _ => Err(Problem::forbidden("a page of another origin cannot listen here")),
    }
}

/// What a session waits for.
enum Came {
    Received(Message),
    News(Message),
    /// The server ends.
    End,
    Nothing,
}

/// The queries of a client.
struct Session {
    server: Server,
    index: String,
    /// Those that were not left. One that has ended is there until its id is used again.
    queries: HashMap<String, AbortHandle>,
    _permit: OwnedSemaphorePermit,
}

impl Session {
    async fn run(mut self, mut socket: WebSocket) {
        let (to, mut news) = mpsc::channel::<Message>(NEWS_MAX);
        let mut ending = self.server.ending();
        let mut alive = tokio::time::interval(ALIVE);
        let mut key = tokio::time::interval(KEY_LOOK);
        let end = loop {
            let came = tokio::select! {
                received = socket.recv() => match received {
                    Some(Ok(message)) => Came::Received(message),
                    Some(Err(_)) | None => return,
                },
                Some(message) = news.recv() => Came::News(message),
                _ = ending.wait_for(|over| *over) => Came::End,
                _ = alive.tick() => Came::News(Message::Ping(Vec::new().into())),
                _ = key.tick() => Came::Nothing,
            };
            if !self.server.keyring().is_in_force(self.server.access()) {
                break REVOKED;
            }
            let message = match came {
                Came::Received(Message::Close(_)) => return,
                Came::Received(received) => self.receive(&received, &to).await,
                Came::News(message) => Some(message),
                Came::End => break SERVER_ENDS,
                Came::Nothing => None,
            };
            if let Some(message) = message
                && socket.send(message).await.is_err()
            {
                return;
            }
        };
        let _ = socket.send(Said { end: Some(end), ..Said::default() }.message()).await;
        let _ = socket.send(Message::Close(None)).await;
    }

    /// Does what a message says, and returns the answer.
    async fn receive(&mut self, message: &Message, to: &mpsc::Sender<Message>) -> Option<Message> {
        let text = match message {
            Message::Text(text) => text.as_str(),
            Message::Binary(_) => return Some(wrong(None, "a message is text, an object of JSON")),
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => return None,
        };
        let sent: Sent = match serde_json::from_str(text) {
            Ok(sent) => sent,
            Err(error) => return Some(wrong(None, &error.to_string())),
        };
        match (sent.listen.clone(), sent.leave.clone()) {
            (Some(id), None) => Some(match self.listen(&id, sent, to.clone()).await {
                Ok(()) => Said { id: Some(&id), listening: true, ..Said::default() }.message(),
                Err(problem) => wrong(Some(&id), problem.detail()),
            }),
            (None, Some(id)) => Some(match self.queries.remove(&id) {
                Some(query) => {
                    query.abort();
                    Said { id: Some(&id), end: Some("left"), ..Said::default() }.message()
                }
                None => wrong(Some(&id), "there is no query of this id"),
            }),
            _ => Some(wrong(None, "a message has the member listen, or the member leave")),
        }
    }

    async fn listen(&mut self, id: &str, sent: Sent, to: mpsc::Sender<Message>) -> Answered<()> {
        self.queries.retain(|_, query| !query.is_finished());
        if self.queries.contains_key(id) {
            return Err(Problem::bad("there is a query of this id; leave it first"));
        }
        if self.queries.len() >= QUERIES_MAX {
            return Err(Problem::bad(format!("a socket has at most {QUERIES_MAX} queries")));
        }
        let Sent { q, name, since, highlight_field, .. } = sent;
        let wish = Wish { q, name, since, highlight_field };
        let listening = Listening::begin(self.server.clone(), &self.index, wish).await?;
        let own = id.to_owned();
        let query = tokio::spawn(listening.run(to, move |news| said(&own, &news)));
        self.queries.insert(id.to_owned(), query.abort_handle());
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.queries.values().for_each(AbortHandle::abort);
    }
}

fn wrong(id: Option<&str>, error: &str) -> Message {
    Said { id, error: Some(error), ..Said::default() }.message()
}

fn said(id: &str, news: &News) -> Message {
    let said = Said { id: Some(id), ..Said::default() };
    match news {
        News::Hit { place, json } => {
            let hit = serde_json::from_str(json).ok();
            Said { place: Some(place), hit, ..said }.message()
        }
        News::Missed(count) => Said { missed: Some(*count), ..said }.message(),
        News::End(why) => Said { end: Some(why), ..said }.message(),
    }
}
