//! tantivy as a peer of SPIRIT's benchmarks; see `peers/README.md`.
#![forbid(unsafe_code)]

mod answers;
mod bulk;
mod collectors;
mod engine;
mod form;
mod freshness;
mod ingest;
mod restart;
mod searches;
mod visible;

use spirit_peer_protocol::{Corpus, Fallible, Options, Reporter, run};
use std::process::ExitCode;

fn main() -> ExitCode {
    run("spirit-peer-tantivy", |options| {
        if options.task == "answer" {
            return restart::answer(options);
        }
        let task = task_named(&options.task)?;
        let corpus = Corpus::load(&options.docs)?;
        let reporter = Reporter::new(&options.task, "tantivy", engine::VERSION);
        task(options, &corpus, reporter)
    })
}

type Task = fn(&Options, &Corpus, Reporter) -> Fallible<()>;

fn task_named(name: &str) -> Fallible<Task> {
    match name {
        "ingest" => Ok(ingest::ingest),
        "bulk" => Ok(bulk::bulk),
        "queries" => Ok(searches::searches),
        "answers" => Ok(answers::answers),
        "visible" => Ok(visible::visible),
        "freshness" => Ok(freshness::freshness),
        "restart" => Ok(restart::restart),
        _ => Err(format!("no such task: {name}").into()),
    }
}
