//! Facets of the engine for aggregations.

use spirit::FieldKind;
use spirit::facets::Facet;

use super::{Asked, BUCKETS_MAX, Metric, Named, OfField, OrderBy};

/// Returns the facet of an aggregation; none if the index does not have its field.
pub(super) fn of(named: &Named) -> Option<Facet> {
    with_all(named, false)
}

/// Like [`of`], with all values, so that those of several indexes can be merged.
pub(super) fn to_merge(named: &Named) -> Option<Facet> {
    with_all(named, true)
}

fn with_all(named: &Named, all: bool) -> Option<Facet> {
    let field = |of: &OfField| of.kind.map(|_| of.field.clone());
    let facet = match &named.asked {
        Asked::Terms { of, size, order, missing, chosen, .. } => {
            // The engine has the most frequent ones, and of equally frequent numbers the first by
            // their texts. Another order needs all of them, and so do a choice and a value that
            // stands for missing ones.
            let is_number = matches!(of.kind, Some(FieldKind::Integer | FieldKind::Float));
            let is_whole = all || is_number || missing.is_some() || !chosen.is_all();
            let is_usual = !is_whole && matches!(order[..], [] | [(OrderBy::Count, true)]);
            let top = if is_usual { *size } else { BUCKETS_MAX };
            let facet = Facet::Terms { field: field(of)?, top };
            if missing.is_some() { facet.with_missing() } else { facet }
        }
        Asked::Dates { of, interval, zone, offset, look } => {
            let facet = Facet::Dates { field: field(of)?, interval: interval.engine };
            let mut facet = with_missing(facet, of);
            if let Some(zone) = zone {
                facet = facet.in_zone(zone);
            }
            if *offset != 0 {
                facet = facet.offset(*offset as f64);
            }
            if look.least == 0 { facet.with_empty() } else { facet }
        }
        Asked::Histogram { of, interval, offset, look } => {
            let facet = Facet::Histogram { field: field(of)?, interval: *interval };
            let facet = with_missing(facet, of);
            let facet = if *offset == 0.0 { facet } else { facet.offset(*offset) };
            if look.least == 0 { facet.with_empty() } else { facet }
        }
        Asked::Ranges { of, ranges, .. } => {
            let ranges = ranges.iter().map(|range| (range.from, range.to)).collect();
            with_missing(Facet::Ranges { field: field(of)?, ranges }, of)
        }
        Asked::Filters { queries, others, .. } => {
            let facet = Facet::Filters { queries: queries.clone() };
            if others.is_some() { facet.with_missing() } else { facet }
        }
        Asked::Filter { query, .. } => Facet::Filters { queries: vec![query.clone()] },
        Asked::Metric { of, metric: Metric::Cardinality, .. } if all => {
            with_missing(Facet::Terms { field: field(of)?, top: BUCKETS_MAX }, of)
        }
        Asked::Metric { of, metric, .. } => {
            with_missing(metric_of(field(of)?, of.kind?, *metric), of)
        }
        Asked::Percentiles { of, at, .. } => {
            with_missing(Facet::Percentiles { field: field(of)?, at: at.clone() }, of)
        }
        Asked::TopHits(_) | Asked::Pipeline(_) => return None,
    };
    let within = named.within.0.iter().filter_map(|named| with_all(named, all));
    Some(within.fold(facet, Facet::then))
}

fn with_missing(facet: Facet, of: &OfField) -> Facet {
    match &of.missing {
        Some(value) => facet.missing_as(value.clone()),
        None => facet,
    }
}

fn metric_of(field: String, kind: FieldKind, metric: Metric) -> Facet {
    match metric {
        Metric::Cardinality => Facet::Cardinality { field },
        Metric::ValueCount if !has_stats(kind) => Facet::Terms { field, top: 1 },
        _ => Facet::Stats { field },
    }
}

/// True if the engine has stats of such a field.
pub(super) fn has_stats(kind: FieldKind) -> bool {
    matches!(kind, FieldKind::Integer | FieldKind::Float | FieldKind::Time(_))
}
