//! Members of a search's body, and the fields that hits have.

use super::highlight::Highlighting;
use super::limit::{count, time};
use super::{PointInTime, SearchBody, Slice, SourceFilter, TrackTotalHits, sort};
use crate::error::Refusal;
use crate::json::Json;
use crate::read;

/// A field whose values a hit has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name, in which `*` stands for any characters.
    pub field: String,
    /// The format of moments, such as `epoch_millis`.
    pub format: Option<String>,
}

/// Members that OpenSearch has and this server does not.
const UNSUPPORTED: [&str; 8] = [
    "collapse",
    "derived",
    "rescore",
    "runtime_mappings",
    "script_fields",
    "search_pipeline",
    "suggest",
    "verbose_pipeline",
];

impl SearchBody {
    /// Reads a member of the body.
    pub(crate) fn member(&mut self, name: &str, value: &Json) -> Result<(), Refusal> {
        match (name, value) {
            ("query", Json::Object(_)) => self.query = Some(value.clone()),
            ("post_filter", Json::Object(_)) => self.post_filter = Some(value.clone()),
            ("aggs" | "aggregations", Json::Object(_)) => self.aggregations = Some(value.clone()),
            ("highlight", Json::Object(_)) => self.highlight = Some(Highlighting::read(value)?),
            ("sort", _) => self.sort = sort::read(value)?,
            ("search_after", Json::Array(values)) => self.search_after = Some(values.clone()),
            ("_source", _) => self.source = SourceFilter::read(value)?,
            ("fields", Json::Array(fields)) => self.fields = parts(fields)?,
            ("docvalue_fields", Json::Array(fields)) => self.docvalue_fields = parts(fields)?,
            ("stored_fields", Json::Array(_) | Json::String(_)) => {
                self.stored_fields(&read::strings(value).unwrap_or_default());
            }
            ("from" | "size", _) => {
                let number = count(name, read::integer(value)?)?;
                *(if name == "from" { &mut self.from } else { &mut self.size }) = number;
            }
            ("track_total_hits", _) => self.track_total_hits = TrackTotalHits::read(value)?,
            ("timeout", _) => self.timeout = time(name, &read::shown(value))?,
            ("terminate_after", _) => {
                self.terminate_after = u64::try_from(read::integer(value)?).ok().filter(|n| *n > 0);
            }
            ("slice", Json::Object(members)) => self.slice = Some(Slice::read(members)?),
            ("pit", Json::Object(members)) => self.pit = Some(PointInTime::read(members)?),
            ("min_score", _) => self.min_score = Some(read::float(value)?),
            ("version", _) => self.version = read::boolean(value)?,
            ("seq_no_primary_term", _) => self.seq_no_primary_term = read::boolean(value)?,
            ("track_scores", _) => self.track_scores = read::boolean(value)?,
            ("explain" | "profile" | "include_named_queries_score", _) => {
                if read::boolean(value)? {
                    return Err(Refusal::unsupported(format_args!("[{name}] of a search")));
                }
            }
            // They name what a search counts for in statistics, and weigh indices among each other.
            ("stats", Json::Array(_)) => {}
            ("ext", Json::Object(members)) if members.is_empty() => {}
            ("indices_boost", Json::Array(values)) if values.is_empty() => {}
            ("rescore" | "suggest" | "script_fields", empty) if is_empty(empty) => {}
            ("ext" | "indices_boost", _) => return Err(unsupported(name)),
            (name, _) if UNSUPPORTED.contains(&name) => return Err(unsupported(name)),
            (name, value) => {
                let token = value.token();
                return Err(Refusal::parsing(format!("Unknown key for a {token} in [{name}].")));
            }
        }
        Ok(())
    }

    /// Takes the names of `stored_fields`. No field is stored on its own, so names but `_source` ask
    /// for nothing.
    pub(super) fn stored_fields(&mut self, names: &[String]) {
        self.is_bare = names == ["_none_"];
        self.source.is_off |= !names.iter().any(|name| name == "_source");
    }
}

fn unsupported(name: &str) -> Refusal {
    Refusal::unsupported(format_args!("[{name}] of a search"))
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Array(values) => values.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Reads fields that hits have: names, or objects with a name and a format.
fn parts(fields: &[Json]) -> Result<Vec<Part>, Refusal> {
    fields.iter().map(part).collect()
}

fn part(value: &Json) -> Result<Part, Refusal> {
    let Json::Object(members) = value else {
        return Ok(Part { field: read::shown(value), format: None });
    };
    let (mut field, mut format) = (None, None);
    for (name, value) in members {
        match name.as_str() {
            "field" => field = value.scalar(),
            "format" => format = value.scalar(),
            "include_unmapped" if !read::boolean(value)? => {}
            _ => {
                let what = format!("[docvalues_field] unknown field [{name}]");
                return Err(Refusal::content(what));
            }
        }
    }
    let missing = || Refusal::illegal_argument("Required [field]");
    Ok(Part { field: field.ok_or_else(missing)?, format })
}
