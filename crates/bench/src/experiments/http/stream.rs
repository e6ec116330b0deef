//! Documents that go in at a fixed rate while others ask, and when they are visible.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::classes::one_word;
use super::client::Connection;
use super::documents::{BULK, INDEX};
use super::side::Side;
use crate::timing::{Latencies, Summary};

/// Documents a second.
pub(super) const RATE: u64 = 20_000;
/// Bulks that may be under way.
const SENDERS: usize = 4;
/// The time from one marked document to the next.
const MARK_EVERY: Duration = Duration::from_millis(200);
/// The time after which a search for a marked document is repeated.
const PAUSE: Duration = Duration::from_millis(2);
/// A marked document that is not found for this long is lost.
const LOST: Duration = Duration::from_secs(60);
/// What makes OpenSearch show documents within 100 ms; ours needs nothing.
const REFRESH: &str = r#"{"index":{"refresh_interval":"100ms"}}"#;

/// A stream under way.
pub(super) struct Stream {
    start: Instant,
    sent: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    senders: Vec<JoinHandle<Result<(), String>>>,
    marker: JoinHandle<Result<Latencies, String>>,
}

/// What came of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// Documents a second that were acknowledged.
    pub(super) rate: f64,
    /// From the begin of the sending of a document until a search finds it.
    pub(super) visible: Summary,
}

impl Stream {
    /// Starts to send the bulks, again and again.
    pub(super) async fn start(side: &Side, bulks: &Arc<[Bytes]>) -> Result<Stream, String> {
        if !side.is_ours {
            let path = format!("/{INDEX}/_settings");
            side.connect().await?.json(Method::PUT, &path, REFRESH).await?;
        }
        let mut connections = side.connect_all(SENDERS + 2).await?;
        let (finder, adder) = (connections.pop(), connections.pop());
        let (finder, adder) = finder.zip(adder).ok_or("no connections")?;
        let (next, sent) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicU64::new(0)));
        let (start, stop) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let senders = connections.into_iter().map(|connection| {
            let sender =
                Sender { connection, bulks: bulks.clone(), next: next.clone(), sent: sent.clone() };
            tokio::spawn(sender.send(start, stop.clone()))
        });
        let senders = senders.collect();
        let marker = tokio::spawn(mark(adder, finder, stop.clone()));
        Ok(Stream { start, sent, stop, senders, marker })
    }

    /// Ends it, and returns what came of it.
    pub(super) async fn end(self) -> Result<Flow, String> {
        let sent = self.sent.load(Relaxed);
        let rate = sent as f64 / self.start.elapsed().as_secs_f64();
        self.stop.store(true, Relaxed);
        for sender in self.senders {
            sender.await.map_err(|error| error.to_string())??;
        }
        let mut visible = self.marker.await.map_err(|error| error.to_string())??;
        Ok(Flow { rate, visible: visible.summary() })
    }
}

struct Sender {
    connection: Connection,
    bulks: Arc<[Bytes]>,
    next: Arc<AtomicUsize>,
    sent: Arc<AtomicU64>,
}

impl Sender {
    /// Sends the next bulk when it is due, or at once if the server is behind.
    async fn send(mut self, start: Instant, stop: Arc<AtomicBool>) -> Result<(), String> {
        let path = format!("/{INDEX}/_bulk");
        while !stop.load(Relaxed) {
            let number = self.next.fetch_add(1, Relaxed);
            let due = Duration::from_micros(number as u64 * BULK as u64 * 1_000_000 / RATE);
            tokio::time::sleep_until((start + due).into()).await;
            let body = self.bulks[number % self.bulks.len()].clone();
            self.connection.bulk(&path, body).await?;
            self.sent.fetch_add(BULK as u64, Relaxed);
        }
        Ok(())
    }
}

/// Sends a document with a word of its own now and then, and looks for it. Does so at least once.
async fn mark(
    mut adder: Connection,
    mut finder: Connection,
    stop: Arc<AtomicBool>,
) -> Result<Latencies, String> {
    let mut visible = Latencies::default();
    let bulk = format!("/{INDEX}/_bulk");
    loop {
        let word = word();
        let body = format!("{{\"index\":{{}}}}\n{}\n", json!({ "text": word }));
        let start = Instant::now();
        adder.bulk(&bulk, Bytes::from(body)).await?;
        until_found(&mut finder, &word, start).await?;
        visible.push(start.elapsed());
        if stop.load(Relaxed) {
            return Ok(visible);
        }
        tokio::time::sleep_until((start + MARK_EVERY).into()).await;
    }
}

/// Returns a word that no document has.
pub(super) fn word() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("benchmarker{}x", NEXT.fetch_add(1, Relaxed))
}

/// Searches until a document with this word is found.
pub(super) async fn until_found(
    finder: &mut Connection,
    word: &str,
    start: Instant,
) -> Result<(), String> {
    let (path, body) = (format!("/{INDEX}/_search"), one_word(word));
    loop {
        let answer = finder.must(Method::POST, &path, body.clone()).await?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        if answer["hits"]["hits"].as_array().is_some_and(|hits| !hits.is_empty()) {
            return Ok(());
        }
        if start.elapsed() > LOST {
            return Err(format!("the document with {word} is not found"));
        }
        tokio::time::sleep(PAUSE).await;
    }
}
