//! Part of `ingest`: what a token costs, step by step.
//!
//! Tokenizing, and hashing of term keys, are timed alone over the whole corpus. Filling is timed with as many
//! documents as go into one segment, so that nothing is flushed; several such parts of the corpus, each into an
//! index of its own. The last steps are the whole ingest of all documents, until `add_all` returns and until
//! everything full is flushed. All on one core, in ns a token, the median over rounds.
//!
//! Caveats: the floor (BASELINE §8.1) is throw-away code without keys, Unicode folding and readers, measured on
//! an AVX-512 machine that need not be this one.

use std::hint::black_box;
use std::time::Instant;

use serde_json::json;
use spirit_index::ground::{FieldId, TermKey};
use spirit_kernel::Level;
use spirit_text::{Analyzer, Tokenizer};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Table, number};
use crate::timing::median;

/// Tokens that go into one segment with room to spare.
const SEGMENT_TOKENS: usize = 3_000_000;
const DOCUMENT_BYTES_MAX: usize = 1 << 20;

/// A step: its name, the floor for posts and articles, ns a token of each round.
type Step = (&'static str, [&'static str; 2], Vec<f64>);

/// Measures and prints the steps; the last two are measured already, as seconds a round.
pub(super) fn run(
    bench: &mut Bench,
    corpus: &Corpus,
    [added, settled]: [&[f64]; 2],
) -> Fallible<()> {
    let per_token =
        |seconds: &[f64]| seconds.iter().map(|s| s * 1e9 / corpus.tokens as f64).collect();
    let rounds = bench.rounds;
    let _pinned = bench.cores.pin(On::Second);
    let over =
        |level, job: Job| per_token(&(0..rounds).map(|_| job(corpus, level)).collect::<Vec<_>>());
    let steps: [Step; 7] = [
        ("tokenize, portable", ["13.2", "12.3"], over(Level::Portable, tokenize)),
        ("tokenize", ["1.9", "0.4"], over(Level::detect(), tokenize)),
        ("tokenize, hash, portable", ["", ""], over(Level::Portable, tokenize_and_hash)),
        ("tokenize, hash", ["2.9", "1.7"], over(Level::detect(), tokenize_and_hash)),
        ("fill a segment, no flush", ["11.1", "9.8"], fill(bench, corpus)?),
        ("add all", ["", ""], per_token(added)),
        ("add all, flush", ["15 to 18", "14 to 17"], per_token(settled)),
    ];
    let floor = usize::from(!corpus.is_short());
    let title = format!("{}: ns a token by step, one core", corpus.name);
    let mut table = Table::new(title, &["step", "ours", "floor (BASELINE §8.1)"]);
    for (name, floors, runs) in &steps {
        table.line([*name, &number(median(runs)), floors[floor]]);
        bench.report.row("spirit", &[("step", json!(name))], "ns_per_token", "ns", runs)?;
    }
    table.print();
    Ok(())
}

/// Does something with every token and says how many seconds it took.
type Job = fn(&Corpus, Level) -> f64;

fn tokenize(corpus: &Corpus, level: Level) -> f64 {
    let mut tokenizer = Tokenizer::with_level(Analyzer::Simple, DOCUMENT_BYTES_MAX, level);
    let mut sum = 0;
    let start = Instant::now();
    for text in corpus.iter() {
        // Too long a document is not tokenized by the engine either.
        let _ = tokenizer.for_each(text, |token| sum += token.len());
    }
    black_box(sum);
    start.elapsed().as_secs_f64()
}

fn tokenize_and_hash(corpus: &Corpus, level: Level) -> f64 {
    let mut tokenizer = Tokenizer::with_level(Analyzer::Simple, DOCUMENT_BYTES_MAX, level);
    let mut sum = 0;
    let start = Instant::now();
    for text in corpus.iter() {
        let _ = tokenizer.for_each(text, |token| {
            sum ^= TermKey::new(FieldId(0), token.head(), token.bytes()).hash();
        });
    }
    black_box(sum);
    start.elapsed().as_secs_f64()
}

/// ns a token of filling a fresh segment, one value a round; each round takes another part of the corpus.
fn fill(bench: &Bench, corpus: &Corpus) -> Fallible<Vec<f64>> {
    let per_document = (corpus.tokens as usize / corpus.len()).max(1);
    let part = (SEGMENT_TOKENS / per_document).clamp(1, corpus.len());
    let parts = (corpus.len() / part).max(1);
    (0..bench.rounds).map(|round| fill_part(corpus, round % parts * part, part)).collect()
}

fn fill_part(corpus: &Corpus, first: usize, count: usize) -> Fallible<f64> {
    let heap_bytes = engine::SEGMENT_BYTES * engine::HEAP_SEGMENTS_MIN;
    let options = engine::options(corpus).dram_bytes(heap_bytes);
    let index = options.segment_bytes(engine::SEGMENT_BYTES).open()?;
    let documents = first..(first + count).min(corpus.len());
    let start = Instant::now();
    index.add_all(documents.map(|number| (None, corpus.get(number))))?;
    let ns = start.elapsed().as_nanos() as f64;
    let stats = index.stats()?;
    if stats.segments.len() > 1 {
        return Err(
            "a part of the corpus did not fit in a segment: its documents are too uneven".into()
        );
    }
    Ok(ns / stats.tokens.max(1) as f64)
}
