//! The order in which pipelines are calculated, and where they may stand.

use std::collections::HashSet;

use super::{Piped, Pipeline, invalid, of};
use crate::aggregations::{Aggregations, Asked, Named};
use crate::error::Refusal;

/// Moves pipelines behind other aggregations, each behind those whose numbers it takes.
pub(in crate::aggregations) fn arranged(all: Vec<Named>) -> Piped<Aggregations> {
    let (pipelines, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|named| of(named).is_some());
    if pipelines.is_empty() {
        return Ok(Aggregations(others));
    }
    let all = Aggregations(others.iter().chain(&pipelines).cloned().collect());
    for named in &pipelines {
        check(named, &all)?;
    }
    let (mut places, mut done) = (Vec::new(), HashSet::new());
    for place in 0..pipelines.len() {
        visit(&pipelines, place, &mut Vec::new(), &mut done, &mut places)?;
    }
    let ordered = places.into_iter().map(|place| pipelines[place].clone());
    Ok(Aggregations(others.into_iter().chain(ordered).collect()))
}

fn check(named: &Named, all: &Aggregations) -> Piped<()> {
    let Some(pipeline) = of(named) else { return Ok(()) };
    for (_, path) in &pipeline.paths {
        if pipeline.is_beside() {
            path.check_buckets(all)?;
        } else {
            path.check(all)?;
        }
    }
    Ok(())
}

/// Visits those first whose numbers a pipeline takes. It ends: none is visited within itself.
fn visit(
    pipelines: &[Named],
    place: usize,
    above: &mut Vec<usize>,
    done: &mut HashSet<usize>,
    places: &mut Vec<usize>,
) -> Piped<()> {
    if done.contains(&place) {
        return Ok(());
    }
    if above.contains(&place) {
        let name = &pipelines[above[0]].name;
        return Err(invalid(&format!(
            "Cyclical dependency found with pipeline aggregator [{name}]"
        )));
    }
    above.push(place);
    let paths = of(&pipelines[place]).map(|pipeline| &pipeline.paths[..]).unwrap_or_default();
    for (_, path) in paths {
        if let Some(needed) = pipelines.iter().position(|named| named.name == path.first()) {
            visit(pipelines, needed, above, done, places)?;
        }
    }
    above.pop();
    done.insert(place);
    places.push(place);
    Ok(())
}

/// Returns an error if a pipeline cannot stand within this aggregation.
pub(in crate::aggregations) fn check_parent(parent: &Asked, within: &Aggregations) -> Piped<()> {
    for (name, pipeline) in pipelines(within) {
        let kind = pipeline.kind();
        match parent {
            Asked::Dates { look, .. } | Asked::Histogram { look, .. } if look.least == 0 => {}
            Asked::Dates { .. } | Asked::Histogram { .. } if pipeline.needs_histogram() => {
                return Err(invalid(&format!(
                    "parent histogram of {kind} aggregation [{name}] must have min_doc_count of 0"
                )));
            }
            _ if pipeline.needs_histogram() => {
                return Err(invalid(&format!(
                    "{kind} aggregation [{name}] must have a histogram, date_histogram or \
                     auto_date_histogram as parent"
                )));
            }
            Asked::Filter { .. } if !pipeline.is_beside() => {
                let what = format!("[{kind}] within an aggregation of one bucket");
                return Err(Refusal::unsupported(what));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns an error if a pipeline has no aggregation around it, and needs one.
pub(in crate::aggregations) fn check_top(all: &Aggregations) -> Piped<()> {
    let needy = pipelines(all).find(|(_, pipeline)| !pipeline.is_beside());
    let Some((name, pipeline)) = needy else { return Ok(()) };
    let kind = pipeline.kind();
    Err(invalid(&match pipeline.needs_histogram() {
        true => format!(
            "{kind} aggregation [{name}] must have a histogram, date_histogram or \
             auto_date_histogram as parent but doesn't have a parent"
        ),
        false => {
            format!("{kind} aggregation [{name}] must be declared inside of another aggregation")
        }
    }))
}

fn pipelines(all: &Aggregations) -> impl Iterator<Item = (&str, &Pipeline)> {
    all.0.iter().filter_map(|named| Some((&*named.name, of(named)?)))
}
