//! Paths to numbers: `_count`, `name`, `name.member`, `name[member]`, `outer>inner.member`.

use super::Piped;
use crate::aggregations::{Aggregations, Asked};
use crate::error::Refusal;
use crate::json::Json;

/// The number of a bucket's documents.
const COUNT: &str = "_count";
/// The bucket's key, by which buckets can be sorted.
const KEY: &str = "_key";

/// A path to a number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    /// As it was asked for.
    text: String,
    /// Names of aggregations, from the outer one on.
    names: Vec<String>,
    /// The member of the last one's answer.
    member: Option<String>,
}

impl Path {
    pub(super) fn read(text: &str) -> Path {
        let mut names: Vec<String> = text.split('>').map(|name| name.trim().to_owned()).collect();
        let mut member = None;
        if let Some(last) = names.last_mut() {
            let split = match last.strip_suffix(']').and_then(|last| last.split_once('[')) {
                Some((name, member)) => {
                    Some((name.to_owned(), member.trim_matches(['\'', '"']).to_owned()))
                }
                None => last.rsplit_once('.').map(|(name, own)| (name.to_owned(), own.to_owned())),
            };
            if let Some((name, own)) = split {
                (*last, member) = (name, Some(own));
            }
        }
        Path { text: text.to_owned(), names, member }
    }

    /// Returns the name of the outermost aggregation.
    pub(super) fn first(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    pub(super) fn is_count(&self) -> bool {
        self.names == [COUNT]
    }

    /// Returns an error if an aggregation of the path is not there.
    pub(super) fn check(&self, within: &Aggregations) -> Piped<()> {
        let mut within = within;
        for (place, name) in self.names.iter().enumerate() {
            if name == COUNT || name == KEY && place == 0 {
                return Ok(());
            }
            let Some(named) = within.0.iter().find(|named| named.name == *name) else {
                let text = &self.text;
                return Err(super::invalid(&match place {
                    0 => format!("No aggregation found for path [{text}]"),
                    _ => format!("No aggregation [{name}] found for path [{text}]"),
                }));
            };
            within = &named.within;
        }
        Ok(())
    }

    /// Returns an error unless the path begins with an aggregation that has buckets.
    pub(super) fn check_buckets(&self, beside: &Aggregations) -> Piped<()> {
        self.check(beside)?;
        let first = beside.0.iter().find(|named| named.name == self.first());
        match first.map(|named| &named.asked) {
            Some(
                Asked::Terms { .. }
                | Asked::Dates { .. }
                | Asked::Histogram { .. }
                | Asked::Ranges { .. }
                | Asked::Filters { .. },
            ) => Ok(()),
            _ => Err(super::invalid(&format!(
                "The first aggregation in buckets_path must be a multi-bucket aggregation, found [{}] \
                 for buckets path: {}",
                self.first(),
                self.text
            ))),
        }
    }

    /// Returns the rest of the path, which leads from a bucket of the first aggregation on.
    pub(super) fn rest(&self) -> Path {
        let names = self.names.iter().skip(1).cloned().collect();
        Path { names, ..self.clone() }
    }

    /// Returns the number that a bucket has there. It is not a number if there is a gap, and none if
    /// there is no answer.
    pub(super) fn resolve(&self, bucket: &[(String, Json)]) -> Piped<Option<f64>> {
        let mut members = bucket;
        let mut last = None;
        for name in &self.names {
            if name == COUNT {
                return Ok(self::member(members, "doc_count").map(number));
            }
            if name == KEY && last.is_none() {
                return Ok(self::member(members, "key").map(number));
            }
            let Some(Json::Object(answer)) = named(members, name) else { return Ok(None) };
            members = answer;
            last = Some(name);
        }
        let last = last.ok_or_else(|| self.no_number("Bucket", self.first()))?;
        self.last(members, last)
    }

    fn last(&self, answer: &[(String, Json)], name: &str) -> Piped<Option<f64>> {
        let of = |name: &str| self::member(answer, name);
        match (&self.member, of("value"), of("values")) {
            (None, Some(value), _) => Ok(Some(number(value))),
            (Some(own), Some(_), _) if own == "value" || own == "normalized_value" => {
                Ok(of(own).map(number))
            }
            (Some(own), _, Some(values)) => percentile(values, own)
                .map(|value| Some(number(value)))
                .ok_or_else(|| self.unknown(own)),
            (Some(own), ..) if of("count").is_some() => {
                let bounds = of("std_deviation_bounds");
                let bound = || bounds?.get(own.strip_prefix("std_")?);
                let value =
                    of(own).filter(|value| !matches!(value, Json::Object(_))).or_else(bound);
                value.map(|value| Some(number(value))).ok_or_else(|| self.unknown(own))
            }
            (None, _, values) if values.is_some() || of("count").is_some() => Err(Refusal::new(
                "aggregation_execution_exception",
                500,
                format!(
                    "buckets_path must reference either a number value or a single value numeric \
                         metric aggregation, but [{name}] contains multiple values. Please specify \
                         which to use."
                ),
            )),
            (Some(own), ..) => Err(self.unknown(own)),
            (None, ..) => Err(self.no_number("Bucket", name)),
        }
    }

    fn unknown(&self, member: &str) -> Refusal {
        Refusal::illegal_argument(format!("[{member}] of the path [{}] is no number", self.text))
    }

    fn no_number(&self, found: &str, name: &str) -> Refusal {
        Refusal::new(
            "aggregation_execution_exception",
            500,
            format!(
                "buckets_path must reference either a number value or a single value numeric metric \
                 aggregation, got: [{found}] at aggregation [{name}]"
            ),
        )
    }
}

/// Returns an answer by its name, which may have its type in front.
fn named<'a>(members: &'a [(String, Json)], name: &str) -> Option<&'a Json> {
    let is_it = |own: &str| own.split_once('#').is_some_and(|(_, own)| own == name) || own == name;
    members.iter().find(|(own, _)| is_it(own)).map(|(_, answer)| answer)
}

fn member<'a>(members: &'a [(String, Json)], name: &str) -> Option<&'a Json> {
    members.iter().find(|(own, _)| own == name).map(|(_, value)| value)
}

fn percentile<'a>(values: &'a Json, at: &str) -> Option<&'a Json> {
    let at: f64 = at.parse().ok()?;
    match values {
        Json::Object(members) => {
            members.iter().find(|(own, _)| own.parse() == Ok(at)).map(|(_, value)| value)
        }
        Json::Array(list) => {
            let mut list = list.iter();
            list.find(|entry| entry.get("key").map(number) == Some(at))?.get("value")
        }
        _ => None,
    }
}

fn number(value: &Json) -> f64 {
    if let Json::Number(number) = value { number.as_f64().unwrap_or(f64::NAN) } else { f64::NAN }
}
