//! `codecs`: the time of an AND of two posting lists against bytes a posting, by codec: figure 2 of part 003.
//!
//! Measured: pairs of real posting lists, of terms of the classes LL, MM and HH ([`crate::workloads`]), and how many documents each
//! pair has in common. A round counts every pair once with each codec; the codecs take turns, and the time is the mean of a pair. Before
//! the rounds one is not measured. All must count the same. Bytes a posting are those of the class's lists, with their skip data.
//!
//! | row | what it is |
//! |---|---|
//! | raw, bitmap, variable bytes, FOR-delta, PFOR, Elias-Fano | the [codec](crate::codecs) alone, a list of the whole corpus each |
//! | index, raw | our index of one segment: raw lists with bitmaps of the dense ones, and frequencies |
//! | index, packed | the same packed: FOR-delta of gaps, PFOR of frequencies, block maxima |
//!
//! The paper's figure is adapted from Pibiri and Venturini's survey, and gives no numbers in its text. They have more codecs, and lists of
//! larger collections. Stand-ins are written for the bench, in [`crate::codecs`]: variable bytes and Elias-Fano are plain code
//! without vectors; FOR-delta and PFOR use the kernels of our packed lists, and are faster than published ones without vectors.
//!
//! Corpora: posts and articles, the pairs drawn with the seed.
//!
//! Caveats: rows of the index have more to do. A query's terms are looked up and a snapshot is taken, and lists have frequencies, whose
//! bytes count. Their bytes a posting are those of all lists of the index, not of a class. Single postings are in the
//! dictionary and take none.

mod contenders;
mod lists;

use std::hint::black_box;
use std::time::Instant;

use serde_json::json;

use crate::Fallible;
use crate::bench::Bench;
use crate::charts::{Figure, Series};
use crate::codecs::bitmap::Bitmap;
use crate::codecs::elias_fano::EliasFano;
use crate::codecs::for_delta::ForDelta;
use crate::codecs::pfor::Pfor;
use crate::codecs::raw::Raw;
use crate::codecs::variable_bytes::VariableBytes;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::report::{Table, number};
use crate::timing::median;
use crate::workloads::{self, Workload};

use contenders::{Contender, Indexes, Packed};
use lists::Lists;

/// What one codec takes for a class.
struct Taken {
    name: &'static str,
    bytes: f64,
    /// Mean microseconds of a pair, by round.
    us: Vec<f64>,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    for name in bench.corpora(true) {
        let corpus = bench.corpus(name)?;
        bench.begin("codecs", &corpus, &[]);
        let mut workloads = workloads::draw(&corpus, bench.seed)?;
        workloads.retain(|workload| workload.name.len() == 2);
        let _pinned = bench.cores.pin(On::Second);
        let indexes = Indexes::of(&corpus)?;
        let mut classes = Vec::new();
        for workload in &workloads {
            classes.push(measured(bench, &corpus, &indexes, workload)?);
        }
        print(bench, &corpus, &workloads, &classes)?;
        draw(bench, &corpus, &workloads, &classes)?;
    }
    Ok(())
}

/// A class by every codec.
fn measured(
    bench: &Bench,
    corpus: &Corpus,
    indexes: &Indexes,
    workload: &Workload,
) -> Fallible<Vec<Taken>> {
    let lists = Lists::of(corpus, workload);
    let mut contenders: Vec<Box<dyn Contender + '_>> = vec![
        Box::new(Packed::<Raw>::of(&lists)),
        Box::new(Packed::<Bitmap>::of(&lists)),
        Box::new(Packed::<VariableBytes>::of(&lists)),
        Box::new(Packed::<ForDelta>::of(&lists)),
        Box::new(Packed::<Pfor>::of(&lists)),
        Box::new(Packed::<EliasFano>::of(&lists)),
    ];
    contenders.extend(indexes.asking(workload, lists.pairs.len())?);
    same_counts(&mut contenders, &lists, workload)?;
    let mut all = Vec::new();
    for one in &contenders {
        all.push(Taken { name: one.name(), bytes: one.bytes(), us: Vec::new() });
    }
    for _ in 0..bench.rounds {
        for (contender, taken) in contenders.iter_mut().zip(&mut all) {
            let start = Instant::now();
            for pair in 0..lists.pairs.len() {
                black_box(contender.count(pair));
            }
            taken.us.push(start.elapsed().as_secs_f64() * 1e6 / lists.pairs.len() as f64);
        }
    }
    Ok(all)
}

/// Holds all to plain lists. This is also the round that is not measured.
fn same_counts(
    contenders: &mut [Box<dyn Contender + '_>],
    lists: &Lists,
    workload: &Workload,
) -> Fallible<()> {
    for pair in 0..lists.pairs.len() {
        let expected = lists.count(pair);
        for contender in &mut *contenders {
            let (name, found) = (contender.name(), contender.count(pair));
            if found != expected {
                let text = workload.text(pair);
                return Err(format!("`{text}` has {expected} matches; {name}: {found}").into());
            }
        }
    }
    Ok(())
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    workloads: &[Workload],
    classes: &[Vec<Taken>],
) -> Fallible<()> {
    let title = format!("{}: an AND of two lists; the paper's figure 2", corpus.name);
    let mut head = vec!["codec".to_owned()];
    for Workload { name, .. } in workloads {
        head.extend([format!("{name}, bytes a posting"), format!("{name}, µs")]);
    }
    let mut table = Table::new(title, &head.iter().map(String::as_str).collect::<Vec<_>>());
    let names = classes.first().map_or(&[][..], Vec::as_slice);
    for (at, Taken { name, .. }) in names.iter().enumerate() {
        let mut cells = vec![(*name).to_owned()];
        for (workload, class) in workloads.iter().zip(classes) {
            let Taken { bytes, us, .. } = &class[at];
            let config = [("codec", json!(name)), ("workload", json!(workload.name))];
            bench.report.row("spirit", &config, "bytes_per_posting", "bytes", &[*bytes])?;
            bench.report.row("spirit", &config, "mean_us", "us", us)?;
            cells.extend([number(*bytes), number(median(us))]);
        }
        table.line(cells);
    }
    table.print();
    Ok(())
}

/// A figure for each class.
fn draw(
    bench: &Bench,
    corpus: &Corpus,
    workloads: &[Workload],
    classes: &[Vec<Taken>],
) -> Fallible<()> {
    for (workload, class) in workloads.iter().zip(classes) {
        let point = |taken: &Taken| Series::new(taken.name, vec![(taken.bytes, median(&taken.us))]);
        let series: Vec<Series> = class.iter().map(point).collect();
        let name = format!("{}-{}", corpus.name, workload.name);
        let title = format!("Figure 2: ANDs of two lists, {}, {}", corpus.name, workload.name);
        let figure = Figure { name: &name, title: &title, x: "bytes a posting", y: "µs an AND" };
        bench.charts.logarithmic(figure, &series)?;
    }
    Ok(())
}
