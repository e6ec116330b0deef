//! An index that is asked idle and busy in turn: while ingest rests, and while it runs at full speed.
//!
//! Writer and stages are on the first core, the asking thread on the second. In busy rounds the writer adds the corpus again
//! and again as fast as it can; in idle rounds it rests and all stages are done. The heap is full before the first round and the
//! oldest segment goes when a new one needs room, so the index is as large idle as busy.
//!
//! What a query costs depends on how full the fresh segment is, which goes through all there is while ingest runs. So an idle
//! round is in [pieces](PIECES), and before each the writer goes on for [a while](BETWEEN).

use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicU8};
use std::time::{Duration, Instant};

use spirit::{Index, OnFull};

use crate::Fallible;
use crate::cores::{Cores, On};
use crate::corpus::Corpus;
use crate::engine;
use crate::timing::{Latencies, Rounds};

/// Queries timed in a window at most.
const QUERIES_MAX: usize = 2_000_000;
/// Of how many pieces what is asked in a round consists.
const PIECES: u32 = 8;
/// How long the writer goes on before an idle one: a part of what fills a segment.
const BETWEEN: Duration = Duration::from_millis(13);
/// How long the writer may take to follow a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// Documents that the writer adds between looks at what it should do.
const BATCH: usize = 2048;
/// Repetitions of the corpus after which a heap that is not full is not expected to become so.
const REPETITIONS_MAX: usize = 10_000;

/// What the writer should do, and what it does.
struct Orders {
    wanted: AtomicU8,
    /// The writer rests.
    resting: AtomicBool,
}

const REST: u8 = 0;
const WORK: u8 = 1;
const END: u8 = 2;

/// What was measured.
pub(crate) struct Asked {
    /// By what was asked: the idle rounds.
    pub(crate) idle: Vec<Rounds>,
    /// The busy ones.
    pub(crate) busy: Vec<Rounds>,
    /// Documents a second in each busy round.
    pub(crate) rates: Vec<f64>,
}

/// An index whose heap is full, with its stages on the first core.
pub(crate) fn full_index(corpus: &Corpus, cores: Cores) -> Fallible<Index> {
    let _pinned = cores.pin(On::First);
    let index = engine::options(corpus).on_full(OnFull::DropOldest).open()?;
    for _ in 0..REPETITIONS_MAX {
        index.add_all(corpus.iter().map(|text| (None, text)))?;
        index.settle();
        if index.stats()?.dropped_segments > 0 {
            return Ok(index);
        }
    }
    Err("the heap does not become full".into())
}

/// Measures `questions` things idle and busy, `rounds` times each. `ask` is given the number of one, how long to ask it, and the
/// latencies of this round, to which it adds.
pub(crate) fn alternate(
    index: &Index,
    corpus: &Corpus,
    cores: Cores,
    rounds: usize,
    (questions, window): (usize, Duration),
    ask: impl FnMut(usize, Duration, &mut Latencies),
) -> Fallible<Asked> {
    let orders = Orders { wanted: AtomicU8::new(REST), resting: AtomicBool::new(false) };
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let _pinned = cores.pin(On::First);
            write(index, corpus, &orders)
        });
        let _pinned = cores.pin(On::Second);
        let asked = measure(index, &orders, rounds, (questions, window / PIECES), ask);
        orders.wanted.store(END, Release);
        // The writer's own error says more than that it did not follow a request.
        writer.join().map_err(|_| "the writing thread panicked")??;
        asked
    })
}

fn write(index: &Index, corpus: &Corpus, orders: &Orders) -> Result<(), String> {
    let mut next = 0;
    loop {
        match orders.wanted.load(Acquire) {
            WORK => {
                orders.resting.store(false, Release);
                let end = (next + BATCH).min(corpus.len());
                let documents = (next..end).map(|number| (None, corpus.get(number)));
                index.add_all(documents).map_err(|error| error.to_string())?;
                next = if end == corpus.len() { 0 } else { end };
            }
            REST => {
                orders.resting.store(true, Release);
                std::thread::sleep(Duration::from_millis(1));
            }
            _ => return Ok(()),
        }
    }
}

fn measure(
    index: &Index,
    orders: &Orders,
    rounds: usize,
    (questions, piece): (usize, Duration),
    mut ask: impl FnMut(usize, Duration, &mut Latencies),
) -> Fallible<Asked> {
    let mut latencies = Latencies::with_capacity(QUERIES_MAX);
    let mut all = [(); 2].map(|()| vec![Rounds::default(); questions]);
    let mut rates = Vec::new();
    // The first idle round warms up.
    for round in 0..=rounds {
        for (busy, all) in all.iter_mut().enumerate() {
            turn(index, orders, busy == 1)?;
            let (accepted, start) = (index.accepted(), Instant::now());
            for (question, all) in all.iter_mut().enumerate() {
                latencies.clear();
                for _ in 0..PIECES {
                    if busy == 0 {
                        go_on(index, orders)?;
                    }
                    ask(question, piece, &mut latencies);
                }
                if round > 0 {
                    all.push(latencies.summary());
                }
            }
            if busy == 1 && round > 0 {
                rates.push((index.accepted() - accepted) as f64 / start.elapsed().as_secs_f64());
            }
        }
    }
    let [idle, busy] = all;
    Ok(Asked { idle, busy, rates })
}

/// Lets the writer work for a while.
fn go_on(index: &Index, orders: &Orders) -> Fallible<()> {
    turn(index, orders, true)?;
    std::thread::sleep(BETWEEN);
    turn(index, orders, false)
}

/// Makes the writer work or rest, and waits until it does.
fn turn(index: &Index, orders: &Orders, busy: bool) -> Fallible<()> {
    orders.wanted.store(if busy { WORK } else { REST }, Release);
    let patience = Instant::now();
    while orders.resting.load(Acquire) == busy {
        if patience.elapsed() > PATIENCE {
            return Err("the writing thread does not follow requests".into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    if !busy {
        index.settle();
    }
    Ok(())
}
