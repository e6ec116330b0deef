//! Peers that take turns with us, and whether they answer the same.

use spirit::{Index, Search};

use crate::Fallible;
use crate::bench::Bench;
use crate::peers::{Call, Peers, Rows, System};
use crate::workloads::{Workload, query_file};

/// Turns that each system takes when there is a peer.
pub(crate) const TURNS: usize = 2;

/// A peer in one of its ways of working, and what came of it so far.
pub(crate) struct Contender {
    pub(crate) system: System,
    /// Its name in tables, with the way of working where there are several.
    pub(crate) label: String,
    pub(crate) call: Call,
    pub(crate) outcome: Option<Result<Rows, String>>,
}

impl Contender {
    pub(crate) fn new(system: System, way: &str, call: Call) -> Contender {
        let label = format!("{} {way}", system.name()).trim().to_owned();
        Contender { system, label, call, outcome: None }
    }

    fn take_turn(&mut self, peers: &mut Peers) {
        if matches!(self.outcome, Some(Err(_))) {
            return;
        }
        let rows = peers.run(self.system, &self.call);
        match (&mut self.outcome, rows) {
            (Some(Ok(all)), Ok(rows)) => all.merge(rows),
            (outcome, rows) => *outcome = Some(rows),
        }
    }

    /// Its mode of the task `queries`.
    pub(crate) fn mode(&self) -> &str {
        let mode = self.call.options.iter().find(|(option, _)| *option == "--mode");
        mode.map_or("", |(_, mode)| mode.as_str())
    }

    /// The rows, or why there are none.
    pub(crate) fn rows(&self) -> Result<&Rows, String> {
        match &self.outcome {
            Some(outcome) => outcome.as_ref().map_err(|reason| format!("{}: {reason}", self.label)),
            None => Err(format!("{}: did not run", self.label)),
        }
    }

    /// A metric's median over all turns.
    pub(crate) fn value(&self, workload: &str, metric: &str) -> Result<f64, String> {
        self.rows()?.value(workload, metric).map_err(|reason| format!("{}: {reason}", self.label))
    }
}

/// Ours, a peer, the next peer, ours again, and so on.
pub(crate) fn take_turns(
    peers: &mut Peers,
    contenders: &mut [Contender],
    mut ours: impl FnMut() -> Fallible<()>,
) -> Fallible<()> {
    let turns = if contenders.iter().any(|c| peers.wants(c.system)) { TURNS } else { 1 };
    for _ in 0..turns {
        ours()?;
        for contender in &mut *contenders {
            contender.take_turn(peers);
        }
    }
    Ok(())
}

/// What is compared with a peer's: the documents found and the sum of their keys, or their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) found: u64,
    /// `None` where documents are only counted.
    pub(crate) key_sum: Option<u64>,
}

/// Our answers to every query, the newest `k` or counts, by workload.
pub(crate) fn answers(
    index: &Index,
    workloads: &[Workload],
    newest: Option<usize>,
) -> Fallible<Vec<Vec<Answer>>> {
    let mut reader = index.reader()?;
    let mut answer = |query| match newest {
        None => Ok(Answer { found: reader.count(query)?, key_sum: None }),
        Some(k) => {
            let hits = reader.search(query, Search::newest(k))?;
            let keys =
                hits.keys()?.iter().map(|key| key.parse::<u64>()).collect::<Result<Vec<_>, _>>()?;
            Ok(Answer { found: keys.len() as u64, key_sum: Some(keys.iter().sum()) })
        }
    };
    workloads.iter().map(|workload| workload.queries.iter().map(&mut answer).collect()).collect()
}

/// Asks each contender everything once and compares. What differs is an error that names the first query.
pub(crate) fn compare(
    bench: &mut Bench,
    contenders: &mut [Contender],
    workloads: &[Workload],
    ours: &[Vec<Answer>],
) -> Fallible<()> {
    for contender in contenders {
        let mut call = contender.call.clone();
        set(&mut call, "--rounds", "1");
        set(&mut call, "--seconds-min", "0");
        let rows = match bench.peers.run(contender.system, &call) {
            Ok(rows) => rows,
            Err(reason) => {
                contender.outcome = Some(Err(reason));
                continue;
            }
        };
        for (workload, ours) in workloads.iter().zip(ours) {
            let theirs = answer_in(&rows, &workload.name)?;
            let asked = rows.find(&workload.name, "p50_us").and_then(|row| row.operations);
            let asked = asked.map_or(ours.len(), |n| n as usize).min(ours.len());
            if sum(&ours[..asked]) != theirs {
                return Err(first_difference(bench, contender, &call, workload, ours)?.into());
            }
        }
        println!("{}: same answers as ours to all queries", contender.label);
    }
    Ok(())
}

fn set(call: &mut Call, name: &'static str, value: &str) {
    call.options.retain(|(other, _)| *other != name);
    call.options.push((name, value.to_owned()));
}

fn sum(answers: &[Answer]) -> Answer {
    answers.iter().fold(Answer::default(), |all, answer| Answer {
        found: all.found + answer.found,
        key_sum: answer.key_sum.map(|keys| all.key_sum.unwrap_or(0) + keys),
    })
}

fn answer_in(rows: &Rows, name: &str) -> Result<Answer, String> {
    if let Ok(matches) = rows.value(name, "matches") {
        return Ok(Answer { found: matches as u64, key_sum: None });
    }
    let found = rows.value(name, "hits")? as u64;
    Ok(Answer { found, key_sum: Some(rows.value(name, "checksum")? as u64) })
}

/// Asks again with each query as a workload of its own.
fn first_difference(
    bench: &mut Bench,
    contender: &Contender,
    call: &Call,
    workload: &Workload,
    ours: &[Answer],
) -> Fallible<String> {
    let lines: String = (0..ours.len()).map(|q| workload.line(q, &format!("q{q}"))).collect();
    let queries = bench.peers.query_file("one-by-one.jsonl", &lines)?;
    let call = Call { queries: Some(queries), ..call.clone() };
    let rows = bench.peers.run(contender.system, &call)?;
    for (q, ours) in ours.iter().enumerate() {
        let theirs = answer_in(&rows, &format!("q{q}"))?;
        if theirs != *ours {
            let (label, name, text) = (&contender.label, &workload.name, workload.text(q));
            return Ok(format!(
                "results differ at {name} query `{text}`: spirit {ours:?}, {label} {theirs:?}"
            ));
        }
    }
    Ok(format!(
        "results of {} differ in sum but not one by one: {}",
        workload.name, contender.label
    ))
}

/// The query file for the peers, if any of them wants it.
pub(crate) fn write_queries(
    bench: &mut Bench,
    workloads: &[Workload],
) -> Fallible<std::path::PathBuf> {
    bench.peers.query_file("queries.jsonl", &query_file(workloads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_answers_are_what_peers_print() {
        let some = |found, keys| Answer { found, key_sum: Some(keys) };
        assert_eq!(sum(&[some(2, 7), some(1, 5)]), some(3, 12));
        let counted = Answer { found: 4, key_sum: None };
        assert_eq!(sum(&[counted, counted]), Answer { found: 8, key_sum: None });
    }
}
