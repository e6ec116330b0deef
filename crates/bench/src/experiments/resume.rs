//! `resume`: what a kill of a bulk load costs.
//!
//! Measured: `spirit index` of articles as JSON lines, killed once after a tenth, three, five, seven and nine tenths of the time that
//! a whole run takes, and started again; both runs together, against the whole one, and against beginning anew. All indexes are then
//! asked the same, and must answer alike.
//!
//! Corpus: articles (BASELINE §1). The seed has no part in it.
//!
//! Caveats: what a kill loses are the segments that are not engraved, up to three an executor, which is much of a collection of this
//! size and less of a larger one. Reading and parsing are included; files and index lie below `/dev/shm` where there is one. The paper's figure (part 004,
//! 12) is of a crash by a panic of the system, and of the merge alone. The command is the program beside this one: build it first.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::report::{Table, number};
use crate::scratch::Scratch;
use crate::timing::median;

/// When the first run is killed, in tenths of the time of a whole one.
const TENTHS: [u32; 5] = [1, 3, 5, 7, 9];
const QUERIES: [&str; 3] = ["the AND of", "monday OR tuesday", "\"of the\""];

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("articles")?;
    bench.begin("resume", &corpus, &[]);
    let (program, scratch) = (super::program()?, Scratch::new()?);
    let file = scratch.path().join("articles.jsonl");
    write(&corpus, &file)?;
    let _pinned = bench.cores.pin(On::Both);
    let (mut whole, mut killed): (Vec<f64>, [Vec<f64>; TENTHS.len()]) = Default::default();
    for _ in 0..bench.rounds {
        let expected = {
            let directory = Scratch::new()?;
            whole.push(index(&program, directory.path(), &file, None)?);
            answers(&program, directory.path())?
        };
        for (tenths, killed) in TENTHS.iter().zip(&mut killed) {
            let directory = Scratch::new()?;
            let end = Duration::from_secs_f64(median(&whole)) * *tenths / 10;
            let first = index(&program, directory.path(), &file, Some(end))?;
            killed.push(first + index(&program, directory.path(), &file, None)?);
            if answers(&program, directory.path())? != expected {
                return Err(format!("killed after {tenths} tenths, it answers otherwise").into());
            }
        }
    }
    print(bench, &corpus, &whole, &killed)
}

fn write(corpus: &Corpus, path: &Path) -> Fallible<()> {
    let mut file = BufWriter::new(std::fs::File::create(path)?);
    for text in corpus.iter() {
        writeln!(file, "{}", json!({ "text": text }))?;
    }
    Ok(file.flush()?)
}

/// Runs the command, to its end or until it is killed. Returns the seconds.
fn index(program: &Path, directory: &Path, file: &Path, end: Option<Duration>) -> Fallible<f64> {
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(["index", "--store", "yes", "--analyzer", "simple", "--dram", "1GiB", "-d"])
        .args([directory, file])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    if let Some(end) = end {
        std::thread::sleep(end.saturating_sub(start.elapsed()));
        child.kill()?;
        child.wait()?;
        return Ok(start.elapsed().as_secs_f64());
    }
    let status = child.wait()?;
    match status.success() {
        true => Ok(start.elapsed().as_secs_f64()),
        false => Err(format!("spirit index ended with {status}").into()),
    }
}

/// Counts and first documents of some queries.
fn answers(program: &Path, directory: &Path) -> Fallible<Vec<Value>> {
    let ask = |query: &&str| -> Fallible<Value> {
        let output = Command::new(program)
            .args(["search", "--json", "-k", "100", "-d"])
            .arg(directory)
            .arg(query)
            .output()?;
        let answer: Value = serde_json::from_slice(&output.stdout)?;
        let keys = answer["hits"].as_array().ok_or("no hits")?.iter().map(|hit| hit["key"].clone());
        Ok(json!([answer["count"], keys.collect::<Vec<_>>()]))
    };
    QUERIES.iter().map(ask).collect()
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    whole: &[f64],
    killed: &[Vec<f64>; TENTHS.len()],
) -> Fallible<()> {
    let base = median(whole);
    let title = format!("{}: a bulk load killed once, both runs together", corpus.name);
    let head = ["killed after", "s", "of a whole run", "of beginning anew"];
    let mut table = Table::new(title, &head);
    bench.report.row("whole", &[], "seconds", "s", whole)?;
    table.line(["never".to_owned(), number(base), number(1.0), String::new()]);
    for (tenths, seconds) in TENTHS.iter().zip(killed) {
        bench.report.row("killed", &[("tenths", json!(tenths))], "seconds", "s", seconds)?;
        let (both, share) = (median(seconds), f64::from(*tenths) / 10.0);
        let anew = both / (base * (1.0 + share));
        table.line([format!("{tenths} tenths"), number(both), number(both / base), number(anew)]);
    }
    table.print();
    Ok(())
}
