//! Searches of every class over 1, 8 and 64 connections, idle and while documents go in.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;

use super::asking::{Asked, ask};
use super::classes::Class;
use super::plan::Plan;
use super::server::cpu_s;
use super::side::{Both, Side, Sides};
use super::stream::{Flow, RATE, Stream};
use crate::Fallible;
use crate::bench::Bench;
use crate::experiments::queries::geometric_mean;
use crate::report::{Bound, Table, bar, number};
use crate::timing::median;

/// Numbers of connections.
const CONNECTIONS: [usize; 3] = [1, 8, 64];

/// What happens beside the searches, and what must be reached.
pub(super) struct Load {
    pub(super) name: &'static str,
    /// The bulks that go in; none if nothing does.
    pub(super) bulks: Option<Arc<[Bytes]>>,
    /// The least ratio of rates.
    pub(super) must: f64,
    pub(super) aim: f64,
}

/// What came of asking every class once.
struct Pass {
    /// By class.
    asked: Vec<Asked>,
    /// The share of its core that the client took.
    client: f64,
    flow: Option<Flow>,
}

/// The ratios of a class: how many times our rate is theirs, and our P99 theirs.
struct Ratios {
    class: String,
    rate: f64,
    p99: f64,
}

pub(super) fn measure(
    bench: &mut Bench,
    sides: &mut Sides,
    classes: &[Class],
    name: &str,
    load: &Load,
    plan: &Plan,
) -> Fallible<()> {
    let most = if load.bulks.is_some() { plan.rounds_busy } else { plan.rounds_max };
    let rounds = bench.rounds.min(most);
    for connections in CONNECTIONS {
        let passes =
            sides.rounds(rounds, |side| side.run(pass(side, classes, connections, load, plan)))?;
        report(bench, classes, connections, load, &passes)?;
        print(&passes, classes, name, connections, load);
    }
    Ok(())
}

/// Asks every class, with the load beside it.
async fn pass(
    side: &Side,
    classes: &[Class],
    number: usize,
    load: &Load,
    plan: &Plan,
) -> Result<Pass, String> {
    let mut connections = side.connect_all(number).await?;
    let stream = match &load.bulks {
        Some(bulks) => Some(Stream::start(side, bulks).await?),
        None => None,
    };
    let (mut asked, mut client_s, mut seconds) = (Vec::new(), 0.0, 0.0);
    for class in classes {
        let bodies: Arc<[Bytes]> = class.bodies.clone().into();
        if !plan.warm_up.is_zero() {
            ask(&mut connections, &bodies, plan.warm_up).await?;
        }
        let (cpu, start) = (cpu_s("self")?, std::time::Instant::now());
        asked.push(ask(&mut connections, &bodies, plan.window).await?);
        client_s += cpu_s("self")? - cpu;
        seconds += start.elapsed().as_secs_f64();
    }
    let flow = match stream {
        Some(stream) => Some(stream.end().await?),
        None => None,
    };
    Ok(Pass { asked, client: client_s / seconds, flow })
}

/// The median over the passes of a figure of a class.
fn of_class(passes: &[Pass], class: usize, figure: fn(&Asked) -> f64) -> f64 {
    median(&runs(passes, class, figure))
}

fn runs(passes: &[Pass], class: usize, figure: fn(&Asked) -> f64) -> Vec<f64> {
    passes.iter().map(|pass| figure(&pass.asked[class])).collect()
}

/// Name, unit and value.
type Figure = (&'static str, &'static str, fn(&Asked) -> f64);

/// The figures of a class, as they are reported.
const FIGURES: [Figure; 3] = [
    ("rate", "1/s", |asked| asked.rate),
    ("p50_us", "us", |asked| asked.latency.p50()),
    ("p99_us", "us", |asked| asked.latency.p99()),
];
const RATE_OF: usize = 0;
const P99_OF: usize = 2;

fn report(
    bench: &mut Bench,
    classes: &[Class],
    connections: usize,
    load: &Load,
    passes: &Both<Vec<Pass>>,
) -> Fallible<()> {
    for (system, passes) in passes.named() {
        let Ok(passes) = passes else { continue };
        let case = [("case", json!("searches")), ("load", json!(load.name))];
        let connections = ("connections", json!(connections));
        for (number, class) in classes.iter().enumerate() {
            let [case, load] = case.clone();
            let config = [case, load, connections.clone(), ("class", json!(class.name))];
            for (metric, unit, figure) in FIGURES {
                let runs = runs(passes, number, figure);
                bench.report.row(system, &config, metric, unit, &runs)?;
            }
        }
        let config = [case.as_slice(), &[connections]].concat();
        let flows: Vec<Flow> = passes.iter().filter_map(|pass| pass.flow).collect();
        if !flows.is_empty() {
            let of = |figure: fn(&Flow) -> f64| flows.iter().map(figure).collect::<Vec<f64>>();
            bench.report.row(system, &config, "docs_per_s", "1/s", &of(|flow| flow.rate))?;
            let visible = of(|flow| flow.visible.p99());
            bench.report.row(system, &config, "visible_p99_us", "us", &visible)?;
        }
    }
    Ok(())
}

fn print(passes: &Both<Vec<Pass>>, classes: &[Class], name: &str, connections: usize, load: &Load) {
    let what = format!("{name}, {}, connections: {connections}", load.name);
    let title = format!("{what}: searches/s; µs");
    let head = ["class", "spirit/s", "P50", "P99", "opensearch/s", "P50", "P99", "rate", "P99"];
    let mut table = Table::new(title, &head);
    let mut ratios = Vec::new();
    for (number, class) in classes.iter().enumerate() {
        let figures = |passes: &Vec<Pass>| FIGURES.map(|(_, _, of)| of_class(passes, number, of));
        let ours = figures(&passes.ours);
        let theirs = passes.theirs.as_ref().map(figures);
        let mut cells = vec![class.name.clone()];
        cells.extend(ours.map(number_of));
        if let Ok(theirs) = theirs {
            let (rate, p99) = (ours[RATE_OF] / theirs[RATE_OF], ours[P99_OF] / theirs[P99_OF]);
            cells.extend(theirs.map(number_of));
            cells.extend([rate, p99].map(|ratio| format!("{ratio:.2}×")));
            ratios.push(Ratios { class: class.name.clone(), rate, p99 });
        } else {
            cells.resize(head.len(), "–".to_owned());
        }
        table.line(cells);
    }
    table.print();
    for (system, passes) in passes.named() {
        if let Ok(passes) = passes {
            beside(system, passes);
        }
    }
    let ratios = passes.theirs.as_ref().map(|_| ratios).map_err(String::clone);
    bars(&what, &ratios, load);
}

fn number_of(value: f64) -> String {
    number(value)
}

/// Says what went on beside the searches.
fn beside(system: &str, passes: &[Pass]) {
    let client = median(&passes.iter().map(|pass| pass.client).collect::<Vec<_>>());
    println!("  {system}: the client took {:.0} % of its core", client * 100.0);
    let flows: Vec<Flow> = passes.iter().filter_map(|pass| pass.flow).collect();
    if flows.is_empty() {
        return;
    }
    let of = |figure: fn(&Flow) -> f64| median(&flows.iter().map(figure).collect::<Vec<f64>>());
    let (rate, p50) = (of(|flow| flow.rate), of(|flow| flow.visible.p50() / 1e3));
    let p99 = of(|flow| flow.visible.p99() / 1e3);
    println!(
        "  {system}: {} of {RATE} documents/s went in, found after P50 {} ms, P99 {} ms",
        number(rate),
        number(p50),
        number(p99)
    );
}

fn bars(what: &str, ratios: &Result<Vec<Ratios>, String>, load: &Load) {
    let mean = |of: fn(&Ratios) -> f64| {
        ratios.as_ref().map(|ratios| geometric_mean(ratios.iter().map(of))).map_err(String::clone)
    };
    let rate = mean(|ratios| ratios.rate);
    bar(what, Bound::AtLeast(load.must), "×", "OpenSearch's rate, all classes", &rate);
    bar(what, Bound::AtLeast(load.aim), "×", "OpenSearch's rate (aim)", &rate);
    bar(what, Bound::AtMost(1.0), "×", "OpenSearch's P99, all classes", &mean(|ratios| ratios.p99));
    let Ok(ratios) = ratios else { return };
    if let Some(slowest) = ratios.iter().min_by(|a, b| a.rate.total_cmp(&b.rate)) {
        println!("     least rate {:.2}×: {}", slowest.rate, slowest.class);
    }
    if let Some(slowest) = ratios.iter().max_by(|a, b| a.p99.total_cmp(&b.p99)) {
        println!("     worst P99 {:.2}×: {}", slowest.p99, slowest.class);
    }
}
