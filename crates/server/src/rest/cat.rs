//! `_cat`: tables of indexes, of aliases, of the health, and of numbers of documents.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::Path;
use axum::response::Response;
use spirit::lab::format_time;
use spirit_opensearch::error::Refusal;

use super::identity::{self, Health};
use super::names;
use super::parameters::Parameters;
use super::refused::Answered;
use super::stats::Numbers;
use super::table::{Column, Kind, Look, Table};
use crate::api::server::{Server, State};
use crate::pattern::matches;
use crate::served::Served;

const fn column(
    name: &'static str,
    aliases: &'static str,
    description: &'static str,
    kind: Kind,
) -> Column {
    Column { name, aliases, description, kind, is_usual: true }
}

const fn further(column: Column) -> Column {
    Column { is_usual: false, ..column }
}

const INDICES: [Column; 12] = [
    column("health", "h", "current health status", Kind::Text),
    column("status", "s", "open/close status", Kind::Text),
    column("index", "i,idx", "index name", Kind::Text),
    column("uuid", "id,uuid", "index uuid", Kind::Text),
    column("pri", "p,shards.primary,shardsPrimary", "number of primary shards", Kind::Number),
    column("rep", "r,shards.replica,shardsReplica", "number of replica shards", Kind::Number),
    column("docs.count", "dc,docsCount", "available docs", Kind::Number),
    column("docs.deleted", "dd,docsDeleted", "deleted docs", Kind::Number),
    further(column("creation.date", "cd", "index creation date (millisecond value)", Kind::Number)),
    further(column("creation.date.string", "cds", "index creation date (as string)", Kind::Text)),
    column("store.size", "ss,storeSize", "store size of primaries & replicas", Kind::Bytes),
    column("pri.store.size", "", "store size of primaries", Kind::Bytes),
];

const ALIASES: [Column; 6] = [
    column("alias", "a", "alias name", Kind::Text),
    column("index", "i,idx", "index alias points to", Kind::Text),
    column("filter", "f,fi", "filter", Kind::Text),
    column("routing.index", "ri,routingIndex", "index routing", Kind::Text),
    column("routing.search", "rs,routingSearch", "search routing", Kind::Text),
    column("is_write_index", "w,isWriteIndex", "write index", Kind::Text),
];

const HEALTH: [Column; 15] = [
    column("epoch", "t,time", "seconds since 1970-01-01 00:00:00", Kind::Text),
    column("timestamp", "ts,hms,hhmmss", "time in HH:MM:SS", Kind::Text),
    column("cluster", "cl", "cluster name", Kind::Text),
    column("status", "st", "health status", Kind::Text),
    column("node.total", "nt,nodeTotal", "total number of nodes", Kind::Number),
    column("node.data", "nd,nodeData", "number of nodes that can store data", Kind::Number),
    column(
        "discovered_cluster_manager",
        "dcm,dm,discovered_master",
        "cluster manager is discovered or not",
        Kind::Text,
    ),
    column("shards", "t,sh,shards.total,shardsTotal", "total number of shards", Kind::Number),
    column("pri", "p,shards.primary,shardsPrimary", "number of primary shards", Kind::Number),
    column(
        "relo",
        "r,shards.relocating,shardsRelocating",
        "number of relocating nodes",
        Kind::Number,
    ),
    column(
        "init",
        "i,shards.initializing,shardsInitializing",
        "number of initializing nodes",
        Kind::Number,
    ),
    column(
        "unassign",
        "u,shards.unassigned,shardsUnassigned",
        "number of unassigned shards",
        Kind::Number,
    ),
    column("pending_tasks", "pt,pendingTasks", "number of pending tasks", Kind::Number),
    column(
        "max_task_wait_time",
        "mtwt,maxTaskWaitTime",
        "wait time of longest task pending",
        Kind::Number,
    ),
    column(
        "active_shards_percent",
        "asp,activeShardsPercent",
        "active number of shards in percent",
        Kind::Number,
    ),
];

const COUNT: [Column; 3] = [
    column("epoch", "t,time", "seconds since 1970-01-01 00:00:00", Kind::Text),
    column("timestamp", "ts,hms,hhmmss", "time in HH:MM:SS", Kind::Text),
    column("count", "dc,docs.count,docsCount", "the document count", Kind::Number),
];

pub(super) async fn indices(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let look = Look::take(&mut parameters)?;
    // All indexes that answer are green.
    let is_green = match parameters.take("health").as_deref() {
        None | Some("green" | "GREEN") => true,
        Some("yellow" | "YELLOW" | "red" | "RED") => false,
        Some(other) => {
            let reason = format!("unknown cluster health status [{other}]");
            return Err(Refusal::illegal_argument(reason).into());
        }
    };
    for accepted in ["include_unloaded_segments", "pri"] {
        parameters.take(accepted);
    }
    let parameters = parameters.end_of_indexes()?;
    let served = names::resolve(&server, names::in_path(index.as_ref()), false)?;
    let rows = served.iter().filter(|_| is_green).map(|served| row(served));
    let rows = rows.collect::<Answered<_>>()?;
    Table { columns: &INDICES, rows }.shown(&look, &parameters)
}

fn row(served: &Served) -> Answered<Vec<String>> {
    let numbers = Numbers::of(served)?;
    let name = served.name.as_str();
    let made = served.made_ms().and_then(|ms| i64::try_from(ms).ok());
    let size = numbers.bytes.to_string();
    let mut row: Vec<String> = ["green", "open", name, name, "1", "0"].map(str::to_owned).to_vec();
    row.extend([numbers.documents, numbers.deleted].map(|number| number.to_string()));
    row.push(made.map_or(String::new(), |ms| ms.to_string()));
    row.push(made.map_or(String::new(), format_time));
    row.extend([size.clone(), size]);
    Ok(row)
}

pub(super) async fn health(
    State(server): State<Server>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let look = Look::take(&mut parameters)?;
    let with_time = parameters.take("ts").as_deref() != Some("false");
    let parameters = parameters.end_of_indexes()?;
    let Health { status, serving, starting, failed, percent } = identity::health_of(&server);
    let [epoch, time] = now();
    let mut row = vec![epoch, time, "spirit".to_owned(), status.to_owned()];
    row.extend(["1", "1", "true"].map(str::to_owned));
    row.extend([serving, serving, 0, starting, failed, 0].map(|number| number.to_string()));
    row.extend(["-".to_owned(), format!("{percent:.1}%")]);
    let (columns, rows) = match with_time {
        true => (&HEALTH[..], vec![row]),
        false => (&HEALTH[2..], vec![row.split_off(2)]),
    };
    Table { columns, rows }.shown(&look, &parameters)
}

pub(super) async fn count(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let look = Look::take(&mut parameters)?;
    let parameters = parameters.end_of_indexes()?;
    let mut count = 0;
    for served in names::resolve(&server, names::in_path(index.as_ref()), false)? {
        count += Numbers::of(&served)?.documents;
    }
    let [epoch, time] = now();
    let rows = vec![vec![epoch, time, count.to_string()]];
    Table { columns: &COUNT, rows }.shown(&look, &parameters)
}

pub(super) async fn aliases(
    State(server): State<Server>,
    alias: Option<Path<String>>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let look = Look::take(&mut parameters)?;
    let parameters = parameters.end_of_indexes()?;
    let patterns = alias.map_or("*".to_owned(), |Path(alias)| alias);
    let is_it = |name: &str| patterns.split(',').any(|pattern| matches(pattern, name));
    let registered = server.catalog().registry().now();
    let mut rows = Vec::new();
    for (alias, indexes) in registered.aliases.iter().filter(|(alias, _)| is_it(alias)) {
        for (index, is_write) in indexes {
            let is_write = is_write.map_or("-".to_owned(), |yes| yes.to_string());
            let mut row = vec![alias.clone(), index.clone()];
            row.extend(["-", "-", "-"].map(str::to_owned));
            row.push(is_write);
            rows.push(row);
        }
    }
    Table { columns: &ALIASES, rows }.shown(&look, &parameters)
}

/// Returns the seconds since 1970, and the time of day.
fn now() -> [String; 2] {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let [hour, minute, second] = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60];
    [seconds.to_string(), format!("{hour:02}:{minute:02}:{second:02}")]
}
