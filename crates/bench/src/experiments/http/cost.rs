//! HTTP's own cost: searches at a fixed rate over HTTP, beside the engine's time for the same searches.
//!
//! The engine is asked in this process, by a reader that follows the server's index: it has the same
//! memory. Its time is from the query to the ten best with their keys and texts, and the total up to
//! 10,000. The figures are of the differences, search by search. A search that takes the engine long
//! holds those behind it back on the server's one core, whatever HTTP costs. So only searches that take the engine [`CHEAP`]
//! at most are asked. They wait for one of several connections: the table says how late they were sent.
//!
//! Before them `/health/live` is asked at the same rate, which looks at no index. What that takes is what the machine takes
//! to wake two processes, and HTTP without a search.

use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::Method;
use serde_json::json;
use spirit::{Clause, Index, Reader, Search};
use spirit_opensearch::query::Context;
use spirit_opensearch::search::SearchBody;
use tokio::sync::mpsc;

use super::classes::Class;
use super::client::Connection;
use super::documents::INDEX;
use super::plan::Plan;
use super::side::{Side, Sides};
use crate::Fallible;
use crate::bench::Bench;
use crate::report::{Bound, Table, bar, number};
use crate::timing::{Latencies, Summary};

/// Searches a second.
const RATE: u64 = 2000;
/// Connections that take turns.
const CONNECTIONS: usize = 16;
/// The longest time of the engine for a search that is asked.
const CHEAP: Duration = Duration::from_micros(100);
/// How often the engine is asked each; the median counts.
const ASKS: usize = 7;

/// Requests that take turns.
#[derive(Clone)]
struct Asked {
    method: Method,
    path: String,
    bodies: Vec<Bytes>,
}

/// What came of it.
struct Measured {
    empty: Summary,
    http: Summary,
    engine: Summary,
    difference: Summary,
    late: Summary,
}

pub(super) fn measure(
    bench: &mut Bench,
    sides: &mut Sides,
    classes: &[Class],
    name: &str,
    plan: &Plan,
) -> Fallible<()> {
    let bodies: Vec<Bytes> = classes.iter().flat_map(|class| class.bodies.clone()).collect();
    let engine = ask_engine(&sides.ours, &bodies)?;
    let all = bodies.len();
    let cheap = bodies.into_iter().zip(engine).filter(|(_, engine)| *engine <= CHEAP);
    let (bodies, engine): (Vec<Bytes>, Vec<Duration>) = cheap.unzip();
    println!("{} of {all} searches take the engine {CHEAP:?} at most", bodies.len());
    let empty =
        Asked { method: Method::GET, path: "/health/live".to_owned(), bodies: vec![Bytes::new()] };
    let searches = Asked { method: Method::POST, path: format!("/{INDEX}/_search"), bodies };
    let mut all = Vec::new();
    for asked in [empty, searches] {
        all.push(sides.ours.run(at_rate(&sides.ours, asked, plan.steady))?);
    }
    let measured = Measured::of(&engine, &all[0], &all[1]);
    let title = format!("{name}: {RATE} searches/s over HTTP, and the engine alone, µs");
    let mut table = Table::new(title, &["what", "P50", "P95", "P99"]);
    let all = [
        ("empty answer", measured.empty),
        ("over HTTP", measured.http),
        ("engine", measured.engine),
        ("difference", measured.difference),
        ("sent late", measured.late),
    ];
    for (what, summary) in all {
        let config = [("case", json!("http cost")), ("what", json!(what))];
        bench.report.row("spirit", &config, "p50_us", "us", &[summary.p50()])?;
        bench.report.row("spirit", &config, "p99_us", "us", &[summary.p99()])?;
        let values = [summary.p50(), summary.p95(), summary.p99()].map(number);
        table.line([what.to_owned()].into_iter().chain(values));
    }
    table.print();
    let p99 = Ok(measured.difference.p99());
    bar("HTTP's own cost, P99", Bound::AtMost(300.0), " µs", "", &p99);
    bar("HTTP's own cost, P99", Bound::AtMost(100.0), " µs", "(aim)", &p99);
    Ok(())
}

impl Measured {
    fn of(engine: &[Duration], empty: &[Timed], asked: &[Timed]) -> Measured {
        let mut all: [Latencies; 4] = Default::default();
        let mut empties = Latencies::default();
        empty.iter().for_each(|timed| empties.push(timed.latency));
        for Timed { query, latency, late } in asked {
            let engine = engine[*query];
            // A search may be faster than the median of the engine's.
            let times = [*latency, engine, latency.saturating_sub(engine), *late];
            all.iter_mut().zip(times).for_each(|(latencies, time)| latencies.push(time));
        }
        let [http, engine, difference, late] = all.map(|mut latencies| latencies.summary());
        Measured { empty: empties.summary(), http, engine, difference, late }
    }
}

/// The engine's median time for each search, in this process.
fn ask_engine(side: &Side, bodies: &[Bytes]) -> Fallible<Vec<Duration>> {
    let index = Index::builder().directory(side.index_folder()).read_only(true).open()?;
    let (schema, mut reader) = (index.schema(), index.reader()?);
    let context = Context { schema: &schema, now: 0 };
    let refused = |refusal: spirit_opensearch::error::Refusal| refusal.reason.to_string();
    let mut times = Vec::with_capacity(bodies.len());
    for body in bodies {
        let body = SearchBody::parse(body).map_err(refused)?;
        let clause = body.hits_clause(&context).map_err(refused)?;
        let search = body.order(&schema).map_err(refused)?;
        let mut own = Vec::with_capacity(ASKS);
        for _ in 0..ASKS {
            own.push(time(&mut reader, &clause, &search)?);
        }
        own.sort_unstable();
        times.push(own[ASKS / 2]);
    }
    Ok(times)
}

fn time(reader: &mut Reader, clause: &Clause, search: &Search) -> Fallible<Duration> {
    let search = search.clone();
    let start = Instant::now();
    let hits = reader.search(clause, search)?;
    for hit in hits.iter() {
        std::hint::black_box((hit.key()?, hit.text()?));
    }
    Ok(start.elapsed())
}

/// A search over HTTP.
struct Timed {
    /// The number of its body.
    query: usize,
    /// From when it was sent until it was answered.
    latency: Duration,
    /// From when it was due until it was sent.
    late: Duration,
}

/// Asks at the rate. Connections wait for what is due in a queue.
async fn at_rate(side: &Side, asked: Asked, time: Duration) -> Result<Vec<Timed>, String> {
    let (done, mut answered) = mpsc::unbounded_channel();
    let mut queues = Vec::new();
    for connection in side.connect_all(CONNECTIONS).await? {
        let (queue, due) = mpsc::unbounded_channel();
        tokio::spawn(answer(connection, asked.clone(), due, done.clone()));
        queues.push(queue);
    }
    drop(done);
    let searches = RATE * time.as_millis() as u64 / 1000;
    let queries = asked.bodies.len();
    let pacer = std::thread::spawn(move || pace(searches, queries, &queues));
    let mut all = Vec::with_capacity(searches as usize);
    while let Some(timed) = answered.recv().await {
        all.push(timed?);
    }
    pacer.join().map_err(|_| "the thread that paces panicked")?;
    // The first are the connections' first.
    Ok(all.split_off(all.len() / 10))
}

/// The number of a search's body, and when it is due.
type Due = (usize, Instant);

/// Says when a search is due, as a thread: timers of the runtime have whole milliseconds.
fn pace(searches: u64, queries: usize, queues: &[mpsc::UnboundedSender<Due>]) {
    let start = Instant::now();
    for number in 0..searches {
        let due = start + Duration::from_nanos(number * 1_000_000_000 / RATE);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let number = number as usize;
        // A connection that broke has an error among the answers.
        let _ = queues[number % queues.len()].send((number % queries, due));
    }
}

async fn answer(
    mut connection: Connection,
    asked: Asked,
    mut queue: mpsc::UnboundedReceiver<Due>,
    done: mpsc::UnboundedSender<Result<Timed, String>>,
) {
    while let Some((query, due)) = queue.recv().await {
        let (late, start) = (due.elapsed(), Instant::now());
        let (method, body) = (asked.method.clone(), asked.bodies[query].clone());
        let answer = connection.must(method, &asked.path, body).await;
        let timed = answer.map(|_| Timed { query, latency: start.elapsed(), late });
        // Nobody waits any more after an error.
        let _ = done.send(timed);
    }
}
