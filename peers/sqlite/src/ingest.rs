//! Task `ingest`: all documents into a fresh database, 10,000 a transaction, round after round.

use crate::database;
use spirit_peer_protocol::{
    Corpus, Fallible, Options, Reporter, count_tokens, directory_bytes, fresh_directory,
};
use std::time::{Duration, Instant};

/// What one round took.
struct Round {
    add: Duration,
    add_commit: Duration,
    bytes: u64,
}

pub(crate) fn ingest(options: &Options, corpus: &Corpus, reporter: Reporter) -> Fallible<()> {
    let tokens: u64 = corpus.iter().map(|(_, text)| count_tokens(text)).sum();
    let rounds = rounds(options, corpus)?;
    reporter.counted("corpus", "docs", "docs", corpus.len() as u64)?;
    reporter.counted("corpus", "tokens", "tokens", tokens)?;
    let report = |name: &str, taken: fn(&Round) -> Duration| -> Fallible<()> {
        let rate = |r: &Round| corpus.len() as f64 / taken(r).as_secs_f64();
        let cost = |r: &Round| taken(r).as_nanos() as f64 / tokens as f64;
        reporter.warmed(name, "docs_per_s", "1/s", &rounds.iter().map(rate).collect::<Vec<_>>())?;
        reporter.warmed(name, "ns_per_token", "ns", &rounds.iter().map(cost).collect::<Vec<_>>())
    };
    report("add", |round| round.add)?;
    report("add_commit", |round| round.add_commit)?;
    let bytes: Vec<f64> = rounds.iter().map(|round| round.bytes as f64).collect();
    reporter.warmed("index", "index_bytes", "bytes", &bytes)
}

/// At least `--rounds` rounds, and at least `--seconds-min` seconds of them.
fn rounds(options: &Options, corpus: &Corpus) -> Fallible<Vec<Round>> {
    let mut rounds: Vec<Round> = Vec::new();
    let mut spent = Duration::ZERO;
    while rounds.len() < options.rounds || spent.as_secs_f64() < options.seconds_min {
        let round = round(options, corpus)?;
        spent += round.add_commit;
        eprintln!("round {}: {:.2} s", rounds.len(), round.add_commit.as_secs_f64());
        rounds.push(round);
    }
    Ok(rounds)
}

fn round(options: &Options, corpus: &Corpus) -> Fallible<Round> {
    let path = fresh_directory(&options.work, "sqlite-ingest")?;
    let connection = database::create(&path)?;
    let start = Instant::now();
    database::add_all(&connection, corpus.iter())?;
    let add = start.elapsed();
    connection.execute_batch("COMMIT")?;
    let add_commit = start.elapsed();
    database::empty_log(&connection)?;
    let bytes = directory_bytes(&path)?;
    drop(connection);
    std::fs::remove_dir_all(&path)?;
    Ok(Round { add, add_commit, bytes })
}
