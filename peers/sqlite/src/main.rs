//! SQLite FTS5 as a peer of SPIRIT's benchmarks; see `peers/README.md`.
#![forbid(unsafe_code)]

mod answers;
mod database;
mod form;
mod ingest;
mod searches;
mod visible;

use spirit_peer_protocol::{Corpus, Fallible, Options, Reporter, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    run("spirit-peer-sqlite", |options| {
        let task = task_named(&options.task)?;
        let corpus = Corpus::load(&options.docs)?;
        let reporter = Reporter::new(&options.task, "sqlite", rusqlite::version());
        task(options, &corpus, reporter)
    })
}

type Task = fn(&Options, &Corpus, Reporter) -> Fallible<()>;

fn task_named(name: &str) -> Fallible<Task> {
    match name {
        "ingest" => Ok(ingest::ingest),
        "queries" => Ok(searches::searches),
        "answers" => Ok(answers::answers),
        "visible" => Ok(visible::visible),
        "freshness" => Err("there is no task freshness: a row is visible once inserted".into()),
        _ => Err(format!("no such task: {name}").into()),
    }
}
