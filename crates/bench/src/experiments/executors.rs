//! `executors`: what a second executor is worth, and what the command takes beside the engine.
//!
//! Measured: documents a second with one executor and with two, in turns, an index in memory each. First the engine: `add_all`
//! of documents that are in memory, from one thread. Then the command `spirit ingest` of the same documents as JSON lines in a file
//! in memory, by its own clock: reading and parsing are included. The row "ahead" is one executor with `--ahead`.
//!
//! Corpus: posts, with a key, a time, a channel and a score each, as the posts have. `simple` analyzer, positions on, text not
//! stored. Medians of the rounds; the ratios are those of each round.
//!
//! Caveats: two cores have two executors, the thread that reads, and the flush stages. The heap is touched beforehand for the
//! engine; the command pays for its page faults. The command is the program beside this one: build it first.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};
use spirit::Document;

use crate::Fallible;
use crate::bench::Bench;
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Bound, Table, bar, number};
use crate::scratch::Scratch;
use crate::timing::median;

/// Rounds, at least.
const ROUNDS_MIN: usize = 5;
/// The least ratio of two executors to one; and of the command to the engine.
const SECOND_MIN: f64 = 1.6;
const COMMAND_MIN: f64 = 0.6;
const CHANNELS: usize = 100;

/// A way to add the documents.
struct Variant {
    name: &'static str,
    executors: usize,
    /// Options of the command; none for the engine.
    command: Option<&'static [&'static str]>,
}

const VARIANTS: [Variant; 5] = [
    Variant { name: "engine, 1 executor", executors: 1, command: None },
    Variant { name: "engine, 2 executors", executors: 2, command: None },
    Variant { name: "command, 1 executor", executors: 1, command: Some(&[]) },
    Variant { name: "command, 1 executor, ahead", executors: 1, command: Some(&["--ahead"]) },
    Variant { name: "command, 2 executors", executors: 2, command: Some(&[]) },
];

/// What a document has besides its text.
struct Post {
    key: String,
    channel: String,
}

impl Post {
    fn of(number: usize) -> Post {
        Post { key: format!("k{number:x}"), channel: format!("channel{}", number % CHANNELS) }
    }
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("executors", &corpus, &[]);
    let program = super::program()?;
    let scratch = Scratch::new()?;
    let file = scratch.path().join("posts.jsonl");
    write(&corpus, &file)?;
    let posts: Vec<Post> = (0..corpus.len()).map(Post::of).collect();
    let mut rates: [Vec<f64>; VARIANTS.len()] = Default::default();
    for _ in 0..bench.rounds.max(ROUNDS_MIN) {
        for (variant, rates) in VARIANTS.iter().zip(&mut rates) {
            let rate = match variant.command {
                None => by_engine(&corpus, &posts, variant.executors)?,
                Some(options) => by_command(&program, &corpus, &file, variant, options)?,
            };
            rates.push(rate);
        }
    }
    let title = format!("{}: documents a second", corpus.name);
    let mut table = Table::new(title, &["way", "docs/s"]);
    for (variant, rates) in VARIANTS.iter().zip(&rates) {
        bench.report.row(variant.name, &[], "rate", "docs/s", rates)?;
        table.line([variant.name.to_owned(), number(median(rates))]);
    }
    table.print();
    let [engine, engine_two, command, ahead, command_two] = &rates;
    let (second, least) = (Bound::AtLeast(SECOND_MIN), Bound::AtLeast(COMMAND_MIN));
    bar("engine, 2 executors", second, "×", "1 executor", &Ok(ratio(engine_two, engine)));
    bar("command, 2 executors", second, "×", "1 executor", &Ok(ratio(command_two, command)));
    bar("command, 1 executor", least, "×", "the engine", &Ok(ratio(command, engine)));
    bar("command, ahead", least, "×", "the engine", &Ok(ratio(ahead, engine)));
    bar("command, 2 executors", least, "×", "the engine", &Ok(ratio(command_two, engine_two)));
    Ok(())
}

/// The median of the rounds' ratios.
fn ratio(rates: &[f64], of: &[f64]) -> f64 {
    let ratios: Vec<f64> = rates.iter().zip(of).map(|(rate, of)| rate / of).collect();
    median(&ratios)
}

fn write(corpus: &Corpus, path: &Path) -> Fallible<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for (number, text) in corpus.iter().enumerate() {
        let Post { key, channel } = Post::of(number);
        let (time, score) = (number, number % 1000);
        let post =
            json!({ "key": key, "ts": time, "channel": channel, "score": score, "text": text });
        writeln!(file, "{post}")?;
    }
    Ok(file.flush()?)
}

fn by_engine(corpus: &Corpus, posts: &[Post], executors: usize) -> Fallible<f64> {
    let bytes = engine::heap_bytes(corpus) * executors as u64;
    let index = engine::options(corpus).dram_bytes(bytes).executors(executors).open()?;
    let documents = corpus.iter().zip(posts).enumerate().map(|(number, (text, post))| {
        let document = Document::from(text).key(&post.key).field("ts", number as i64);
        document.field("channel", post.channel.as_str()).field("score", (number % 1000) as i64)
    });
    let start = Instant::now();
    let added = index.add_all(documents)?;
    Ok(added as f64 / start.elapsed().as_secs_f64())
}

fn by_command(
    program: &Path,
    corpus: &Corpus,
    file: &Path,
    variant: &Variant,
    options: &[&str],
) -> Fallible<f64> {
    let executors = variant.executors;
    let bytes = engine::heap_bytes(corpus) * executors as u64;
    let mut command = Command::new(program);
    command.args(["ingest", "--mode", "volatile", "--analyzer", "simple", "--executors"]);
    command.arg(executors.to_string()).args(options);
    command.arg("--dram").arg(bytes.to_string()).arg(file);
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let summary: Value = serde_json::from_slice(&output.stdout)?;
    summary["documents_per_second"].as_f64().ok_or_else(|| "no rate in the summary".into())
}
