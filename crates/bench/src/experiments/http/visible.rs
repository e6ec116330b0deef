//! One document that is put, until another connection finds it.
//!
//! The search is sent when the put is answered. It finds the document, since both sides have made it
//! visible by then: ours always, OpenSearch by its parameter. A client that asked meanwhile would take
//! time from a server with one core.

use std::time::Instant;

use bytes::Bytes;
use hyper::Method;
use serde_json::json;

use super::documents::INDEX;
use super::plan::Plan;
use super::side::{Side, Sides};
use super::stream::{until_found, word};
use crate::Fallible;
use crate::bench::Bench;
use crate::report::{Bound, Table, bar, number};
use crate::timing::{Latencies, Summary};

/// The ways to ask for a visible document, of OpenSearch; ours has one.
const REFRESH: &str = "?refresh=true";
const WAIT_FOR: &str = "?refresh=wait_for";

pub(super) fn measure(
    bench: &mut Bench,
    sides: &mut Sides,
    name: &str,
    plan: &Plan,
) -> Fallible<()> {
    let both = sides.each(|side| {
        let parameter = if side.is_ours { "" } else { REFRESH };
        side.run(put(side, parameter, plan.puts))
    })?;
    let title = format!("{name}: from a put until another connection finds it, ms");
    let mut table = Table::new(title, &["way", "P50", "P95", "P99"]);
    for (system, measured) in both.named() {
        match measured {
            Ok(measured) => line(bench, &mut table, system, "refresh=true", measured)?,
            Err(reason) => table.not_measured(system, reason),
        }
    }
    if let Ok(side) = &sides.theirs {
        let measured = side.run(put(side, WAIT_FOR, plan.puts_waiting))?;
        line(bench, &mut table, side.name, "refresh=wait_for", &measured)?;
    }
    table.print();
    let faster = both.inverse(Summary::p50);
    bar("put until found, P50", Bound::AtLeast(10.0), "×", "OpenSearch", &faster);
    let ours = Ok(both.ours.p99() / 1e3);
    bar("put until found, P99", Bound::AtMost(5.0), " ms", "", &ours);
    bar("put until found, P99", Bound::AtMost(1.0), " ms", "(aim)", &ours);
    Ok(())
}

async fn put(side: &Side, parameter: &str, times: usize) -> Result<Summary, String> {
    let (mut writer, mut finder) = (side.connect().await?, side.connect().await?);
    let mut latencies = Latencies::with_capacity(times);
    // As many again warm the server up, but for those that wait for a second each.
    let warm_up = if parameter == WAIT_FOR { 1 } else { times };
    for number in 0..warm_up + times {
        let word = word();
        let path = format!("/{INDEX}/_doc/{word}{parameter}");
        let body = Bytes::from(json!({"text": word, "ts": 1_300_000_000}).to_string());
        let start = Instant::now();
        writer.must(Method::PUT, &path, body).await?;
        until_found(&mut finder, &word, start).await?;
        if number >= warm_up {
            latencies.push(start.elapsed());
        }
    }
    Ok(latencies.summary())
}

fn line(
    bench: &mut Bench,
    table: &mut Table,
    system: &str,
    way: &str,
    measured: &Summary,
) -> Fallible<()> {
    let config = [("case", json!("put until found")), ("way", json!(way))];
    for (metric, value) in [("p50_us", measured.p50()), ("p99_us", measured.p99())] {
        bench.report.row(system, &config, metric, "us", &[value])?;
    }
    let values = [measured.p50(), measured.p95(), measured.p99()].map(|us| number(us / 1e3));
    let way = if system == "spirit" { system.to_owned() } else { format!("{system} {way}") };
    table.line([way].into_iter().chain(values));
    Ok(())
}
