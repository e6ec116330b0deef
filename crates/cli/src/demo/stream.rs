//! The stream: one thread adds the corpus to the index as fast as it goes in.

use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::{Duration, Instant};

use spirit::Index;

use super::corpus::Corpus;
use super::live::Live;
use super::probe::Marker;
use crate::failure::Failure;
use crate::load::after_some;

/// Documents between two looks at the clock and at the probe.
const CHUNK: usize = 256;
/// Time between two looks at the measurements: each look reads 18,000 counters.
const LOOK: Duration = Duration::from_millis(20);

/// The latest end of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub(crate) documents: usize,
    pub(crate) time: Duration,
}

/// How far the stream came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streamed {
    pub(crate) documents: usize,
    pub(crate) time: Duration,
}

/// Adds documents until `end`. A small corpus is repeated until there are enough measurements.
pub(crate) fn run(
    index: &Index,
    corpus: &Corpus,
    end: End,
    live: &Live,
) -> Result<Streamed, Failure> {
    while !live.asking.load(Acquire) {
        std::thread::yield_now();
    }
    let started = Instant::now();
    let added = stream(index, corpus, started, end, live);
    let time = started.elapsed();
    live.ended.store(true, Release);
    added.map(|documents| Streamed { documents, time })
}

fn stream(
    index: &Index,
    corpus: &Corpus,
    started: Instant,
    end: End,
    live: &Live,
) -> Result<usize, Failure> {
    let mut marker = Marker::new(&live.probe, live.started);
    let (mut next, mut next_look) = (0, Duration::ZERO);
    let documents_max = if corpus.len() > 0 { end.documents } else { 0 };
    while next < documents_max && started.elapsed() < end.time {
        if next >= corpus.len() && started.elapsed() >= next_look {
            if live.is_measured() {
                break;
            }
            next_look = started.elapsed() + LOOK;
        }
        if marker.is_wanted() {
            let text = corpus.get(next).unwrap_or_default();
            marker.add(index, text).map_err(|error| at(next, &error))?;
            next += 1;
        } else {
            let end = documents_max.min(next + CHUNK);
            let documents =
                (next..end).filter_map(|number| corpus.get(number)).map(|text| (None, text));
            if let (added, Some(error)) = after_some(index.add_all(documents)) {
                return Err(at(next + added, &error));
            }
            next = end;
        }
        live.added.store(next as u64, Release);
    }
    Ok(next)
}

fn at(number: usize, error: &spirit::WriteError) -> Failure {
    Failure::work(format_args!("document {number}: {error}"))
}
