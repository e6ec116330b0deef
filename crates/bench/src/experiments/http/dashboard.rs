//! A dashboard: a histogram by time for each of the most frequent channels, now and then, beside ingest.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use hyper::Method;
use serde_json::{Value, json};

use super::documents::INDEX;
use super::plan::Plan;
use super::side::{Both, Side, Sides};
use super::stream::{Flow, Stream};
use crate::Fallible;
use crate::bench::Bench;
use crate::report::{Bound, Table, bar, number};
use crate::timing::{Latencies, Summary};

/// What a panel asks.
const ASK: &str = r#"{"size":0,"track_total_hits":true,"aggs":{"channels":{"terms":{"field":"channel","size":10},
    "aggs":{"days":{"date_histogram":{"field":"ts","calendar_interval":"day"}}}}}}"#;
/// How often it is asked beforehand.
const WARM_UP: usize = 3;

/// Asks both for the same, and returns an error if the buckets differ.
pub(super) fn compare(sides: &mut Sides) -> Result<(), String> {
    let Both { ours, theirs } = sides.each(|side| {
        side.run(async {
            let path = format!("/{INDEX}/_search");
            side.connect().await?.json(Method::POST, &path, ASK).await
        })
    })?;
    let Ok(theirs) = theirs else { return Ok(()) };
    let of = |answer: &Value| buckets(answer).ok_or_else(|| format!("no buckets: {answer}"));
    let (ours, theirs) = (of(&ours)?, of(&theirs)?);
    if ours == theirs {
        println!("dashboard: {} buckets alike", ours.len());
        return Ok(());
    }
    let differing = ours.iter().zip(&theirs).find(|(one, other)| one != other);
    Err(format!(
        "dashboards differ: {} buckets, theirs {}; the first {differing:?}",
        ours.len(),
        theirs.len()
    ))
}

/// Key and number of each bucket, those within others behind them.
fn buckets(answer: &Value) -> Option<Vec<(String, u64)>> {
    let channels = &answer["aggregations"]["channels"];
    let total = answer["hits"]["total"]["value"].as_u64()?;
    let mut all = vec![("total".to_owned(), total)];
    all.push(("others".to_owned(), channels["sum_other_doc_count"].as_u64()?));
    for channel in channels["buckets"].as_array()? {
        let mut of = |bucket: &Value| {
            all.push((bucket["key"].to_string(), bucket["doc_count"].as_u64()?));
            Some(())
        };
        of(channel)?;
        channel["days"]["buckets"].as_array()?.iter().try_for_each(of)?;
    }
    Some(all)
}

/// Measures it, with documents going in.
pub(super) fn measure(
    bench: &mut Bench,
    sides: &mut Sides,
    bulks: &Arc<[Bytes]>,
    name: &str,
    plan: &Plan,
) -> Fallible<()> {
    let both = sides.each(|side| side.run(ask(side, bulks, plan)))?;
    let title = format!("{name}: a dashboard every {:?} beside ingest, ms", plan.dashboard_every);
    let mut table = Table::new(title, &["system", "P50", "P95", "P99", "documents/s"]);
    for (system, measured) in both.named() {
        match measured {
            Err(reason) => table.not_measured(system, reason),
            Ok((latency, flow)) => {
                let config = [("case", json!("dashboard"))];
                let rows = [("p50_us", "us", latency.p50()), ("p99_us", "us", latency.p99())];
                for (metric, unit, value) in
                    rows.into_iter().chain([("docs_per_s", "1/s", flow.rate)])
                {
                    bench.report.row(system, &config, metric, unit, &[value])?;
                }
                let values =
                    [latency.p50(), latency.p95(), latency.p99()].map(|us| number(us / 1e3));
                let cells = [system.to_owned()].into_iter().chain(values);
                table.line(cells.chain([number(flow.rate)]));
            }
        }
    }
    table.print();
    let faster = both.inverse(|(latency, _)| latency.p50());
    bar("dashboard, P50", Bound::AtLeast(2.0), "×", "OpenSearch", &faster);
    bar("dashboard, P50", Bound::AtLeast(10.0), "×", "OpenSearch (aim)", &faster);
    Ok(())
}

async fn ask(side: &Side, bulks: &Arc<[Bytes]>, plan: &Plan) -> Result<(Summary, Flow), String> {
    let (mut connection, path) = (side.connect().await?, format!("/{INDEX}/_search"));
    let stream = Stream::start(side, bulks).await?;
    let mut latencies = Latencies::with_capacity(plan.dashboards);
    for number in 0..WARM_UP + plan.dashboards {
        let start = Instant::now();
        connection.must(Method::POST, &path, Bytes::from_static(ASK.as_bytes())).await?;
        if number >= WARM_UP {
            latencies.push(start.elapsed());
            tokio::time::sleep_until((start + plan.dashboard_every).into()).await;
        }
    }
    Ok((latencies.summary(), stream.end().await?))
}
