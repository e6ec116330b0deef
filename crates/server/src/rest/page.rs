//! A page of hits as JSON: the hits of all indexes in order, with their number.

use spirit::search::Total;
use spirit_opensearch::search::{SearchBody, TrackTotalHits};

use super::hit::{self, Hit};
use super::hits::Found;

/// Returns the member `hits` of an answer.
pub(super) fn hits_json(asked: &SearchBody, found: Vec<Found>) -> String {
    let is_merged = found.len() > 1;
    let totals: Vec<Total> = found.iter().map(|found| found.total).collect();
    let max_score = found.iter().filter_map(|found| found.max_score).max_by(f32::total_cmp);
    let mut hits: Vec<Hit> = found.into_iter().flat_map(|found| found.hits).collect();
    if is_merged {
        hits.sort_by(|one, other| hit::order(asked, &one.rank, &other.rank));
    }
    let page = hits.into_iter().skip(asked.from).take(asked.size);
    let page: Vec<String> = page.map(|hit| hit.json()).collect();
    format!(
        r#"{{{}"max_score":{},"hits":[{}]}}"#,
        total_json(asked, &totals),
        hit::score_json(max_score),
        page.join(",")
    )
}

fn total_json(asked: &SearchBody, totals: &[Total]) -> String {
    let sum: u64 = totals.iter().map(|total| total.count()).sum();
    let (value, relation) = match asked.track_total_hits {
        TrackTotalHits::Off => return String::new(),
        TrackTotalHits::UpTo(limit) if !asked.total_as_int && sum > limit => (limit, "gte"),
        _ if totals.iter().all(|total| total.is_exact()) => (sum, "eq"),
        _ => (sum, "gte"),
    };
    match asked.total_as_int {
        true => format!(r#""total":{value},"#),
        false => format!(r#""total":{{"value":{value},"relation":"{relation}"}},"#),
    }
}
