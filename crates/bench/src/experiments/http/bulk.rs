//! Documents in bulks, each answered once it is durable.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use bytes::Bytes;
use serde_json::json;

use super::client::Connection;
use super::documents::{BULK, Documents, INDEX};
use super::plan::Plan;
use super::side::{Both, Side, Sides};
use crate::Fallible;
use crate::bench::Bench;
use crate::report::{Bound, Table, bar, number};
use crate::timing::{Latencies, Summary, median};

/// Connections that send at once.
const CONNECTIONS: [usize; 2] = [1, 8];

/// What came of sending documents.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Documents a second.
    rate: f64,
    /// Documents a second of the server's processor time, until all were visible.
    rate_of_cpu: f64,
    wait: Summary,
}

/// Measures rounds into a fresh index, and leaves one with all documents.
pub(super) fn measure(
    bench: &mut Bench,
    sides: &mut Sides,
    documents: &Documents,
    name: &str,
    plan: &Plan,
) -> Fallible<()> {
    let bodies: Arc<[Bytes]> = documents.bulks(plan.bulk_warm_up).into();
    sides.each(|side| {
        side.run(fill(side, bodies.clone(), CONNECTIONS[1], plan.bulk_warm_up.min(documents.len())))
    })?;
    let round = plan.bulk_round.min(documents.len());
    let bodies: Arc<[Bytes]> = documents.bulks(round).into();
    let title = format!("{name}: durable bulks of {BULK}, documents a second; a client's wait, ms");
    let head = ["way", "docs/s", "docs/s of CPU", "P50", "P99"];
    let mut table = Table::new(title, &head);
    let rounds = bench.rounds.min(plan.rounds_max);
    let mut measured = Vec::new();
    for connections in CONNECTIONS {
        let sent = sides
            .rounds(rounds, |side| side.run(fill(side, bodies.clone(), connections, round)))?;
        lines(
            bench,
            &mut table,
            &format!("connections: {connections}, {round}"),
            connections,
            &sent,
        )?;
        measured.push((connections, sent));
    }
    let all: Arc<[Bytes]> = documents.bulks(documents.len()).into();
    let connections = CONNECTIONS[1];
    let sent =
        sides.rounds(1, |side| side.run(fill(side, all.clone(), connections, documents.len())))?;
    let way = format!("connections: {connections}, all {}", documents.len());
    lines(bench, &mut table, &way, connections, &sent)?;
    table.print();
    for (connections, sent) in &measured {
        let what = format!("{name}: bulks, connections: {connections}");
        bars(&what, sent);
    }
    Ok(())
}

/// Sends documents into a fresh index.
async fn fill(
    side: &Side,
    bodies: Arc<[Bytes]>,
    connections: usize,
    documents: usize,
) -> Result<Sent, String> {
    side.make_index().await?;
    let connections = side.connect_all(connections).await?;
    let (next, cpu, start) =
        (Arc::new(AtomicUsize::new(0)), side.server().cpu_s()?, Instant::now());
    let senders: Vec<_> = connections
        .into_iter()
        .map(|connection| tokio::spawn(send(connection, bodies.clone(), next.clone())))
        .collect();
    let mut waits = Latencies::with_capacity(bodies.len());
    for sender in senders {
        waits.take_in(sender.await.map_err(|error| error.to_string())??);
    }
    let seconds = start.elapsed().as_secs_f64();
    side.must_have(documents).await?;
    let cpu = side.server().cpu_s()? - cpu;
    let documents = documents as f64;
    // The clock of processors has steps, which are longer than a small bulk.
    let rate_of_cpu = documents / cpu.max(0.01);
    Ok(Sent { rate: documents / seconds, rate_of_cpu, wait: waits.summary() })
}

/// Sends the next bulk until there are no more.
async fn send(
    mut connection: Connection,
    bodies: Arc<[Bytes]>,
    next: Arc<AtomicUsize>,
) -> Result<Latencies, String> {
    let path = format!("/{INDEX}/_bulk");
    let mut waits = Latencies::with_capacity(bodies.len());
    while let Some(body) = bodies.get(next.fetch_add(1, Relaxed)) {
        let start = Instant::now();
        connection.bulk(&path, body.clone()).await?;
        waits.push(start.elapsed());
    }
    Ok(waits)
}

fn lines(
    bench: &mut Bench,
    table: &mut Table,
    way: &str,
    connections: usize,
    sent: &Both<Vec<Sent>>,
) -> Fallible<()> {
    for (system, sent) in sent.named() {
        let Ok(sent) = sent else { continue };
        let runs = |of: fn(&Sent) -> f64| sent.iter().map(of).collect::<Vec<f64>>();
        let config =
            [("case", json!("bulk")), ("way", json!(way)), ("connections", json!(connections))];
        let rates = runs(|sent| sent.rate);
        let of_cpu = runs(|sent| sent.rate_of_cpu);
        let [p50, p99] = [runs(|sent| sent.wait.p50()), runs(|sent| sent.wait.p99())];
        bench.report.row(system, &config, "docs_per_s", "1/s", &rates)?;
        bench.report.row(system, &config, "docs_per_cpu_s", "1/s", &of_cpu)?;
        bench.report.row(system, &config, "p50_us", "us", &p50)?;
        bench.report.row(system, &config, "p99_us", "us", &p99)?;
        let waits = [p50, p99].map(|runs| number(median(&runs) / 1e3));
        let [p50, p99] = waits;
        let rates = [rates, of_cpu].map(|runs| number(median(&runs)));
        let [rate, of_cpu] = rates;
        table.line([format!("{system}, {way}"), rate, of_cpu, p50, p99]);
    }
    Ok(())
}

fn bars(what: &str, sent: &Both<Vec<Sent>>) {
    let of = |figure: fn(&Sent) -> f64| {
        move |sent: &Vec<Sent>| median(&sent.iter().map(figure).collect::<Vec<f64>>())
    };
    let ratio = sent.ratio(of(|sent| sent.rate));
    bar(what, Bound::AtLeast(5.0), "×", "OpenSearch", &ratio);
    bar(what, Bound::AtLeast(20.0), "×", "OpenSearch (aim)", &ratio);
    let of_cpu = of(|sent| sent.rate_of_cpu)(&sent.ours);
    bar(what, Bound::AtLeast(300_000.0), " docs/s", "of a core (aim)", &Ok(of_cpu));
}
