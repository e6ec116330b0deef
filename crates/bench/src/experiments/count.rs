//! `count`: the exact number of matches.
//!
//! Measured as in `newest`: one thread, one core, each query alone, P50 and so on by round, median over rounds.
//! Each peer counts in two ways: by visiting every match (`count`) and by its own counting call, which may answer
//! from statistics (`fast`); the bars are against the fastest of all four. First the sums of all counts are compared;
//! a difference ends the program and names the query.
//!
//! Corpus: posts; workloads drawn from it by document frequency with the seed (BASELINE §2, (i) and (i')).
//!
//! Caveats: nothing was deleted, so single terms may be answered from statistics by every engine.

use serde_json::json;

use super::newest::{contenders, print};
use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::engine;
use crate::report::{Bound, bar};
use crate::turns::{Contender, answers, compare, take_turns};
use crate::workloads;

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("count", &corpus, &[("exact", json!(true))]);
    let workloads = workloads::draw(&corpus, bench.seed)?;
    let _pinned = bench.cores.pin(On::Second);
    let index = engine::filled(engine::options(&corpus), &corpus)?;
    println!("{}", engine::describe(&index)?);
    let modes = [("count-fast", "fast"), ("count", "")];
    let mut contenders = contenders(bench, &corpus, &workloads, &modes, &[])?;
    let found = answers(&index, &workloads, None)?;
    compare(bench, &mut contenders, &workloads, &found)?;

    let mut ours = engine::no_rounds(&workloads);
    let rounds = bench.rounds;
    take_turns(&mut bench.peers, &mut contenders, || {
        let mut reader = index.reader()?;
        engine::measure(&workloads, rounds, &mut ours, |query| engine::count(&mut reader, query));
        Ok(())
    })?;
    print(bench, &format!("{}: exact count, µs", corpus.name), &workloads, &ours, &contenders)?;
    for (name, bound) in [("HH", 15.0), ("MM", 4.0)] {
        let mine = workloads.iter().zip(&ours).find(|(workload, _)| workload.name == name);
        let mine =
            mine.map(|(_, rounds)| rounds.median().p50()).ok_or_else(|| "no such terms".to_owned());
        let measured = mine.and_then(|mine| fastest(name, &contenders).map(|theirs| theirs / mine));
        bar(name, Bound::AtLeast(bound), "×", "tantivy's and Lucene's fastest way", &measured);
    }
    Ok(())
}

/// The least P50 of all peers and ways; an error if one of them has none.
fn fastest(workload: &str, contenders: &[Contender]) -> Result<f64, String> {
    if contenders.is_empty() {
        return Err("not asked for".to_owned());
    }
    let all = contenders.iter().map(|contender| contender.value(workload, "p50_us"));
    all.collect::<Result<Vec<_>, _>>().map(|all| all.into_iter().fold(f64::INFINITY, f64::min))
}
