//! Lucene itself, whose postings are the paper's LPF, and its collector's share of the time: figure 11.

use super::asking::Way;
use super::figures::{Figures, Of, PACKED_DRAM};
use super::set::Set;
use super::system::KINDS;
use crate::Fallible;
use crate::bench::Bench;
use crate::corpus::Corpus;
use crate::experiments::newest::{contenders, report_peer};
use crate::peers::System;
use crate::query_sets::QuerySet;
use crate::report::{Table, number};
use crate::timing::METRICS;
use crate::turns::take_turns;
use crate::workloads;

/// The paper's, whatever the number of threads.
const PAPER_SHARE: &str = "below 6 %";

/// Asks Lucene all sets, every match scored.
pub(super) fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    sets: &[Set],
    figures: &Figures,
) -> Fallible<()> {
    if !bench.peers.wants(System::Lucene) {
        return Ok(());
    }
    let queries = sets.iter().flat_map(Set::named).collect();
    let workloads = workloads::of_set(&QuerySet { queries, ..QuerySet::default() });
    let all_scored = [("--hits-threshold", i32::MAX.to_string())];
    let mut contenders = contenders(bench, corpus, &workloads, &[("top", "")], &all_scored)?;
    contenders.retain(|contender| contender.system == System::Lucene);
    take_turns(&mut bench.peers, &mut contenders, || Ok(()))?;
    let Some(lucene) = contenders.first() else { return Ok(()) };
    let title = "paper's figure 11: Lucene in memory, one thread, every match scored, µs";
    let head = ["queries, index", "P50", "P95", "P99", "mean", "collector's share", "paper"];
    let mut table = Table::new(title, &head);
    for set in sets {
        let of = Of {
            documents: corpus.len(),
            kind: KINDS[PACKED_DRAM].name,
            set: set.name,
            way: Way::Exhaustive,
            threads: 1,
        };
        let name = |index: &str| [format!("{}, {index}", set.name)];
        let nothing = ["-".to_owned(), "-".to_owned()];
        table.line(name(of.kind).into_iter().chain(figures.median(of).map(number)).chain(nothing));
        let rows = match lucene.rows() {
            Ok(rows) => rows,
            Err(reason) => {
                table.not_measured(&name("lucene")[0], &reason);
                continue;
            }
        };
        report_peer(bench, set.name, lucene)?;
        let values = METRICS.map(|metric| rows.value(set.name, metric).map_or_else(|e| e, number));
        let share = format!("{:.2} %", 100.0 * rows.value(set.name, "gc_share")?);
        let shares = [share, PAPER_SHARE.to_owned()];
        table.line(name("lucene").into_iter().chain(values).chain(shares));
    }
    table.print();
    Ok(())
}
