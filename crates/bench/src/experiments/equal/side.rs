//! An engine and what it answers to a set of queries.

use std::path::Path;

use crate::Fallible;
use crate::bench::Bench;
use crate::bm25::Convention;
use crate::cores::On;
use crate::peers::{Call, Outcome, System};
use crate::query_sets::QuerySet;

use super::K;

/// One of the engines compared, in one of its ways.
pub(in crate::experiments) struct Side {
    pub(super) name: &'static str,
    /// Whether it is our engine.
    pub(super) is_ours: bool,
    /// Whether it makes the same terms of every text as we do.
    pub(super) analyzes_alike: bool,
    /// How it scores, if it does so comparably.
    pub(super) convention: Option<Convention>,
    /// By query, the newest documents.
    pub(super) newest: Vec<Outcome>,
    /// By query, the best.
    pub(super) best: Vec<Outcome>,
}

/// All wanted peers that are available.
pub(in crate::experiments) fn peers(
    bench: &mut Bench,
    docs: &Path,
    name: &str,
    set: &QuerySet,
) -> Fallible<Vec<Side>> {
    let mut sides = Vec::new();
    for system in
        System::ALL.into_iter().filter(|system| bench.peers.wants(*system)).collect::<Vec<_>>()
    {
        let queries = bench.peers.query_file(&format!("{name}.jsonl"), &set.lines())?;
        let mut ask = |order: &str| {
            let options = vec![("--k", K.to_string()), ("--order", order.to_owned())];
            let (docs, queries) = (docs.to_owned(), Some(queries.clone()));
            let call = Call { task: "answers", docs, queries, on: On::Both, options };
            bench.peers.answers(system, &call).and_then(|all| whole(all, set))
        };
        match ask("newest").and_then(|newest| Ok((newest, ask("bm25")?))) {
            Ok((newest, best)) => sides.push(Side {
                name: system.name(),
                is_ours: false,
                analyzes_alike: system.analyzes_alike(),
                convention: Convention::of(system),
                newest,
                best,
            }),
            Err(reason) => println!("{}: not compared: {reason}", system.name()),
        }
    }
    Ok(sides)
}

fn whole(answers: Vec<Outcome>, set: &QuerySet) -> Result<Vec<Outcome>, String> {
    let (answered, asked) = (answers.len(), set.queries.len());
    if answered == asked {
        Ok(answers)
    } else {
        Err(format!("{answered} answers to {asked} queries"))
    }
}
