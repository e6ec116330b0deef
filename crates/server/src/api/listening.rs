//! Listeners to standing queries: what a client hears, however it is connected.
//!
//! A client that reads slowly keeps nothing in memory here: the engine looks for its documents again.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::http::StatusCode;
use spirit::search::{Highlight, Highlighter};
use spirit::{Reader, Tail, Tailing};
use spirit_forms::hit::Hit;
use tokio::sync::{Notify, mpsc, watch};

use super::queries;
use super::server::Server;
use crate::problem::{Answered, Problem};
use crate::served::Served;

/// Documents that are read at once.
const HITS: usize = 100;
/// What waits for a connection. Beyond it, nothing is read from the index.
pub(super) const NEWS_MAX: usize = 2 * HITS;
/// The time between two looks whether the client's key is still in force, though nothing arrives.
pub(super) const KEY_LOOK: Duration = Duration::from_secs(1);
/// The reason why a client without a valid key hears nothing.
pub(super) const REVOKED: &str = "the key was revoked, or has expired";
/// The reason why a server that ends says nothing more.
pub(super) const SERVER_ENDS: &str = "the server ends; come back with the last id or place";
/// The pause after the threads that answer questions were too busy.
const BUSY: Duration = Duration::from_millis(50);

/// What a client asks to hear.
#[derive(Debug, Default)]
pub(super) struct Wish {
    pub(super) q: Option<String>,
    /// The name of a query that is kept.
    pub(super) name: Option<String>,
    pub(super) since: Option<String>,
    pub(super) highlight_field: Option<String>,
}

/// What a client hears.
#[derive(Debug)]
pub(super) enum News {
    /// A document, as JSON, and the place behind it.
    Hit { place: String, json: String },
    /// How many documents were dropped before the client got them, in all.
    Missed(u64),
    /// The reason why nothing follows.
    End(String),
}

/// A standing query of one client.
pub(super) struct Listening {
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
    news: Vec<News>,
    missed: u64,
    has_more: bool,
}

impl Listening {
    /// Enters the standing query.
    pub(super) async fn begin(server: Server, index: &str, wish: Wish) -> Answered<Listening> {
        let served = server.index(index)?;
        let Wish { q, name, since, highlight_field } = wish;
        let query = match (q, name) {
            (Some(_), Some(_)) => return Err(Problem::bad("q and name exclude each other")),
            (query, None) => query.unwrap_or_else(|| "*".to_owned()),
            (None, Some(name)) => queries::text_of(&server, &served, &name)?,
        };
        let news = Arc::new(Notify::new());
        let bell = news.clone();
        let how = Tailing::default().bell(move || bell.notify_one());
        let how = match since {
            Some(place) => how.since(place),
            None => how,
        };
        let listener = served.clone();
        // A new standing query waits for the end of a round, which is no work for a thread of the runtime.
        let made = server.ask(served.clone(), move |reader| {
            let tail = listener.index.tail(&query, how)?;
            let parsed = reader.parse(&query)?;
            let highlight =
                |field: String| reader.highlighter_in(&field, &parsed, Highlight::default());
            Ok((tail, highlight_field.map(highlight).transpose()?))
        });
        let (tail, highlighter) = made.await?;
        let tail = Arc::new(Mutex::new(Heard { tail, highlighter }));
        Ok(Listening { server, served: Arc::downgrade(&served), tail, news })
    }

    /// Tells the client, until it hangs up or the index ends. `said` makes what is sent of news.
    pub(super) async fn run<T>(self, to: mpsc::Sender<T>, said: impl Fn(News) -> T) {
        let mut ending = self.server.ending();
        let mut missed = 0;
        loop {
            let taken = match self.take().await {
                Ok(taken) => taken,
                Err(problem) if problem.status() == StatusCode::SERVICE_UNAVAILABLE => {
                    tokio::time::sleep(BUSY).await;
                    continue;
                }
                Err(problem) => {
                    let _ = to.send(said(News::End(problem.detail().to_owned()))).await;
                    return;
                }
            };
            if taken.missed > missed {
                missed = taken.missed;
                if to.send(said(News::Missed(missed))).await.is_err() {
                    return;
                }
            }
            for news in taken.news {
                if to.send(said(news)).await.is_err() {
                    return;
                }
            }
            if taken.has_more {
                continue;
            }
            match self.wait(&to, &mut ending).await {
                Next::Look => {}
                Next::HungUp => return,
                Next::End(why) => {
                    let _ = to.send(said(News::End(why.to_owned()))).await;
                    return;
                }
            }
        }
    }

    /// Waits for the next documents, or for an end.
    async fn wait<T>(&self, to: &mpsc::Sender<T>, ending: &mut watch::Receiver<bool>) -> Next {
        loop {
            tokio::select! {
                () = self.news.notified() => return Next::Look,
                () = to.closed() => return Next::HungUp,
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
    let mut news = Vec::with_capacity(hits.len());
    for (hit, place) in hits.iter().zip(tail.places()) {
        // A row may be dropped while others are read.
        let Ok(hit) = Hit::of(&hit, &settings, highlighter.as_mut()) else { continue };
        let json = serde_json::to_string(&hit).map_err(Problem::internal)?;
        news.push(News::Hit { place, json });
    }
    let (missed, has_more) = (tail.missed(), tail.has_more());
    Ok(Taken { news, missed, has_more })
}
