//! `--facet`: how a facet is typed, and its answer for people.

use std::io::{self, Write};

use spirit::facets::{Aggregate, Summary, TopTerms};
use spirit::lab::format_time;
use spirit_forms::escape::escaped;
use spirit_forms::facets::{Answered, Asked, Bucket, FacetError, Metric, Part, What};

/// Reads `terms:FIELD`, `terms:FIELD:N` and so on, each perhaps with others within.
pub(crate) fn facet(typed: &str) -> Result<Asked, String> {
    typed.parse().map_err(|error| match error {
        FacetError::Neighbours => format!("{error}; or --facet again"),
        error => error.to_string(),
    })
}

/// Writes a facet's answer.
pub(crate) fn show(facet: &Answered, out: &mut impl Write) -> io::Result<()> {
    show_part(facet.part(), "", out)
}

fn show_part(part: Part<'_>, indent: &str, out: &mut impl Write) -> io::Result<()> {
    let typed = &part.shape.typed;
    write!(out, "{indent}")?;
    match part.found {
        Aggregate::Terms(TopTerms { top, others, distinct, .. }) => {
            writeln!(out, "{typed}: {distinct} values, {others} documents with other values")?;
            let mut line = |value, count| writeln!(out, "{indent}    {count}  {}", escaped(value));
            top.iter().try_for_each(|(value, count)| line(value, count))
        }
        Aggregate::Histogram(buckets) => {
            writeln!(out, "{typed}")?;
            let mut line = |start, count| writeln!(out, "{indent}    {count}  {start}");
            buckets.iter().try_for_each(|(start, count)| line(start, count))
        }
        Aggregate::Dates(buckets) => {
            writeln!(out, "{typed}")?;
            let mut line =
                |start, count| writeln!(out, "{indent}    {count}  {}", format_time(start));
            buckets.iter().try_for_each(|(start, count)| line(*start, count))
        }
        Aggregate::Stats(stats) => show_stats(part, stats.as_ref(), out),
        Aggregate::Cardinality(count) => writeln!(out, "{typed}: {count} different values"),
        Aggregate::Percentiles(at) => {
            writeln!(out, "{typed}")?;
            at.iter().try_for_each(|(percent, number)| {
                writeln!(out, "{indent}    {percent}%  {}", shown(part, None, *number))
            })
        }
        Aggregate::Buckets { buckets, others, distinct } => {
            match part.shape.what {
                What::Terms => writeln!(
                    out,
                    "{typed}: {distinct} values, {others} documents with other values"
                )?,
                _ => writeln!(out, "{typed}")?,
            }
            (0..).zip(buckets).try_for_each(|(n, bucket)| show_bucket(part, n, bucket, indent, out))
        }
        other => writeln!(out, "{typed}: {other:?}"),
    }
}

fn show_bucket<'a>(
    part: Part<'a>,
    number: usize,
    bucket: &'a Bucket,
    indent: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let name = part.name(number, bucket).unwrap_or("(no value)");
    writeln!(out, "{indent}    {}  {}", bucket.1, escaped(name))?;
    let indent = format!("{indent}        ");
    part.within(bucket).try_for_each(|part| show_part(part, &indent, out))
}

fn show_stats(part: Part<'_>, stats: Option<&Summary>, out: &mut impl Write) -> io::Result<()> {
    let typed = &part.shape.typed;
    if let What::Metric(metric) = part.shape.what {
        return match stats.map(|stats| metric_shown(part, metric, stats)) {
            Some(shown) => writeln!(out, "{typed}: {shown}"),
            None if metric == Metric::Values => writeln!(out, "{typed}: 0"),
            None => writeln!(out, "{typed}: no values"),
        };
    }
    let Some(stats) = stats else { return writeln!(out, "{typed}: no values") };
    let shown = |metric| metric_shown(part, metric, stats);
    let (min, max) = (shown(Metric::Least), shown(Metric::Highest));
    write!(out, "{typed}: {} values, {min} to {max}", stats.count)?;
    if !part.is_of_moments() {
        write!(out, ", sum {}", shown(Metric::Sum))?;
    }
    writeln!(out, ", mean {}", shown(Metric::Mean))
}

fn metric_shown(part: Part<'_>, metric: Metric, stats: &Summary) -> String {
    let whole = stats.whole;
    match metric {
        Metric::Mean => shown(part, None, stats.mean()),
        Metric::Least => shown(part, whole.map(|(min, ..)| min.into()), stats.min),
        Metric::Highest => shown(part, whole.map(|(_, max, _)| max.into()), stats.max),
        Metric::Sum => shown(part, whole.map(|(.., sum)| sum), stats.sum),
        Metric::Values => stats.count.to_string(),
    }
}

/// A number of the field's; the exact one if it is whole.
fn shown(part: Part<'_>, exact: Option<i128>, number: f64) -> String {
    match exact {
        _ if part.is_of_moments() => format_time(number.round() as i64),
        Some(exact) => exact.to_string(),
        None => number.to_string(),
    }
}
