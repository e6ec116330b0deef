//! `_stats`: documents, bytes and segments of indexes.

use axum::extract::Path;
use axum::response::Response;
use serde_json::{Value, json};
use spirit_opensearch::error::Refusal;

use super::answer::filtered;
use super::names;
use super::parameters::Parameters;
use super::refused::Answered;
use crate::api::server::{Server, State};
use crate::served::Served;

/// Metrics that are here.
const METRICS: [&str; 3] = ["docs", "segments", "store"];
/// Metrics that OpenSearch has beside them.
const OTHERS: [&str; 14] = [
    "completion",
    "fielddata",
    "flush",
    "get",
    "indexing",
    "merge",
    "query_cache",
    "recovery",
    "refresh",
    "request_cache",
    "search",
    "suggest",
    "translog",
    "warmer",
];

/// The numbers of an index.
#[derive(Clone, Copy, Default)]
pub(super) struct Numbers {
    pub(super) documents: u64,
    /// Documents that were deleted or replaced, and whose room is not free yet.
    pub(super) deleted: u64,
    pub(super) bytes: u64,
    segments: usize,
}

impl Numbers {
    pub(super) fn of(served: &Served) -> Answered<Numbers> {
        let failed = |error: spirit::WriteError| {
            Refusal::new("engine_exception", 500, format!("[{}]: {error}", served.name))
        };
        let stats = served.index.stats().map_err(failed)?;
        Ok(Numbers {
            documents: stats.documents,
            deleted: stats.segments.iter().map(|segment| segment.dead).sum(),
            bytes: stats.bytes.index() + stats.bytes.keys + stats.bytes.texts,
            segments: stats.segments.len(),
        })
    }

    fn and(self, other: Numbers) -> Numbers {
        Numbers {
            documents: self.documents + other.documents,
            deleted: self.deleted + other.deleted,
            bytes: self.bytes + other.bytes,
            segments: self.segments + other.segments,
        }
    }

    fn json(self, metrics: &[&str]) -> Value {
        let mut numbers = json!({});
        for metric in metrics {
            numbers[*metric] = match *metric {
                "docs" => json!({ "count": self.documents, "deleted": self.deleted }),
                "store" => json!({ "size_in_bytes": self.bytes, "reserved_in_bytes": 0 }),
                _ => json!({ "count": self.segments }),
            };
        }
        // There are no replicas, so both are the same.
        json!({ "primaries": numbers, "total": numbers })
    }
}

pub(super) async fn all(
    State(server): State<Server>,
    index: Option<Path<String>>,
    parameters: Parameters,
) -> Answered<Response> {
    answer(&server, names::in_path(index.as_ref()), "_all", parameters)
}

/// Shows the metrics that a list names.
pub(super) async fn some(
    State(server): State<Server>,
    Path(path): Path<Vec<String>>,
    parameters: Parameters,
) -> Answered<Response> {
    match &path[..] {
        [index, metrics] => answer(&server, index, metrics, parameters),
        [metrics] => answer(&server, "*", metrics, parameters),
        _ => answer(&server, "*", "_all", parameters),
    }
}

fn answer(
    server: &Server,
    index: &str,
    metrics: &str,
    mut parameters: Parameters,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    let level = parameters.take("level").unwrap_or("indices".to_owned());
    if !matches!(&*level, "cluster" | "indices") {
        return Err(Refusal::unsupported(format!("[level={level}]")).into());
    }
    for accepted in ["forbid_closed_indices", "include_unloaded_segments"] {
        parameters.take(accepted);
    }
    let parameters = parameters.end_of_indexes()?;
    let metrics = read(metrics, &parameters)?;
    let (mut sum, mut indices) = (Numbers::default(), json!({}));
    let served = names::resolve(server, index, may_be_missing)?;
    for served in &served {
        let numbers = Numbers::of(served)?;
        sum = sum.and(numbers);
        let mut shown = numbers.json(&metrics);
        shown["uuid"] = served.name.as_str().into();
        indices[served.name.as_str()] = shown;
    }
    let shards = served.len();
    let mut body = json!({
        "_shards": { "total": shards, "successful": shards, "failed": 0 },
        "_all": sum.json(&metrics),
    });
    if level == "indices" {
        body["indices"] = indices;
    }
    Ok(filtered(&parameters, 200, body.to_string()))
}

/// Reads a list of metrics.
fn read<'m>(metrics: &'m str, parameters: &Parameters) -> Answered<Vec<&'m str>> {
    let metrics: Vec<&str> = metrics.split(',').collect();
    if metrics.contains(&"_all") {
        return Ok(METRICS.to_vec());
    }
    match metrics.iter().find(|metric| !METRICS.contains(metric)) {
        None => Ok(metrics),
        Some(metric) if OTHERS.contains(metric) => {
            Err(Refusal::unsupported(format!("the metric [{metric}]")).into())
        }
        Some(metric) => {
            let reason = format!("request [{}] contains unrecognized metric", parameters.path);
            Err(Refusal::illegal_argument(format!("{reason}: [{metric}]")).into())
        }
    }
}
