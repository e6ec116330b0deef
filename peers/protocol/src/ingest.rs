//! Tasks `ingest` and `bulk`: all documents into a fresh index, round after round; a peer supplies the
//! round.

use crate::{Corpus, Fallible, Options, Reporter, count_tokens};
use std::time::Duration;

/// What one round took.
pub struct IngestRound {
    /// How long it was until what is named was done, the last of them at the end.
    pub until: [(&'static str, Duration); 2],
    /// Of the finished index.
    pub bytes: u64,
}

/// Runs `round` over and over and reports rates, costs and size.
pub fn measure_ingest(
    options: &Options,
    corpus: &Corpus,
    reporter: Reporter,
    round: impl FnMut() -> Fallible<IngestRound>,
) -> Fallible<()> {
    let tokens: u64 = corpus.iter().map(|(_, text)| count_tokens(text)).sum();
    let rounds = rounds(options, round)?;
    reporter.counted("corpus", "docs", "docs", corpus.len() as u64)?;
    reporter.counted("corpus", "tokens", "tokens", tokens)?;
    for at in 0..2 {
        let name = rounds[0].until[at].0;
        let rate = |r: &IngestRound| corpus.len() as f64 / r.until[at].1.as_secs_f64();
        let cost = |r: &IngestRound| r.until[at].1.as_nanos() as f64 / tokens as f64;
        reporter.warmed(name, "docs_per_s", "1/s", &rounds.iter().map(rate).collect::<Vec<_>>())?;
        reporter.warmed(
            name,
            "ns_per_token",
            "ns",
            &rounds.iter().map(cost).collect::<Vec<_>>(),
        )?;
    }
    let bytes: Vec<f64> = rounds.iter().map(|round| round.bytes as f64).collect();
    reporter.warmed("index", "index_bytes", "bytes", &bytes)
}

/// At least `--rounds` rounds, and at least `--seconds-min` seconds of them.
fn rounds(
    options: &Options,
    mut round: impl FnMut() -> Fallible<IngestRound>,
) -> Fallible<Vec<IngestRound>> {
    let mut rounds: Vec<IngestRound> = Vec::new();
    let mut spent = Duration::ZERO;
    while rounds.len() < options.rounds || spent.as_secs_f64() < options.seconds_min {
        let round = round()?;
        let [_, (_, whole)] = round.until;
        spent += whole;
        eprintln!("round {}: {:.2} s", rounds.len(), whole.as_secs_f64());
        rounds.push(round);
    }
    Ok(rounds)
}
