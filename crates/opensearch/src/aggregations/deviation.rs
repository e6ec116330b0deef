//! Variances and deviations, as `extended_stats` has them.

use spirit::facets::Summary;

use super::number;
use crate::json::Json;

type Members = Vec<(String, Json)>;

/// Returns the members behind the sum. Without values they are null.
pub(super) fn members(summary: Option<Summary>, sigma: f64) -> Members {
    let shown = |value: Option<f64>| value.map_or(Json::Null, shown);
    let squares = summary.map(|summary| summary.sum_of_squares);
    // A sample of one value has no variance.
    let variance = |less: f64| {
        summary.map(|Summary { count, sum, sum_of_squares, .. }| {
            let count = count as f64;
            let variance = (sum_of_squares - sum * sum / count) / (count - less);
            if variance < 0.0 { 0.0 } else { variance }
        })
    };
    let (population, sampling) = (variance(0.0), variance(1.0));
    let deviation = |variance: Option<f64>| variance.map(f64::sqrt);
    let bound = |variance, sign: f64| {
        let mean = summary.map(|summary| summary.mean());
        mean.zip(deviation(variance)).map(|(mean, deviation)| mean + sign * sigma * deviation)
    };
    let bounds = [
        ("upper", bound(population, 1.0)),
        ("lower", bound(population, -1.0)),
        ("upper_population", bound(population, 1.0)),
        ("lower_population", bound(population, -1.0)),
        ("upper_sampling", bound(sampling, 1.0)),
        ("lower_sampling", bound(sampling, -1.0)),
    ];
    let bounds = bounds.map(|(name, value)| (name.to_owned(), shown(value)));
    let mut members: Members = [
        ("sum_of_squares", squares),
        ("variance", population),
        ("variance_population", population),
        ("variance_sampling", sampling),
        ("std_deviation", deviation(population)),
        ("std_deviation_population", deviation(population)),
        ("std_deviation_sampling", deviation(sampling)),
    ]
    .map(|(name, value)| (name.to_owned(), shown(value)))
    .to_vec();
    members.push(("std_deviation_bounds".to_owned(), Json::Object(bounds.to_vec())));
    members
}

/// Returns a number; the text `NaN` for none, as in OpenSearch.
fn shown(value: f64) -> Json {
    if value.is_nan() { Json::String("NaN".to_owned()) } else { number(value) }
}
