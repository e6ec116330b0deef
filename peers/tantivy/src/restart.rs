//! Task `restart`: from the start of a process until its first answer. The program starts itself as task `answer`, which
//! opens the index of one segment and counts the first query's matches.

use crate::engine::{Engine, VERSION};
use spirit_peer_protocol::{
    Corpus, Fallible, Layout, Options, Reporter, cached_index, read_queries,
};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

pub(crate) fn restart(options: &Options, corpus: &Corpus, reporter: Reporter) -> Fallible<()> {
    let path = cached_index(options, "tantivy", VERSION, Layout::OldestFirst, |path| {
        Engine::create(path, corpus.columns())?.build_one_segment(corpus, Layout::OldestFirst)
    })?;
    let (mut taken, mut matches) = (Vec::new(), 0);
    // The first start reads the program from the disk.
    for round in 0..=options.rounds {
        let start = Instant::now();
        let found = first_answer(options, &path)?;
        if round > 0 {
            taken.push(start.elapsed().as_secs_f64() * 1e3);
        }
        matches = found;
    }
    reporter.counted("restart", "matches", "docs", matches)?;
    reporter.measured("restart", "first_answer_ms", "ms", &taken)
}

/// Starts a process and waits for its first line.
fn first_answer(options: &Options, index: &Path) -> Fallible<u64> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("answer")
        .arg("--docs")
        .arg(index)
        .arg("--queries")
        .arg(options.queries_file()?)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut line)?;
    }
    child.wait()?;
    Ok(line.trim().parse()?)
}

/// Task `answer`: `--docs` is the folder of the index.
pub(crate) fn answer(options: &Options) -> Fallible<()> {
    let engine = Engine::open(&options.docs)?;
    let queries = read_queries(options.queries_file()?)?;
    let query = engine.query(&queries.first().ok_or("no queries")?.query, false)?;
    println!("{}", query.count(&engine.reader()?.searcher())?);
    Ok(())
}
