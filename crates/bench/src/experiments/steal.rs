//! `steal`: queries while another index engraves or merges on the other core: the first paper's figure 8.
//!
//! Measured: a *victim*, an idle index whose segments are read in the second tier, is asked for all matches of one query after the
//! other. Meanwhile a *stealer*, another index, engraves segments that wait in DRAM; or merges segments that wait in the second tier. Queries
//! a second while it works, against those of the victim alone. Each round has a stealer of its own.
//!
//! Corpus: articles, repeated to a million for the victim; as many as fit fifteen of its segments for the stealer. Queries by
//! [`of_top_terms`](workloads::of_top_terms).
//!
//! Caveats: both tiers are DRAM, whose bandwidth one core cannot exhaust; the paper's stealers take Optane's. One stealer, on the one other core;
//! the paper has up to eight. The merged dictionary always lies in the second tier here, as in the paper's last series.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use spirit::lab::{EngravePolicy, PointerUpdate};
use spirit::{Builder, Index, Mode, Reader};

use crate::Fallible;
use crate::all_matches::{self, Sizes};
use crate::bench::Bench;
use crate::charts::{Figure, Series};
use crate::cores::{Cores, On};
use crate::corpus::Corpus;
use crate::report::{Table, number};
use crate::scratch::Scratch;
use crate::timing::median;
use crate::workloads::{self, Workload};

const WINDOW: Duration = Duration::from_millis(500);
/// Fewer than are merged in any case.
const STEALER_SEGMENTS: u64 = 14;
/// What is asked of the victim, and what the paper says of one stealer that engraves and of one that merges.
const ASKED: [(&str, [&str; 2]); 2] = [("L", ["0.71×", "-"]), ("HH", ["-", "-"])];
const WAYS: [&str; 3] = ["alone", "engraving", "merging"];

/// An index on its file.
struct Kept {
    index: Index,
    _scratch: Scratch,
}

impl Kept {
    fn filled(corpus: &Corpus, options: Builder) -> Fallible<Kept> {
        let scratch = Scratch::new()?;
        let index = options.mode(Mode::Graceful).directory(scratch.path()).open()?;
        index.add_all(corpus.iter().map(|text| (None, text)))?;
        index.flush()?;
        index.settle();
        Ok(Kept { index, _scratch: scratch })
    }
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let (corpus, queries) = all_matches::corpus(bench)?;
    bench.begin("steal", &corpus, &[]);
    let workloads = workloads::of_top_terms(&corpus, bench.seed, queries)?;
    let victim = Sizes::of(&corpus, all_matches::SEGMENTS)?.options(1.0);
    let victim = Kept::filled(&corpus, victim.pointer_update(PointerUpdate::Eager))?;
    let stolen = corpus.first(corpus.len() / 5);
    let sizes = Sizes::of(&stolen, STEALER_SEGMENTS)?;
    let mut reader = victim.index.reader()?;
    let title = "paper's figure 8: queries a second of the victim, of those alone";
    let head = ["workload", "alone", "engraving", "paper", "merging", "paper"];
    let mut table = Table::new(title, &head);
    let mut drawn: [Vec<f64>; WAYS.len()] = Default::default();
    for (name, paper) in ASKED {
        let workload = workloads.iter().find(|workload| workload.name == name);
        let Some(workload) = workload else { continue };
        let mut rates: [Vec<f64>; WAYS.len()] = Default::default();
        for _ in 0..bench.rounds {
            let round = round(&mut reader, workload, (&stolen, sizes), bench.cores)?;
            rates.iter_mut().zip(round).for_each(|(rates, rate)| rates.push(rate));
        }
        for (way, rates) in WAYS.iter().zip(&rates) {
            let config = [("workload", json!(name)), ("way", json!(way))];
            bench.report.row("spirit", &config, "qps", "1/s", rates)?;
        }
        let [alone, engraving, merging] = rates.map(|rates| median(&rates));
        let ratio = |rate: f64| format!("{:.2}×", rate / alone);
        let cells = [number(alone), ratio(engraving), paper[0].into(), ratio(merging)];
        table.line([name.to_owned()].into_iter().chain(cells).chain([paper[1].into()]));
        let ratios = [1.0, engraving / alone, merging / alone];
        drawn.iter_mut().zip(ratios).for_each(|(drawn, ratio)| drawn.push(ratio));
    }
    table.print();
    let groups = ASKED.map(|(name, _)| name.to_owned());
    let series: Vec<_> =
        WAYS.iter().zip(drawn).map(|(way, rates)| Series::bars(*way, rates)).collect();
    let figure =
        Figure { name: "8", title: "Figure 8", x: "", y: "queries a second, of those alone" };
    bench.charts.bars(figure, &groups, &series)
}

/// Queries a second alone, beside engraving, and beside merging.
fn round(
    reader: &mut Reader,
    workload: &Workload,
    (stolen, sizes): (&Corpus, Sizes),
    cores: Cores,
) -> Fallible<[f64; WAYS.len()]> {
    let options = sizes.options(1.5);
    let stealer = {
        // Its threads stay where they are started.
        let _pinned = cores.pin(On::First);
        Kept::filled(stolen, options.engrave(EngravePolicy::Lazy).merge_after(16))?
    };
    let alone = {
        let _pinned = cores.pin(On::Second);
        all_matches::rate(reader, workload, WINDOW)
    };
    let engraving = beside(reader, workload, cores, || stealer.index.engrave())?;
    let merging = beside(reader, workload, cores, || stealer.index.merge())?;
    Ok([alone, engraving, merging])
}

/// Queries a second while `steal` works on the other core.
fn beside<E: std::error::Error + Send + 'static>(
    reader: &mut Reader,
    workload: &Workload,
    cores: Cores,
    steal: impl FnOnce() -> Result<(), E> + Send,
) -> Fallible<f64> {
    let is_done = AtomicBool::new(false);
    let (rate, stolen) = thread::scope(|scope| {
        let stealing = scope.spawn(|| {
            let _pinned = cores.pin(On::First);
            let stolen = steal();
            is_done.store(true, Relaxed);
            stolen
        });
        let _pinned = cores.pin(On::Second);
        let (start, mut asked) = (Instant::now(), 0);
        for query in workload.queries.iter().cycle() {
            std::hint::black_box(all_matches::ask(reader, query));
            asked += 1;
            if is_done.load(Relaxed) {
                break;
            }
        }
        let rate = f64::from(asked) / start.elapsed().as_secs_f64();
        (rate, stealing.join().expect("no thread panics"))
    });
    stolen?;
    Ok(rate)
}
