//! `filter_path`: the parts of an answer that a client wants, such as `took,hits.hits._id`.
//!
//! `*` stands for any characters of one name, `**` for any number of names. `-` before a path
//! excludes it. Objects and arrays of which nothing is left are left out.

use crate::picking::{Rests, Verdict, pick};
use crate::read::matches;

/// Paths that are wanted, and paths that are not.
///
/// ```
/// use spirit_opensearch::filter_path::FilterPath;
///
/// let answer = r#"{"took":3,"hits":{"total":1,"hits":[{"_id":"7","_score":1.5}]}}"#;
/// let wanted = FilterPath::parse("took,hits.hits._id");
/// assert_eq!(wanted.apply(answer), r#"{"took":3,"hits":{"hits":[{"_id":"7"}]}}"#);
/// assert_eq!(FilterPath::parse("-hits").apply(answer), r#"{"took":3}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilterPath {
    included: Vec<Path>,
    excluded: Vec<Path>,
}

/// The names of a path.
type Path = Vec<String>;

/// The paths that may still be met, from the current name on.
type Ways<'p> = Vec<&'p [String]>;

/// A path that looks into values keeps none that have no members.
const INTO_WANTED: Rests = Rests { scalars: false, empty: false };
const INTO_UNWANTED: Rests = Rests { scalars: true, empty: false };

impl FilterPath {
    /// Reads paths that are separated by commas. Any text is one.
    pub fn parse(text: &str) -> FilterPath {
        let mut paths = FilterPath::default();
        for path in text.split(',').map(str::trim).filter(|path| !path.is_empty()) {
            let (list, path) = match path.strip_prefix('-') {
                Some(path) => (&mut paths.excluded, path),
                None => (&mut paths.included, path),
            };
            list.push(path.split('.').map(str::to_owned).collect());
        }
        paths
    }

    /// True if it leaves every answer as it is.
    pub fn is_empty(&self) -> bool {
        self.included.is_empty() && self.excluded.is_empty()
    }

    /// Returns the wanted parts of an answer. A text that is no JSON object stays as it is.
    pub fn apply(&self, answer: &str) -> String {
        let mut answer = answer.to_owned();
        if !self.included.is_empty() {
            answer = pick(&answer, &ways(&self.included), &wanted);
        }
        if !self.excluded.is_empty() {
            answer = pick(&answer, &ways(&self.excluded), &unwanted);
        }
        answer
    }
}

fn ways(paths: &[Path]) -> Ways<'_> {
    paths.iter().map(Vec::as_slice).collect()
}

fn wanted<'p>(ways: &Ways<'p>, name: &str) -> Verdict<Ways<'p>> {
    match behind(ways, name) {
        None => Verdict::Keep,
        Some(further) if further.is_empty() => Verdict::Drop,
        Some(further) => Verdict::Into(further, INTO_WANTED),
    }
}

fn unwanted<'p>(ways: &Ways<'p>, name: &str) -> Verdict<Ways<'p>> {
    match behind(ways, name) {
        None => Verdict::Drop,
        Some(further) if further.is_empty() => Verdict::Keep,
        Some(further) => Verdict::Into(further, INTO_UNWANTED),
    }
}

/// Returns the ways behind a name; none if one ends with it.
fn behind<'p>(ways: &Ways<'p>, name: &str) -> Option<Ways<'p>> {
    let mut further = Ways::new();
    let ends = ways.iter().any(|way| ends_with(way, name, &mut further));
    (!ends).then_some(further)
}

/// True if a way ends with a name. If not, appends how it goes on. Each step shortens the way.
fn ends_with<'p>(way: &'p [String], name: &str, further: &mut Ways<'p>) -> bool {
    let Some((first, rest)) = way.split_first() else { return false };
    let mut add = |way| {
        if !further.contains(&way) {
            further.push(way);
        }
    };
    if first == "**" {
        if rest.is_empty() {
            return true;
        }
        add(way);
        return ends_with(rest, name, further);
    }
    if !matches(first, name) {
        return false;
    }
    if rest.is_empty() {
        return true;
    }
    add(rest);
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ANSWER: &str = concat!(
        r#"{"took":2,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"#,
        r#""hits":{"total":{"value":2,"relation":"eq"},"max_score":1.0,"hits":["#,
        r#"{"_index":"d","_id":"1","_source":{"tag": "bird", "users":[{"name":"ann","role":"admin"},"#,
        r#"{"name":"bob","role":"guest"}]}},{"_index":"d","_id":"4","_source":{"tag":"beast"}}]}}"#
    );
    const SHARDS: &str = r#""_shards":{"total":1,"successful":1,"skipped":0,"failed":0}"#;

    /// The answers are those of OpenSearch 2.19.
    #[test]
    fn parts_are_picked_as_opensearch_does() {
        let users = r#"[{"name":"ann","role":"admin"},{"name":"bob","role":"guest"}]"#;
        for (paths, answer) in [
            ("took", r#"{"took":2}"#.to_owned()),
            ("hits.max_score", r#"{"hits":{"max_score":1.0}}"#.to_owned()),
            ("h*.h*._i*", r#"{"hits":{"hits":[{"_index":"d","_id":"1"},{"_index":"d","_id":"4"}]}}"#.to_owned()),
            ("hits.**.name", r#"{"hits":{"hits":[{"_source":{"users":[{"name":"ann"},{"name":"bob"}]}}]}}"#.to_owned()),
            ("**.value,**.name", r#"{"hits":{"total":{"value":2},"hits":[{"_source":{"users":[{"name":"ann"},{"name":"bob"}]}}]}}"#.to_owned()),
            ("hits.hits.*.users", format!(r#"{{"hits":{{"hits":[{{"_source":{{"users":{users}}}}}]}}}}"#)),
            ("*", ANSWER.to_owned()),
            ("**", ANSWER.to_owned()),
            ("", ANSWER.to_owned()),
            ("nope", "{}".to_owned()),
            ("hits.total.value,-hits.total", "{}".to_owned()),
            ("_shards.*,-_shards.t*", r#"{"_shards":{"successful":1,"skipped":0,"failed":0}}"#.to_owned()),
            ("-hits.total,-hits.max_score,-hits.hits", format!(r#"{{"took":2,"timed_out":false,{SHARDS}}}"#)),
            ("-hits.hits.*", format!(r#"{{"took":2,"timed_out":false,{SHARDS},"hits":{{"total":{{"value":2,"relation":"eq"}},"max_score":1.0}}}}"#)),
            ("hits.hits,-**._source", r#"{"hits":{"hits":[{"_index":"d","_id":"1"},{"_index":"d","_id":"4"}]}}"#.to_owned()),
            ("hits.hits,-**.users.*", r#"{"hits":{"hits":[{"_index":"d","_id":"1","_source":{"tag":"bird"}},{"_index":"d","_id":"4","_source":{"tag":"beast"}}]}}"#.to_owned()),
        ] {
            let plain = |text: &str| text.replace(": ", ":").replace(", ", ",");
            assert_eq!(plain(&FilterPath::parse(paths).apply(ANSWER)), plain(&answer), "{paths}");
        }
    }

    #[test]
    fn what_is_kept_keeps_its_bytes() {
        let answer = r#"{ "a" : {"b": 1.50,  "c":"\u00e9"}, "d":[1, 2] }"#;
        assert_eq!(FilterPath::parse("a").apply(answer), r#"{"a":{"b": 1.50,  "c":"\u00e9"}}"#);
        assert_eq!(FilterPath::parse("-a").apply(answer), r#"{"d":[1, 2]}"#);
        assert!(FilterPath::parse(" ,").is_empty());
        for text in ["", "[1]", "x", "{"] {
            assert_eq!(FilterPath::parse("a").apply(text), text);
        }
    }

    proptest! {
        #[test]
        fn no_path_panics(paths in "[-a*.,é]{0,24}", answer in "[\\[\\]{}\":,a1 ]{0,24}") {
            FilterPath::parse(&paths).apply(&answer);
            FilterPath::parse(&paths).apply(ANSWER);
        }
    }
}
