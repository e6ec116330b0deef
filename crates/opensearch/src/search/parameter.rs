//! Parameters of the URL of `_search`.

use super::limit::{count, time};
use super::source::list;
use super::{Part, SearchBody, TrackTotalHits, sort};
use crate::error::Refusal;
use crate::json::Json;
use crate::read::boolean_text;

/// Reads a parameter. False if `_search` does not have it.
pub(super) fn read(body: &mut SearchBody, name: &str, value: &str) -> Result<bool, Refusal> {
    match name {
        "q" => body.text = Some(value.to_owned()),
        "df" => option(body, "default_field", value),
        "default_operator" => {
            option(body, name, value);
            crate::query::check_operator(value)?;
        }
        "analyzer" | "analyze_wildcard" | "lenient" => option(body, name, value),
        "from" | "size" => {
            let number = count(name, integer(name, value)?)?;
            *(if name == "from" { &mut body.from } else { &mut body.size }) = number;
        }
        "sort" => body.sort = sort::of_parameter(value)?,
        "_source" => body.source.read_parameter(value),
        "_source_includes" => body.source.includes = list(value),
        "_source_excludes" => body.source.excludes = list(value),
        "stored_fields" => body.stored_fields(&list(value)),
        "docvalue_fields" => {
            let part = |field| Part { field, format: None };
            body.docvalue_fields = list(value).into_iter().map(part).collect();
        }
        "track_total_hits" => {
            body.track_total_hits = match value {
                "true" | "" => TrackTotalHits::Exactly,
                "false" => TrackTotalHits::Off,
                _ => TrackTotalHits::up_to(integer(name, value)?)?,
            };
        }
        "timeout" => body.timeout = time(name, value)?,
        "scroll" => body.scroll = time(name, value)?,
        "terminate_after" => {
            body.terminate_after = u64::try_from(integer(name, value)?).ok().filter(|n| *n > 0);
        }
        "version" => body.version = flag(value)?,
        "seq_no_primary_term" => body.seq_no_primary_term = flag(value)?,
        "track_scores" => body.track_scores = flag(value)?,
        "rest_total_hits_as_int" => body.total_as_int = flag(value)?,
        "typed_keys" => body.typed_keys = flag(value)?,
        "explain" if flag(value)? => return Err(Refusal::unsupported("[explain] of a search")),
        "search_type" => search_type(value)?,
        // They say how a cluster answers. The answer is the same.
        "allow_no_indices"
        | "allow_partial_search_results"
        | "ccs_minimize_roundtrips"
        | "explain"
        | "ignore_throttled"
        | "ignore_unavailable"
        | "request_cache" => {
            flag(value).map(drop)?;
        }
        "batched_reduce_size" | "max_concurrent_shard_requests" | "pre_filter_shard_size" => {
            integer(name, value).map(drop)?;
        }
        "expand_wildcards" | "preference" | "routing" | "stats" => {}
        _ => return Ok(false),
    }
    Ok(true)
}

fn option(body: &mut SearchBody, name: &str, value: &str) {
    body.text_options.retain(|(known, _)| known != name);
    body.text_options.push((name.to_owned(), Json::String(value.to_owned())));
}

/// Reads a boolean. A parameter without a value is true.
fn flag(value: &str) -> Result<bool, Refusal> {
    if value.is_empty() { Ok(true) } else { boolean_text(value) }
}

fn integer(name: &str, value: &str) -> Result<i64, Refusal> {
    let wrong = || {
        let what = format!("Failed to parse int parameter [{name}] with value [{value}]");
        Refusal::illegal_argument(what)
    };
    value.parse().map_err(|_| wrong())
}

fn search_type(name: &str) -> Result<(), Refusal> {
    match name {
        "query_then_fetch" | "dfs_query_then_fetch" => Ok(()),
        _ => Err(Refusal::illegal_argument(format!("No search type for [{name}]"))),
    }
}
