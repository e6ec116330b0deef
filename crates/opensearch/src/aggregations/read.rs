//! Reading of aggregations.

use spirit::FieldKind;

use super::chosen::Chosen;
use super::interval::{self, Interval};
use super::metrics;
use super::options::{Options, unsuitable};
use super::pipeline;
use super::top_hits;
use super::written;
use super::{Aggregations, Asked, BUCKETS_MAX, Look, Metric, MetricOrder, Named, OrderBy, Range};
use crate::date::Dates;
use crate::error::Refusal;
use crate::json::Json;
use crate::query::{self, Context};
use crate::read::shown;

type Read<T> = Result<T, Refusal>;

/// Aggregations that OpenSearch has and this server does not.
const UNSUPPORTED: [&str; 20] = [
    "adjacency_matrix",
    "auto_date_histogram",
    "composite",
    "diversified_sampler",
    "extended_stats_bucket",
    "geo_bounds",
    "geohash_grid",
    "global",
    "median_absolute_deviation",
    "multi_terms",
    "nested",
    "percentile_ranks",
    "percentiles_bucket",
    "rare_terms",
    "reverse_nested",
    "sampler",
    "scripted_metric",
    "significant_terms",
    "significant_text",
    "weighted_avg",
];

/// Reads the aggregations of a search, or those within another one.
pub(super) fn all(aggregations: &Json, context: &Context<'_>) -> Read<Aggregations> {
    let Json::Object(members) = aggregations else {
        let token = aggregations.token();
        return Err(Refusal::parsing(format!("Unknown key for a {token} in [aggs].")));
    };
    let one = |(name, body): &(String, Json)| named(name, body, context);
    pipeline::arranged(members.iter().map(one).collect::<Read<_>>()?)
}

fn named(name: &str, body: &Json, context: &Context<'_>) -> Read<Named> {
    let missing = || Refusal::parsing(format!("Missing definition for aggregation [{name}]"));
    let Json::Object(members) = body else { return Err(missing()) };
    let (mut found, mut within, mut meta) = (None, Aggregations(Vec::new()), None);
    for (member, value) in members {
        match member.as_str() {
            "aggs" | "aggregations" => within = all(value, context)?,
            "meta" => meta = Some(value.clone()),
            kind => {
                if let Some((first, _)) = found {
                    let what = format!("Found two aggregation type definitions in [{name}]:");
                    return Err(Refusal::parsing(format!("{what} [{first}] and [{kind}]")));
                }
                let asked = match pipeline::pipeline(kind, name, value)? {
                    Some(pipeline) => Asked::Pipeline(pipeline),
                    None if kind == "top_hits" => Asked::TopHits(top_hits::read(name, value)?),
                    None => asked(kind, name, value, context)?,
                };
                found = Some((kind, asked));
            }
        }
    }
    let (kind, mut asked) = found.ok_or_else(missing)?;
    if let Asked::Terms { order, .. } = &mut asked {
        order.iter_mut().for_each(|(by, _)| settle(by, &within));
    }
    let is_single =
        matches!(asked, Asked::Metric { .. } | Asked::Percentiles { .. } | Asked::TopHits(_));
    if is_single && !within.0.is_empty() {
        let what = format!("Aggregator [{name}] of type [{kind}] cannot accept sub-aggregations");
        return Err(Refusal::new("aggregation_initialization_exception", 500, what));
    }
    if matches!(asked, Asked::Pipeline(_)) && !within.0.is_empty() {
        let what = format!("Aggregation [{name}] cannot define sub-aggregations");
        return Err(Refusal::illegal_argument(what));
    }
    pipeline::check_parent(&asked, &within)?;
    Ok(Named { name: name.to_owned(), asked, within, meta })
}

/// Says what an order takes for buckets without values: the greatest number of none is the least
/// there can be, and the other way round.
fn settle(by: &mut OrderBy, within: &Aggregations) {
    let OrderBy::Metric(order) = by else { return };
    let named = within.0.iter().find(|named| named.name == order.name);
    let Some(Asked::Metric { metric, .. }) = named.map(|named| &named.asked) else { return };
    order.empty = match (metric, order.member.as_str()) {
        (Metric::Max, _) | (Metric::Stats | Metric::ExtendedStats(_), "max") => {
            Some(f64::NEG_INFINITY)
        }
        (Metric::Min, _) | (Metric::Stats | Metric::ExtendedStats(_), "min") => Some(f64::INFINITY),
        _ => None,
    };
}

fn asked(kind: &str, name: &str, body: &Json, context: &Context<'_>) -> Read<Asked> {
    if UNSUPPORTED.contains(&kind) {
        return Err(Refusal::unsupported(format_args!("the aggregation [{kind}]")));
    }
    let metric = |metric| metrics::metric(metric, body, context);
    match kind {
        "terms" => terms(name, body, context),
        "date_histogram" => dates(body, context),
        "histogram" => histogram(body, context),
        "range" | "date_range" => ranges(kind, body, context),
        "filters" => filters(body, context),
        "filter" => {
            let query = query_text(body, context)?;
            Ok(Asked::Filter { query, kind: "filter", body: body.clone() })
        }
        "missing" => {
            let of = Options::read("missing", body)?.only(&[])?.field(context, "missing")?;
            let exists = format!(r#"{{"exists":{{"field":{}}}}}"#, Json::String(of.field));
            let query = format!(r#"{{"bool":{{"must_not":{exists}}}}}"#);
            let body = Json::parse(query.as_bytes())?;
            let query = query_text(&body, context)?;
            Ok(Asked::Filter { query, kind: "missing", body })
        }
        "avg" => metric(Metric::Avg),
        "min" => metric(Metric::Min),
        "max" => metric(Metric::Max),
        "sum" => metric(Metric::Sum),
        "value_count" => metric(Metric::ValueCount),
        "stats" => metric(Metric::Stats),
        "extended_stats" => metrics::extended_stats(body, context),
        "cardinality" => metric(Metric::Cardinality),
        "percentiles" => metrics::percentiles(body, context),
        kind => Err(Refusal::parsing(format!("Unknown aggregation type [{kind}]"))),
    }
}

/// Returns the text of a query in the engine's language.
fn query_text(query: &Json, context: &Context<'_>) -> Read<String> {
    written::text(&query::clause(query, context)?, context.schema)
}

fn terms(name: &str, body: &Json, context: &Context<'_>) -> Read<Asked> {
    let options = Options::read("terms", body)?.only(&[
        "size",
        "shard_size",
        "order",
        "min_doc_count",
        "shard_min_doc_count",
        "missing",
        "show_term_doc_count_error",
        "execution_hint",
        "collect_mode",
        "include",
        "exclude",
    ])?;
    let of = options.field(context, "terms")?;
    if let Some(FieldKind::Time(_)) = of.kind {
        return Err(Refusal::unsupported("[terms] of moments"));
    }
    let size = options.count("size", 10, 1)?.min(BUCKETS_MAX as u64) as usize;
    let least = options.count("min_doc_count", 1, 0)?;
    if least == 0 {
        return Err(Refusal::unsupported("[terms] with a [min_doc_count] of 0"));
    }
    let order = options.get("order").map_or(Ok(Vec::new()), order)?;
    let chosen = (options.get("include"), options.get("exclude"));
    let chosen = Chosen::read(chosen, &of, name)?;
    Ok(Asked::Terms { of, size, order, least, missing: options.text("missing"), chosen })
}

fn order(value: &Json) -> Read<Vec<(OrderBy, bool)>> {
    let one = |(name, value): &(String, Json)| {
        let descending = match shown(value).to_ascii_lowercase().as_str() {
            "asc" => false,
            "desc" => true,
            other => {
                let what = format!("Unknown order direction [{other}]");
                return Err(Refusal::parsing(what));
            }
        };
        let by = match name.as_str() {
            "_count" => OrderBy::Count,
            "_key" | "_term" => OrderBy::Key,
            name => {
                let (name, member) = name.split_once('.').unwrap_or((name, "value"));
                let (name, member) = (name.to_owned(), member.to_owned());
                OrderBy::Metric(MetricOrder { name, member, empty: None })
            }
        };
        Ok((by, descending))
    };
    match value {
        Json::Object(members) => members.iter().map(one).collect(),
        Json::Array(values) => {
            let lists = values.iter().map(order_of_array).collect::<Read<Vec<_>>>()?;
            Ok(lists.concat())
        }
        other => Err(Refusal::parsing(format!("Unexpected token [{}] in [order]", other.token()))),
    }
}

fn order_of_array(value: &Json) -> Read<Vec<(OrderBy, bool)>> {
    if let Json::Object(_) = value {
        return order(value);
    }
    Err(Refusal::parsing(format!("Unexpected token [{}] in [order]", value.token())))
}

fn dates(body: &Json, context: &Context<'_>) -> Read<Asked> {
    let options = Options::read("date_histogram", body)?.only(&[
        "interval",
        "fixed_interval",
        "calendar_interval",
        "time_zone",
        "offset",
        "format",
        "min_doc_count",
        "keyed",
        "extended_bounds",
        "order",
        "missing",
    ])?;
    let of = options.field(context, "date_histogram")?;
    if let Some(kind) = of.kind.filter(|kind| !matches!(kind, FieldKind::Time(_))) {
        return Err(unsuitable(&of.field, kind, "date_histogram"));
    }
    if of.kind.is_none() && options.get("missing").is_some() {
        return Err(Refusal::unsupported("[date_histogram] with [missing] of an unmapped field"));
    }
    let of = metrics::with_missing(of, &options, context)?;
    ascending(&options)?;
    let interval = date_interval(&options)?;
    let zone = options.text("time_zone");
    let offset = match options.text("offset") {
        None => 0,
        Some(text) => interval::offset(&text).ok_or_else(|| options.wrong("offset"))?,
    };
    let format = options.text("format");
    let dates = Dates::new(context.now, Default::default(), format.as_deref(), zone.as_deref())?;
    let bound = |value: &Json| match value {
        Json::Number(number) => number.as_f64().ok_or_else(|| options.wrong("extended_bounds")),
        value => dates.ms(&shown(value), false).map(|ms| ms as f64),
    };
    let look = look(&options, format.clone(), bound)?;
    Ok(Asked::Dates { of, interval, zone, offset, look })
}

fn date_interval(options: &Options<'_>) -> Read<Interval> {
    let text = |name| options.text(name);
    if let Some(text) = text("calendar_interval") {
        return interval::calendar(&text).ok_or_else(|| options.wrong("calendar_interval"));
    }
    if let Some(text) = text("fixed_interval") {
        return interval::fixed(&text).ok_or_else(|| options.wrong("fixed_interval"));
    }
    let missing =
        || Refusal::illegal_argument("Invalid interval specified, must be non-null and non-empty");
    interval::either(&text("interval").ok_or_else(missing)?)
}

/// Refuses another order than that of keys.
fn ascending(options: &Options<'_>) -> Read<()> {
    let order = options.get("order").map_or(Ok(Vec::new()), order)?;
    match &order[..] {
        [] | [(OrderBy::Key, false)] => Ok(()),
        _ => Err(Refusal::unsupported(format_args!("[{}] with another [order]", options.kind))),
    }
}

fn look(
    options: &Options<'_>,
    format: Option<String>,
    bound: impl Fn(&Json) -> Read<f64>,
) -> Read<Look> {
    let bounds = match options.get("extended_bounds") {
        Some(bounds) => match (bounds.get("min"), bounds.get("max")) {
            (Some(min), Some(max)) => Some((bound(min)?, bound(max)?)),
            _ => return Err(options.wrong("extended_bounds")),
        },
        None => None,
    };
    let (least, keyed) = (options.count("min_doc_count", 0, 0)?, options.flag("keyed", false)?);
    Ok(Look { least, keyed, format, bounds })
}

fn histogram(body: &Json, context: &Context<'_>) -> Read<Asked> {
    let options = Options::read("histogram", body)?.only(&[
        "interval",
        "offset",
        "min_doc_count",
        "keyed",
        "extended_bounds",
        "order",
        "missing",
    ])?;
    let of = metrics::with_missing(options.numeric(context)?, &options, context)?;
    ascending(&options)?;
    let interval = options.number("interval")?.filter(|interval| *interval > 0.0);
    let interval = interval.ok_or_else(|| options.wrong("interval"))?;
    let offset = options.number("offset")?.unwrap_or(0.0);
    let bound = |value: &Json| {
        let number = shown(value).parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| options.wrong("extended_bounds"))
    };
    let look = look(&options, None, bound)?;
    Ok(Asked::Histogram { of, interval, offset, look })
}

fn ranges(kind: &str, body: &Json, context: &Context<'_>) -> Read<Asked> {
    let is_dates = kind == "date_range";
    let kind = if is_dates { "date_range" } else { "range" };
    let options = Options::read(kind, body)?;
    let options = options.only(&["ranges", "keyed", "format", "time_zone", "missing"])?;
    let of = metrics::with_missing(options.numeric(context)?, &options, context)?;
    let (format, zone) = (options.text("format"), options.text("time_zone"));
    let dates = Dates::new(context.now, Default::default(), format.as_deref(), zone.as_deref())?;
    let Some(Json::Array(list)) = options.get("ranges") else {
        return Err(Refusal::illegal_argument("No [ranges] specified for the aggregation"));
    };
    let end = |value: Option<&Json>| match value {
        None | Some(Json::Null) => Ok(None),
        Some(value) if is_dates => dates.ms(&shown(value), false).map(|ms| Some(ms as f64)),
        Some(value) => {
            let text = shown(value);
            text.parse().map(Some).map_err(|_| Refusal::number_format(&text))
        }
    };
    let range = |range: &Json| {
        let (from, to) = (end(range.get("from"))?, end(range.get("to"))?);
        Ok(Range { from, to, key: range.get("key").map(shown) })
    };
    let mut ranges: Vec<Range> = list.iter().map(range).collect::<Read<_>>()?;
    let low = |range: &Range| range.from.unwrap_or(f64::NEG_INFINITY);
    let high = |range: &Range| range.to.unwrap_or(f64::INFINITY);
    ranges.sort_by(|a, b| low(a).total_cmp(&low(b)).then(high(a).total_cmp(&high(b))));
    let format =
        if is_dates { Some(format.unwrap_or("strict_date_optional_time".into())) } else { None };
    Ok(Asked::Ranges { of, ranges, keyed: options.flag("keyed", false)?, format, zone })
}

fn filters(body: &Json, context: &Context<'_>) -> Read<Asked> {
    let options = Options::read("filters", body)?;
    let options = options.only(&["filters", "other_bucket", "other_bucket_key"])?;
    let text = |query: &Json| query_text(query, context);
    let (bodies, names): (Vec<Json>, _) = match options.get("filters") {
        Some(Json::Object(members)) => {
            let bodies = members.iter().map(|(_, query)| query.clone());
            (bodies.collect(), Some(members.iter().map(|(name, _)| name.clone()).collect()))
        }
        Some(Json::Array(values)) => (values.clone(), None),
        _ => return Err(Refusal::illegal_argument("[filters] cannot be null.")),
    };
    let queries = bodies.iter().map(text).collect::<Read<_>>()?;
    let key = options.text("other_bucket_key");
    let has_others = options.flag("other_bucket", key.is_some())?;
    let others = has_others.then(|| key.unwrap_or("_other_".to_owned()));
    Ok(Asked::Filters { queries, names, others, bodies })
}
