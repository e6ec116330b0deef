//! Reading of aggregations that have a number of a field's values, or several.

use spirit::FieldKind;
use spirit::facets::StandIn;

use super::options::Options;
use super::{Asked, Metric, OfField};
use crate::date::Dates;
use crate::error::Refusal;
use crate::json::Json;
use crate::query::Context;
use crate::read::shown;

type Read<T> = Result<T, Refusal>;

/// Reads one number of a field's values.
pub(super) fn metric(metric: Metric, body: &Json, context: &Context<'_>) -> Read<Asked> {
    let names: &[&str] = match metric {
        Metric::Cardinality => &["precision_threshold", "missing"],
        _ => &["format", "missing"],
    };
    let options = Options::read(metric.name(), body)?.only(names)?;
    let of = match metric {
        Metric::Cardinality | Metric::ValueCount => options.field(context, metric.name())?,
        _ => options.numeric(context)?,
    };
    let of = with_missing(of, &options, context)?;
    Ok(Asked::Metric { of, metric, format: options.text("format") })
}

/// Reads stats with deviations.
pub(super) fn extended_stats(body: &Json, context: &Context<'_>) -> Read<Asked> {
    let options = Options::read("extended_stats", body)?.only(&["sigma", "missing"])?;
    let of = options.numeric(context)?;
    if let Some(FieldKind::Time(_)) = of.kind {
        return Err(Refusal::unsupported("[extended_stats] of moments"));
    }
    let sigma = options.number("sigma")?.unwrap_or(2.0);
    let of = with_missing(of, &options, context)?;
    if sigma < 0.0 {
        return Err(options.wrong("sigma"));
    }
    Ok(Asked::Metric { of, metric: Metric::ExtendedStats(sigma), format: None })
}

/// Reads percentiles.
pub(super) fn percentiles(body: &Json, context: &Context<'_>) -> Read<Asked> {
    const USUAL: [f64; 7] = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0];
    let options = Options::read("percentiles", body)?;
    let options = options.only(&["percents", "keyed", "tdigest", "compression", "missing"])?;
    let of = with_missing(options.numeric(context)?, &options, context)?;
    let at = match options.get("percents") {
        None => USUAL.to_vec(),
        Some(Json::Array(values)) => {
            let percent = |value: &Json| {
                let number = shown(value).parse().ok();
                let number = number.filter(|number: &f64| (0.0..=100.0).contains(number));
                number.ok_or_else(|| options.wrong("percents"))
            };
            values.iter().map(percent).collect::<Read<_>>()?
        }
        Some(_) => return Err(options.wrong("percents")),
    };
    Ok(Asked::Percentiles { of, at, keyed: options.flag("keyed", true)? })
}

/// Adds the value of documents without one. All have it if the index does not know the field.
pub(super) fn with_missing(
    of: OfField,
    options: &Options<'_>,
    context: &Context<'_>,
) -> Read<OfField> {
    let Some(value) = options.get("missing") else { return Ok(of) };
    if matches!(value, Json::Null | Json::Array(_) | Json::Object(_)) {
        return Err(options.wrong("missing"));
    }
    let text = shown(value);
    // Numbers of values are the same whatever the values are, so any is taken for an unknown field.
    let is_any = matches!(options.kind, "value_count" | "cardinality");
    let (kind, missing) = match of.kind {
        Some(FieldKind::Time(unit)) => {
            let format = options.text("format");
            let zone = options.text("time_zone");
            let dates = Dates::new(context.now, unit, format.as_deref(), zone.as_deref())?;
            (of.kind, StandIn::Integer(dates.ms(&text, false)?))
        }
        Some(FieldKind::Boolean) => (of.kind, StandIn::Boolean(boolean(&text)?)),
        Some(FieldKind::Integer | FieldKind::Float) => (of.kind, number(&text)?),
        None if !is_any || matches!(value, Json::Number(_)) => {
            let number = number(&text)?;
            let is_whole = matches!(number, StandIn::Integer(_));
            (Some(if is_whole { FieldKind::Integer } else { FieldKind::Float }), number)
        }
        Some(kind) => (Some(kind), StandIn::Text(text)),
        None => (Some(FieldKind::Keyword), StandIn::Text(text)),
    };
    Ok(OfField { kind, missing: Some(missing), ..of })
}

fn number(text: &str) -> Read<StandIn> {
    if let Ok(number) = text.parse() {
        return Ok(StandIn::Integer(number));
    }
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.map(StandIn::Float).ok_or_else(|| Refusal::number_format(text))
}

fn boolean(text: &str) -> Read<bool> {
    text.parse().map_err(|_| {
        let what = "expected either [true] or [false]";
        Refusal::illegal_argument(format!("Cannot parse boolean [{text}], {what}"))
    })
}
