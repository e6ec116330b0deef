//! `scaling`: one index that several threads ask, against as many indexes with a thread each: the first paper's figure 4.
//!
//! Measured: an idle index; each thread has a core and a reader of its own, and asks the queries of a workload in turn, all matches of each,
//! for a fixed time. Queries a second of all threads together, against one thread on one index. The paper's *executors* are processes with
//! an index each, all of the same size; so here are indexes. Its *threads* are a pool on one of them.
//!
//! Corpus: articles, repeated to a million; queries by [`of_top_terms`](workloads::of_top_terms).
//!
//! Caveats: two cores, where the paper goes to 16. Its threads share locks on segments and the dictionary, ours share nothing that is written.
//! The cores share the last cache and the memory's bandwidth.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use serde_json::json;
use spirit::Index;

use crate::Fallible;
use crate::all_matches::{self, Sizes};
use crate::bench::Bench;
use crate::charts::{Figure, Series};
use crate::cores::{Cores, On};
use crate::report::{Table, number};
use crate::timing::median;
use crate::workloads::{self, Workload};

/// For which each workload is asked in a round.
const WINDOW: Duration = Duration::from_millis(500);
/// The paper's, and what 16 threads on one index do of 16 executors.
const ASKED: [(&str, &str); 3] = [("L", "0.50×"), ("MM", "-"), ("HH", "1.31×")];
const WAYS: [&str; 3] = ["one thread", "two indexes", "two threads"];

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let (corpus, queries) = all_matches::corpus(bench)?;
    bench.begin("scaling", &corpus, &[]);
    let workloads = workloads::of_top_terms(&corpus, bench.seed, queries)?;
    let sizes = Sizes::of(&corpus, all_matches::SEGMENTS)?;
    let mut indexes = Vec::new();
    for _ in 0..2 {
        let index = sizes.options(1.0).open()?;
        index.add_all(corpus.iter().map(|text| (None, text)))?;
        index.settle();
        indexes.push(index);
    }
    let [one, other] = &indexes[..] else { return Err("two indexes were made".into()) };
    let title = "paper's figure 4: all matches, queries a second";
    let head = ["workload", WAYS[0], WAYS[1], WAYS[2], "threads / indexes", "paper, 16"];
    let mut table = Table::new(title, &head);
    let mut drawn: [Vec<f64>; WAYS.len()] = Default::default();
    for (name, paper) in ASKED {
        let workload = workloads.iter().find(|workload| workload.name == name);
        let Some(workload) = workload else { continue };
        let mut rates: [Vec<f64>; WAYS.len()] = Default::default();
        for _ in 0..bench.rounds {
            for (indexes, rates) in [&[one][..], &[one, other], &[one, one]].iter().zip(&mut rates)
            {
                rates.push(rate(indexes, workload, bench.cores)?);
            }
        }
        for (way, rates) in WAYS.iter().zip(&rates) {
            let config = [("workload", json!(name)), ("way", json!(way))];
            bench.report.row("spirit", &config, "qps", "1/s", rates)?;
        }
        let medians = rates.map(|rates| median(&rates));
        for (drawn, rate) in drawn.iter_mut().zip(medians) {
            drawn.push(rate / medians[0]);
        }
        let ratio = format!("{:.2}×", medians[2] / medians[1]);
        let cells = [name.to_owned()].into_iter().chain(medians.map(number));
        table.line(cells.chain([ratio, paper.to_owned()]));
    }
    table.print();
    let groups = ASKED.map(|(name, _)| name.to_owned());
    let series: Vec<_> =
        WAYS.iter().zip(drawn).map(|(way, rates)| Series::bars(*way, rates)).collect();
    let title = "Figure 4";
    let figure = Figure { name: "4", title, x: "", y: "queries a second, of one thread's" };
    bench.charts.bars(figure, &groups, &series)
}

/// Queries a second of a thread for each of `indexes`, all of which ask at once.
fn rate(indexes: &[&Index], workload: &Workload, cores: Cores) -> Fallible<f64> {
    let together = Barrier::new(indexes.len());
    let ask = |number: usize, index: &Index| {
        let _pinned = cores.pin(if number == 0 { On::Second } else { On::First });
        let reader = index.reader();
        together.wait();
        let mut reader = reader.map_err(|error| error.to_string())?;
        Ok::<_, String>(all_matches::rate(&mut reader, workload, WINDOW))
    };
    let ask = &ask;
    let rates: Vec<_> = thread::scope(|scope| {
        let asking = indexes.iter().enumerate();
        let asking: Vec<_> =
            asking.map(|(number, index)| scope.spawn(move || ask(number, index))).collect();
        asking.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    Ok(rates.into_iter().sum::<Result<f64, String>>()?)
}
