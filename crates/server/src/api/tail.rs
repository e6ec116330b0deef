//! `/api/v1/{index}/tail`: documents that match a query, as they arrive, as server-sent events.
//!
//! Each event has a document as a search gives it, and as its `id` the place behind it. A client that
//! comes back with `Last-Event-ID` gets what it has not seen. A client that reads slowly keeps nothing in
//! memory here: the engine looks for its documents again.
//!
//! An event `missed` says how many documents were dropped before the client got them, in all. An event
//! `end` says why there are no more.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use spirit::search::{Highlight, Highlighter};
use spirit::{Reader, Tail, Tailing};
use spirit_forms::hit::Hit;
use tokio::sync::{Notify, mpsc, watch};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use super::server::{Parameters, Server, State};
use crate::problem::{Answered, Problem};
use crate::served::Served;

/// Documents that are read at once.
const HITS: usize = 100;
/// Events that wait for the connection. Beyond it, nothing is read from the index.
const EVENTS: usize = 2 * HITS;
/// The time after which a client that gets nothing else gets a comment, so that nobody closes the connection.
const ALIVE: Duration = Duration::from_secs(15);
/// The time between two looks whether the client's key is still in force, though nothing arrives.
const KEY_LOOK: Duration = Duration::from_secs(1);
const REVOKED: &str = "the key was revoked, or has expired";
const SERVER_ENDS: &str = "the server ends; come back with Last-Event-ID";
/// The pause after the threads that answer questions were too busy.
const BUSY: Duration = Duration::from_millis(50);

/// A tail of one client.
struct Listening {
    server: Server,
    /// Weak: a listener keeps no index open that is deleted.
    served: Weak<Served>,
    tail: Arc<Mutex<Heard>>,
    news: Arc<Notify>,
}

/// What a wait ends with.
enum Next {
    /// There may be documents.
    Look,
    HungUp,
    /// The reason why nothing follows.
    End(&'static str),
}

/// What a client listens to.
struct Heard {
    tail: Tail,
    /// The highlighter of the field that the client named.
    highlighter: Option<Highlighter>,
}

/// What was taken at once.
struct Taken {
    events: Vec<Event>,
    missed: u64,
    has_more: bool,
}

pub(super) async fn get(
    State(server): State<Server>,
    Path(index): Path<String>,
    Parameters(pairs): Parameters<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Answered<Response> {
    let (mut query, mut since, mut field) = ("*".to_owned(), None, None);
    for (name, value) in pairs {
        match &*name {
            "q" => query = value,
            "since" => since = Some(value),
            "highlight_field" => field = Some(value),
            _ => {
                let why =
                    format!("{name}: there is no such member; choose of q, since, highlight_field");
                return Err(Problem::bad(why));
            }
        }
    }
    let last = headers.get("last-event-id");
    let last = last.map(|last| last.to_str().map(str::to_owned));
    let last = last.transpose().map_err(|_| Problem::bad("Last-Event-ID is no text"))?;
    let served = server.index(&index)?;
    let news = Arc::new(Notify::new());
    let bell = news.clone();
    let how = Tailing::default().bell(move || bell.notify_one());
    let how = match last.filter(|last| !last.is_empty()).or(since) {
        Some(place) => how.since(place),
        None => how,
    };
    let listener = served.clone();
    // A new standing query waits for the end of a round, which is no work for a thread of the runtime.
    let made = server.ask(listener.clone(), move |reader| {
        let tail = listener.index.tail(&query, how)?;
        let parsed = reader.parse(&query)?;
        let highlight =
            |field: String| reader.highlighter_in(&field, &parsed, Highlight::default());
        Ok((tail, field.map(highlight).transpose()?))
    });
    let (tail, highlighter) = made.await?;
    let tail = Arc::new(Mutex::new(Heard { tail, highlighter }));
    let listening = Listening { server, served: Arc::downgrade(&served), tail, news };
    let (sender, events) = mpsc::channel(EVENTS);
    tokio::spawn(listening.run(sender));
    let events = ReceiverStream::new(events).map(Ok::<Event, Infallible>);
    let stream = Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE));
    // Proxies that know the header pass each event on at once.
    Ok(([("x-accel-buffering", "no")], stream).into_response())
}

impl Listening {
    /// Sends events until the client hangs up or the index ends.
    async fn run(self, events: mpsc::Sender<Event>) {
        let mut ending = self.server.ending();
        let mut missed = 0;
        loop {
            let taken = match self.take().await {
                Ok(taken) => taken,
                Err(problem) if problem.status() == StatusCode::SERVICE_UNAVAILABLE => {
                    tokio::time::sleep(BUSY).await;
                    continue;
                }
                Err(problem) => return send_end(&events, problem.detail()).await,
            };
            if taken.missed > missed {
                missed = taken.missed;
                let event = Event::default().event("missed").data(missed.to_string());
                if events.send(event).await.is_err() {
                    return;
                }
            }
            for event in taken.events {
                if events.send(event).await.is_err() {
                    return;
                }
            }
            if taken.has_more {
                continue;
            }
            match self.wait(&events, &mut ending).await {
                Next::Look => {}
                Next::HungUp => return,
                Next::End(why) => return send_end(&events, why).await,
            }
        }
    }

    /// Waits for the next documents, or for an end.
    async fn wait(&self, events: &mpsc::Sender<Event>, ending: &mut watch::Receiver<bool>) -> Next {
        loop {
            tokio::select! {
                () = self.news.notified() => return Next::Look,
                () = events.closed() => return Next::HungUp,
                _ = ending.wait_for(|over| *over) => return Next::End(SERVER_ENDS),
                () = tokio::time::sleep(KEY_LOOK) => {}
            }
            if !self.is_allowed() {
                return Next::End(REVOKED);
            }
        }
    }

    /// True if the client's key is still in force.
    fn is_allowed(&self) -> bool {
        self.server.keyring().is_in_force(self.server.access())
    }

    /// Takes the next documents, on a thread that has a reader of the index.
    async fn take(&self) -> Answered<Taken> {
        if !self.is_allowed() {
            return Err(Problem::forbidden(REVOKED));
        }
        let Some(served) = self.served.upgrade() else {
            let detail = "the index was closed or deleted";
            return Err(Problem::not_found("index-not-found", detail));
        };
        let (own, tail) = (Arc::downgrade(&served), self.tail.clone());
        let taken = self.server.ask(served, move |reader| {
            let served = own.upgrade().ok_or_else(|| Problem::internal("the index is gone"))?;
            let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
            read(&mut tail, reader, &served)
        });
        taken.await
    }
}

fn read(heard: &mut Heard, reader: &mut Reader, served: &Served) -> Answered<Taken> {
    let Heard { tail, highlighter } = heard;
    let hits = tail.take(reader, HITS)?;
    let settings = served.index.settings();
    let mut events = Vec::with_capacity(hits.len());
    for (hit, place) in hits.iter().zip(tail.places()) {
        // A row may be dropped while others are read.
        let Ok(hit) = Hit::of(&hit, &settings, highlighter.as_mut()) else { continue };
        let json = serde_json::to_string(&hit).map_err(Problem::internal)?;
        // Within JSON this byte is a blank between values, and events end lines with it.
        events.push(Event::default().id(place).data(json.replace('\r', " ")));
    }
    let (missed, has_more) = (tail.missed(), tail.has_more());
    Ok(Taken { events, missed, has_more })
}

async fn send_end(events: &mpsc::Sender<Event>, why: &str) {
    let _ = events.send(Event::default().event("end").data(why)).await;
}
