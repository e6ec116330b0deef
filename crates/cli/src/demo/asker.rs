//! The asker: another thread that queries the index while documents stream in.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::{Duration, Instant};

use spirit::{Index, Reader, Search};

use super::corpus::Corpus;
use super::live::{Kind, Live};
use super::probe::Watcher;
use crate::failure::Failure;
use spirit::lab::Random;

/// Hits of a query.
const K: usize = 10;
/// How long ordinary queries are asked between two probes.
const BETWEEN_PROBES: Duration = Duration::from_millis(1);
/// A pause after them: with the stream and the flush stage there are three threads, on two cores in the least.
/// Without it they would never stop contending for them, and the probes would measure that too.
const PAUSE: Duration = Duration::from_millis(1);
/// A moment ago: among this many documents.
const FRESH_DOCUMENTS: u64 = 256;

pub(crate) struct Asker<'a> {
    corpus: &'a Corpus,
    live: &'a Live,
    reader: Reader,
    watcher: Watcher<'a>,
    random: Random,
    query: String,
    key: Vec<u8>,
}

impl<'a> Asker<'a> {
    pub(crate) fn new(
        index: &'a Index,
        corpus: &'a Corpus,
        live: &'a Live,
        seed: u64,
    ) -> Result<Asker<'a>, Failure> {
        Ok(Asker {
            corpus,
            live,
            reader: index.reader().map_err(Failure::work)?,
            watcher: Watcher::new(&live.probe, live.started),
            random: Random::new(!seed),
            query: String::new(),
            key: Vec::new(),
        })
    }

    /// Asks until the stream has ended.
    pub(crate) fn run(mut self) {
        let ended = || self.live.ended.load(Acquire);
        self.live.asking.store(true, Release);
        while !ended() {
            self.watcher.watch(&mut self.reader, ended);
            let next_probe = Instant::now() + BETWEEN_PROBES;
            while Instant::now() < next_probe && !ended() {
                for kind in Kind::ALL {
                    self.ask(kind);
                }
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn ask(&mut self, kind: Kind) {
        let added = self.live.added.load(Acquire);
        if added == 0 || self.write_query(kind, added).is_none() {
            return;
        }
        let started = Instant::now();
        // The words are plain: there is nothing to misread in them.
        let Ok(hits) = self.reader.search(&self.query, Search::newest(K)) else { return };
        self.live.latency(kind).record(started.elapsed().as_nanos() as u64);
        if kind != Kind::Fresh {
            return;
        }
        let Some(newest) = hits.get(0) else {
            self.live.missed.fetch_add(1, Relaxed);
            return;
        };
        self.key.clear();
        if newest.write_key(&mut self.key).is_err() {
            return;
        }
        let number = std::str::from_utf8(&self.key).ok().and_then(|key| key.parse::<u64>().ok());
        self.live.newest_hit.store(number.map_or(0, |number| number + 1), Relaxed);
    }

    /// Words are drawn from documents, so frequent ones are asked for often. Two words are of one document.
    fn write_query(&mut self, kind: Kind, added: u64) -> Option<()> {
        let number = match kind {
            Kind::Fresh => added - 1 - self.random.below(added.min(FRESH_DOCUMENTS)),
            _ => self.random.below(added),
        } as usize;
        self.query.clear();
        self.query.push_str(self.corpus.word(number, &mut self.random)?);
        let operator = match kind {
            Kind::Fresh | Kind::One => return Some(()),
            Kind::Both => " AND ",
            Kind::Either => " OR ",
        };
        self.query.push_str(operator);
        self.query.push_str(self.corpus.word(number, &mut self.random)?);
        Some(())
    }
}
