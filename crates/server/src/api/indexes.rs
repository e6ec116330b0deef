//! `/api/v1/{index}`: making, showing and deleting indexes.

use axum::Json;
use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use spirit::stats::{PartitionStats, SegmentStats};
use spirit::{Analyzer, Durability, FieldKind, OnFull};
use spirit_forms::size::Size;

use super::body;
use super::server::{Parameters, Server, State, index_name};
use crate::catalog::Absent;
use crate::problem::{Answered, Problem};
use crate::served::{Served, Taken};
use crate::settings;

/// Names that have a meaning in paths where indexes' names stand.
const RESERVED: [&str; 2] = ["version", "openapi.json"];

/// What can be asked for when an index is made. What is not, is as the server's settings say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    dram: Option<String>,
    nvm: Option<String>,
    durability: Option<String>,
    on_full: Option<String>,
    analyzer: Option<String>,
    retain: Option<String>,
    packed: bool,
    strict: bool,
    /// Fields, each with its kind, as in `spirit ingest --schema`.
    fields: serde_json::Map<String, serde_json::Value>,
}

/// An index, as it is shown.
#[derive(Serialize)]
pub(super) struct Shown {
    index: String,
    /// None if the index has failed.
    documents: Option<u64>,
    dram: u64,
    nvm: u64,
    durability: String,
    analyzer: String,
}

impl Shown {
    fn of(served: &Served) -> Shown {
        let settings = served.index.settings();
        Shown {
            index: served.name.to_string(),
            documents: served.index.stats().ok().map(|stats| stats.documents),
            dram: settings.dram_bytes,
            nvm: settings.nvm_bytes,
            durability: settings.durability.to_string(),
            analyzer: settings.analyzer.to_string(),
        }
    }
}

pub(super) async fn list(State(server): State<Server>) -> Json<Vec<Shown>> {
    let mut all = server.catalog().all();
    all.retain(|served| server.access().is_for(served.name.as_str()));
    Json(all.iter().map(|served| Shown::of(served)).collect())
}

pub(super) async fn show(
    State(server): State<Server>,
    Path(index): Path<String>,
) -> Answered<Json<Shown>> {
    Ok(Json(Shown::of(&*server.index(&index)?)))
}

pub(super) async fn make(
    State(server): State<Server>,
    Path(index): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered<(StatusCode, Json<Shown>)> {
    let name = index_name(&index)?;
    if RESERVED.contains(&&*index) {
        return Err(Problem::bad(format!(
            "no index can be called {index:?}: the path has a meaning"
        )));
    }
    let body = body::read(&server, &headers, body).await?;
    let asked = match body.trim_ascii() {
        b"" => Asked::default(),
        body => serde_json::from_slice(body).map_err(Problem::bad)?,
    };
    let catalog = server.catalog().clone();
    let shown = server.write(move || {
        let sizes = asked.sizes(catalog.default_sizes())?;
        let settings = asked.read()?;
        let served = catalog.make(&name, sizes, |builder| settings.apply(builder))?;
        Ok(Shown::of(&served))
    });
    Ok((StatusCode::CREATED, Json(shown.await?)))
}

pub(super) async fn delete(
    State(server): State<Server>,
    Path(index): Path<String>,
) -> Answered<StatusCode> {
    let name = index_name(&index)?;
    let catalog = server.catalog().clone();
    let deleted = server.write(move || {
        let removed = catalog.delete(&name).map_err(|absent: Absent| Problem::from(absent))?;
        removed.map_err(|error| Problem::internal(format!("{name}: {error}")))
    });
    deleted.await.map(|()| StatusCode::NO_CONTENT)
}

pub(super) async fn schema(
    State(server): State<Server>,
    Path(index): Path<String>,
) -> Answered<Json<serde_json::Map<String, serde_json::Value>>> {
    let schema = server.index(&index)?.index.schema();
    let fields = schema.fields().iter().skip(1);
    let fields = fields.map(|field| (field.name.clone(), field.kind.to_string().into()));
    Ok(Json(fields.collect()))
}

#[derive(Serialize)]
pub(super) struct Stats {
    documents: u64,
    accepted: u64,
    deleted: u64,
    expired: u64,
    segments: usize,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    heap: Option<Heap>,
}

/// A picture of an index's memory.
#[derive(Serialize)]
struct Heap {
    partitions: Vec<Partition>,
    /// The newest first.
    segments: Vec<Segment>,
}

#[derive(Serialize)]
struct Partition {
    executor: usize,
    name: &'static str,
    used: u64,
    size: u64,
    /// The largest free block, if the partition gives out blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    largest_free: Option<u64>,
}

#[derive(Serialize)]
struct Segment {
    executor: usize,
    position: u32,
    state: String,
    rows: u64,
    dead: u64,
    bytes: u64,
}

impl Heap {
    fn of(stats: &spirit::stats::Stats) -> Heap {
        let partition = |one: &PartitionStats| {
            let PartitionStats { executor, name, used, bytes, largest_free, .. } = *one;
            Partition { executor, name, used, size: bytes, largest_free }
        };
        let segment = |one: &SegmentStats| {
            let SegmentStats { executor, position, rows, dead, .. } = *one;
            let (state, bytes) = (one.state.clone(), one.bytes.index());
            Segment { executor, position, state, rows, dead, bytes }
        };
        Heap {
            partitions: stats.partitions.iter().map(partition).collect(),
            segments: stats.segments.iter().map(segment).collect(),
        }
    }
}

/// What `stats` can be asked for.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Wanted {
    /// `yes` for a picture of the memory.
    heap: String,
}

pub(super) async fn stats(
    State(server): State<Server>,
    Path(index): Path<String>,
    Parameters(wanted): Parameters<Wanted>,
) -> Answered<Json<Stats>> {
    let wants_heap = match &*wanted.heap {
        "yes" | "true" => true,
        "" | "no" | "false" => false,
        _ => return Err(Problem::bad("heap: expected yes or no")),
    };
    let served = server.index(&index)?;
    let stats = served.index.stats()?;
    Ok(Json(Stats {
        documents: stats.documents,
        accepted: stats.accepted,
        deleted: stats.deleted,
        expired: stats.expired,
        segments: stats.segments.len(),
        bytes: stats.bytes.index(),
        heap: wants_heap.then(|| Heap::of(&stats)),
    }))
}

/// What was asked for, read.
struct Settings {
    durability: Option<Durability>,
    on_full: Option<OnFull>,
    analyzer: Option<Analyzer>,
    retain: Option<std::time::Duration>,
    packed: bool,
    strict: bool,
    fields: Vec<(String, FieldKind)>,
}

impl Asked {
    fn sizes(&self, default: Taken) -> Answered<Taken> {
        let read = |name, text: &Option<String>, default| match text {
            Some(text) => text.parse::<Size>().map(|size| size.0).map_err(|why| wrong(name, &why)),
            None => Ok(default),
        };
        Ok(Taken {
            dram: read("dram", &self.dram, default.dram)?,
            nvm: read("nvm", &self.nvm, default.nvm)?,
        })
    }

    fn read(self) -> Answered<Settings> {
        let durability = self.durability.as_deref().map(settings::durability).transpose();
        let on_full = self.on_full.as_deref().map(settings::on_full).transpose();
        let analyzer = self.analyzer.as_deref().map(str::parse::<Analyzer>).transpose();
        let retain = self.retain.as_deref().map(humantime::parse_duration).transpose();
        let kind = |(name, kind): (String, serde_json::Value)| {
            let read = kind.as_str().unwrap_or_default().parse::<FieldKind>();
            read.map_err(|why| wrong(&name, &why)).map(|kind| (name, kind))
        };
        Ok(Settings {
            durability: durability.map_err(|why| wrong("durability", &why))?,
            on_full: on_full.map_err(|why| wrong("on_full", &why))?,
            analyzer: analyzer.map_err(|why| wrong("analyzer", &why))?,
            retain: retain.map_err(|why| wrong("retain", &why))?,
            packed: self.packed,
            strict: self.strict,
            fields: self.fields.into_iter().map(kind).collect::<Answered<_>>()?,
        })
    }
}

impl Settings {
    fn apply(self, mut builder: spirit::Builder) -> spirit::Builder {
        builder = builder.packed(self.packed).strict(self.strict);
        if let Some(durability) = self.durability {
            builder = builder.durability(durability);
        }
        if let Some(on_full) = self.on_full {
            builder = builder.on_full(on_full);
        }
        if let Some(analyzer) = self.analyzer {
            builder = builder.analyzer(analyzer);
        }
        if let Some(age) = self.retain {
            builder = builder.retain(age);
        }
        self.fields.into_iter().fold(builder, |builder, (name, kind)| builder.field(name, kind))
    }
}

fn wrong(name: &str, why: &dyn std::fmt::Display) -> Problem {
    Problem::bad(format!("{name}: {why}"))
}
