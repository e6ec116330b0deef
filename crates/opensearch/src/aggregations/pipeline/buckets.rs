//! Pipelines over the buckets of an answer.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::path::Path;
use super::{Members, Piped, Pipeline, Step, Summary, answered, of, value};
use crate::aggregations::{Aggregations, Named, mismatch, number};
use crate::json::Json;

/// The member with an answer's buckets.
const BUCKETS: &str = "buckets";

/// A bucket: its name where buckets have names, and its members.
type Bucket = (Option<String>, Members);

/// Calculates the pipelines within an aggregation, and adds their answers to its buckets.
pub(in crate::aggregations) fn within(
    within: &Aggregations,
    answer: &mut Members,
    typed: bool,
) -> Piped<()> {
    let pipelines = within.0.iter().filter(|named| of(named).is_some_and(|own| !own.is_beside()));
    let mut pipelines = pipelines.peekable();
    let Some((_, buckets)) = answer.iter_mut().find(|(name, _)| name == BUCKETS) else {
        return Ok(());
    };
    if pipelines.peek().is_none() {
        return Ok(());
    }
    let (mut list, is_named) = taken(buckets)?;
    for named in pipelines {
        one(named, &mut list, typed)?;
    }
    *buckets = match is_named {
        true => Json::Object(
            list.into_iter()
                .map(|(name, members)| (name.unwrap_or_default(), Json::Object(members)))
                .collect(),
        ),
        false => Json::Array(list.into_iter().map(|(_, members)| Json::Object(members)).collect()),
    };
    Ok(())
}

/// Takes buckets out of an answer. The flag is true if they have names.
fn taken(buckets: &mut Json) -> Piped<(Vec<Bucket>, bool)> {
    let bucket = |name, value| match value {
        Json::Object(members) => Ok((name, members)),
        _ => Err(mismatch()),
    };
    match std::mem::replace(buckets, Json::Null) {
        Json::Array(list) => {
            let list = list.into_iter().map(|value| bucket(None, value));
            Ok((list.collect::<Piped<_>>()?, false))
        }
        Json::Object(members) => {
            let list = members.into_iter().map(|(name, value)| bucket(Some(name), value));
            Ok((list.collect::<Piped<_>>()?, true))
        }
        _ => Err(mismatch()),
    }
}

fn one(named: &Named, list: &mut Vec<Bucket>, typed: bool) -> Piped<()> {
    let pipeline = of(named).ok_or_else(mismatch)?;
    match &pipeline.step {
        Step::Selector(script) => {
            let mut kept = Vec::new();
            for bucket in list.drain(..) {
                // A gap is not a number there, and no comparison with it holds.
                let values = pipeline.numbers(&bucket.1)?.ok_or_else(|| script.unknown())?;
                let is_kept = script.truth(&values)?;
                if is_kept {
                    kept.push(bucket);
                }
            }
            *list = kept;
        }
        Step::Sort { keys, from, size } => {
            sort(pipeline, keys, list)?;
            list.drain(..(*from).min(list.len()));
            list.truncate(size.unwrap_or(usize::MAX));
        }
        _ => {
            let answers = pipeline.answers(list)?;
            for ((_, bucket), answer) in list.iter_mut().zip(answers) {
                bucket.extend(answer.map(|answer| answered(named, typed, answer)));
            }
        }
    }
    Ok(())
}

/// Orders buckets by numbers. Those without any of them leave.
fn sort(pipeline: &Pipeline, keys: &[(Path, bool)], list: &mut Vec<Bucket>) -> Piped<()> {
    if keys.is_empty() {
        return Ok(());
    }
    let mut ranked = Vec::new();
    for bucket in list.drain(..) {
        let values = keys.iter().map(|(path, _)| pipeline.number(path, &bucket.1));
        let values = values.collect::<Piped<Vec<_>>>()?;
        if values.iter().any(|value| value.is_some_and(|value| !value.is_nan())) {
            ranked.push((values, bucket));
        }
    }
    ranked.sort_by(|(one, _), (other, _)| {
        let pairs = one.iter().zip(other).zip(keys);
        let mut orderings = pairs.map(|((one, other), (_, descends))| {
            let known = |value: &Option<f64>| value.filter(|value| !value.is_nan());
            match (known(one), known(other)) {
                (Some(one), Some(other)) if *descends => other.total_cmp(&one),
                (Some(one), Some(other)) => one.total_cmp(&other),
                // A missing number is last.
                (one, other) => other.is_some().cmp(&one.is_some()),
            }
        });
        orderings.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
    });
    list.extend(ranked.into_iter().map(|(_, bucket)| bucket));
    Ok(())
}

impl Pipeline {
    /// Returns a bucket's number. A gap is 0 or not a number, as was asked for.
    fn number(&self, path: &Path, bucket: &Members) -> Piped<Option<f64>> {
        let is_empty = || Path::read("_count").resolve(bucket).map(|count| count == Some(0.0));
        let Some(value) = path.resolve(bucket)? else { return Ok(None) };
        let is_gap = !value.is_finite() || !path.is_count() && is_empty()?;
        Ok(Some(match (is_gap, self.gaps_are_zeros) {
            (false, _) => value,
            (true, true) => 0.0,
            (true, false) => f64::NAN,
        }))
    }

    /// Returns the numbers for a script; none if there is no answer of one.
    fn numbers(&self, bucket: &Members) -> Piped<Option<Vec<f64>>> {
        self.paths.iter().map(|(_, path)| self.number(path, bucket)).collect()
    }

    /// Returns the numbers for a script; none if one is missing.
    fn parameters(&self, bucket: &Members) -> Piped<Option<Vec<f64>>> {
        let values = self.numbers(bucket)?;
        Ok(values.filter(|values| values.iter().all(|value| !value.is_nan())))
    }

    /// Returns what is added to each bucket.
    fn answers(&self, list: &[Bucket]) -> Piped<Vec<Option<Members>>> {
        if let Step::Script(script) = &self.step {
            let one = |(_, bucket): &Bucket| {
                let parameters = self.parameters(bucket)?;
                parameters.map(|parameters| script.number(&parameters).map(value)).transpose()
            };
            return list.iter().map(one).collect();
        }
        let path = self.path()?;
        let numbers = list.iter().map(|(_, bucket)| self.number(path, bucket));
        let numbers = numbers.collect::<Piped<Vec<Option<f64>>>>()?;
        Ok(match &self.step {
            Step::Derivative { unit } => derivatives(list, &numbers, *unit),
            Step::CumulativeSum => {
                let mut sum = 0.0;
                let add = |number: &Option<f64>| {
                    sum += number.filter(|number| number.is_finite()).unwrap_or(0.0);
                    Some(value(sum))
                };
                numbers.iter().map(add).collect()
            }
            Step::SerialDifference { lag } => {
                let known = |place: usize| numbers[place].filter(|number| !number.is_nan());
                let difference =
                    |place: usize| Some(value(known(place)? - known(place.checked_sub(*lag)?)?));
                (0..numbers.len()).map(difference).collect()
            }
            Step::MovingFunction { function, window, shift } => {
                let known = numbers.iter().flatten().copied().filter(|number| !number.is_nan());
                let known: Vec<f64> = known.collect();
                let mut index = 0;
                let clamp = |place: i64| place.clamp(0, known.len() as i64) as usize;
                let moving = |number: &Option<f64>| {
                    number.filter(|number| !number.is_nan())?;
                    let end = i64::saturating_add(index, *shift);
                    let start = clamp(end.saturating_sub(*window as i64));
                    index += 1;
                    Some(value(function.of(&known[start..clamp(end).max(start)])))
                };
                numbers.iter().map(moving).collect()
            }
            Step::MovingAverage { model, window } => {
                let mut last = VecDeque::new();
                let moving = |number: &Option<f64>| {
                    let number = number.filter(|number| !number.is_nan())?;
                    let average =
                        (!last.is_empty()).then(|| value(model.of(last.make_contiguous())));
                    last.push_back(number);
                    if last.len() > *window {
                        last.pop_front();
                    }
                    average
                };
                numbers.iter().map(moving).collect()
            }
            _ => return Err(mismatch()),
        })
    }
}

/// Returns the changes since the bucket before.
fn derivatives(
    list: &[Bucket],
    numbers: &[Option<f64>],
    unit: Option<f64>,
) -> Vec<Option<Members>> {
    let key = |place: usize| {
        let (_, bucket): &Bucket = &list[place];
        Path::read("_key").resolve(bucket).ok().flatten().unwrap_or(f64::NAN)
    };
    let change = |place: usize| {
        let before = place.checked_sub(1)?;
        let change = numbers[place]? - numbers[before]?;
        let mut answer = value(change);
        if let Some(unit) = unit {
            let units = (key(place) - key(before)) / unit;
            answer.push(("normalized_value".to_owned(), number(change / units)));
        }
        Some(answer)
    };
    (0..numbers.len()).map(change).collect()
}

/// Calculates pipelines over all buckets of aggregations beside them. Returns their answers.
pub(in crate::aggregations) fn over_all(
    all: &Aggregations,
    answers: &Members,
    typed: bool,
) -> Piped<Members> {
    let mut added = Members::new();
    for named in &all.0 {
        let Some(pipeline) = of(named) else { continue };
        let Step::OfAll(summary) = pipeline.step else { continue };
        let path = pipeline.path()?;
        let is_it =
            |name: &str| name == path.first() || name.ends_with(&format!("#{}", path.first()));
        let (_, answer) = answers.iter().find(|(name, _)| is_it(name)).ok_or_else(mismatch)?;
        let mut buckets = answer.get(BUCKETS).cloned().ok_or_else(mismatch)?;
        let (rest, mut known) = (path.rest(), Vec::new());
        for (name, bucket) in taken(&mut buckets)?.0 {
            let number = pipeline.number(&rest, &bucket)?;
            known.extend(number.filter(|number| !number.is_nan()).map(|n| (key(name, &bucket), n)));
        }
        added.push(answered(named, typed, summed(summary, &known)));
    }
    Ok(added)
}

/// Returns the key of a bucket as a text.
fn key(name: Option<String>, bucket: &Members) -> String {
    let of = |name: &str| bucket.iter().find(|(own, _)| own == name).map(|(_, value)| value);
    match of("key_as_string").or(of("key")) {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Number(number)) => number.to_string(),
        _ => name.unwrap_or_default(),
    }
}

fn summed(summary: Summary, known: &[(String, f64)]) -> Members {
    let values = || known.iter().map(|(_, value)| *value);
    let sum = values().fold(0.0, |sum, value| sum + value);
    let (min, max) =
        (values().fold(f64::INFINITY, f64::min), values().fold(-f64::INFINITY, f64::max));
    let mean = if known.is_empty() { f64::NAN } else { sum / known.len() as f64 };
    let extreme = |extreme: f64| {
        let keys = known.iter().filter(|(_, value)| *value == extreme);
        let keys = keys.map(|(key, _)| Json::String(key.clone())).collect();
        let mut answer = value(extreme);
        answer.push(("keys".to_owned(), Json::Array(keys)));
        answer
    };
    match summary {
        Summary::Max => extreme(max),
        Summary::Min => extreme(min),
        Summary::Avg => value(mean),
        Summary::Sum => value(sum),
        Summary::Stats => {
            let mut answer = vec![("count".to_owned(), Json::Number(known.len().into()))];
            for (name, value) in [("min", min), ("max", max), ("avg", mean), ("sum", sum)] {
                answer.push((name.to_owned(), number(value)));
            }
            answer
        }
    }
}
