//! What the cache costs where it does not help.

use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;

use spirit::cache::Cache;
use spirit::search::Limits;
use spirit::{Query, Reader, Search};
use spirit_door::sim::Random;

use super::{CACHE_BYTES, Fields, add, high, options};
use crate::Fallible;
use crate::bench::Bench;
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Bound, Table, bar, number};
use crate::timing::median;
use crate::workloads;

const ROUNDS_MIN: usize = 101;
/// Questions of a round that were never asked before.
const NEW: usize = 20;
/// Documents that are added in a turn, and pairs of turns.
const ADDED: usize = 100_000;
const PAIRS: usize = 15;

/// Questions that are cheaper than the cache, or asked for the first time.
pub(super) fn questions(
    bench: &mut Bench,
    corpus: &Corpus,
    fields: &[Fields],
    reader: &mut Reader,
) -> Fallible<()> {
    let head = ["question", "without, ns", "with, ns", "%"];
    let mut table = Table::new("what the cache costs where it does not help", &head);
    let rounds = bench.rounds.max(ROUNDS_MIN);
    let mut worst = f64::MIN;
    let newest =
        |reader: &mut Reader, query: &Query| engine::hits(reader, query, Search::newest(10));
    for workload in workloads::draw(corpus, bench.seed)? {
        let name = format!("newest 10, {}", workload.name);
        // Copies would lie elsewhere in each round, which changes more than the cache does.
        let queries = Rc::new(workload.queries);
        let found = compare(rounds, reader, newest, |_| Ok(queries.clone()))?;
        worst = worst.max(found.line(name, &mut table));
    }
    let (high, mut random) = (high(corpus), Random::named(bench.seed, "asked once"));
    let middle = fields.get(fields.len() / 2).map_or(0, |(ts, _)| *ts);
    let mut number = 0;
    for (name, is_within) in [("count, AND, once", false), ("count, AND within a time, once", true)]
    {
        let mut word = || high[random.index(high.len())].clone();
        let found = compare(rounds, reader, engine::count, |reader| {
            let text = |_| {
                number += 1;
                // No other question has this time. The bound leaves out nothing, or a half.
                let from = if is_within { middle + number } else { -number };
                format!("+{} +{} +ts:>={from}", word(), word())
            };
            let parsed = (0..NEW).map(text).map(|text| reader.parse(text.as_str()));
            Ok(Rc::new(parsed.collect::<Result<_, _>>()?))
        })?;
        worst = worst.max(found.line(name.to_owned(), &mut table));
    }
    reader.limits(Limits::default());
    table.print();
    bar("uncached queries", Bound::AtMost(2.0), " % slower", "", &Ok(worst));
    Ok(())
}

/// Documents that come, with the cache and without it.
pub(super) fn ingest(bench: &mut Bench, corpus: &Corpus, fields: &[Fields]) -> Fallible<()> {
    let documents = ADDED.min(corpus.len());
    let turn = |is_cached: bool| -> Fallible<f64> {
        let options = options(corpus).prefault(true);
        let options = if is_cached { options.cache(Cache::new(CACHE_BYTES)) } else { options };
        let index = options.open()?;
        let start = Instant::now();
        add(&index, corpus, fields, 0..documents)?;
        Ok(documents as f64 / start.elapsed().as_secs_f64())
    };
    let mut ratios = Vec::new();
    let (mut plain, mut cached) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let is_first = pair % 2 == 0;
        let (a, b) = (turn(is_first)?, turn(!is_first)?);
        let (with, without) = if is_first { (a, b) } else { (b, a) };
        plain.push(without);
        cached.push(with);
        ratios.push(without / with);
    }
    bench.report.row("plain", &[], "ingest", "docs/s", &plain)?;
    bench.report.row("cached", &[], "ingest", "docs/s", &cached)?;
    let percent = (median(&ratios) - 1.0) * 100.0;
    let [plain, cached] = [plain, cached].map(|runs| number(median(&runs)));
    println!("documents a second: {plain} without, {cached} with, medians of {PAIRS} pairs");
    bar("ingest", Bound::AtMost(2.0), " % slower", "", &Ok(percent));
    Ok(())
}

/// Nanoseconds of a question without the cache and with it, and how many percent the second is more.
struct Price {
    plain: f64,
    cached: f64,
    percent: f64,
}

impl Price {
    fn line(&self, name: String, table: &mut Table) -> f64 {
        let cells = [self.plain, self.cached, self.percent].map(number);
        table.line([name].into_iter().chain(cells));
        self.percent
    }
}

/// Asks the queries of each round with the cache and without it, in turns. One reader does both: two differ by some percent,
/// each time in another way, by where their memory lies.
fn compare(
    rounds: usize,
    reader: &mut Reader,
    ask: impl Fn(&mut Reader, &Query) -> usize,
    mut queries: impl FnMut(&mut Reader) -> Fallible<Rc<Vec<Query>>>,
) -> Fallible<Price> {
    let turn = |reader: &mut Reader, queries: &[Query], is_cached: bool| {
        reader.limits(Limits { cache: is_cached, ..Limits::default() });
        let start = Instant::now();
        queries.iter().for_each(|query| _ = black_box(ask(reader, query)));
        start.elapsed().as_nanos() as f64 / queries.len().max(1) as f64
    };
    let (mut plain, mut cached, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (one, other) = (queries(reader)?, queries(reader)?);
        // What is asked first finds the queries' memory colder, so each is for one half.
        let [a, b] = [false, true].map(|is_cached| turn(reader, &one, is_cached));
        let [c, d] = [true, false].map(|is_cached| turn(reader, &other, is_cached));
        plain.push((a + d) / 2.0);
        cached.push((b + c) / 2.0);
        ratios.push((b + c) / (a + d));
    }
    let percent = (median(&ratios) - 1.0) * 100.0;
    Ok(Price { plain: median(&plain), cached: median(&cached), percent })
}
