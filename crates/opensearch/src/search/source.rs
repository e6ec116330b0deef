//! `_source`: the parts of a document that an answer has.

use std::borrow::Cow;

use crate::error::Refusal;
use crate::json::Json;
use crate::picking::{Rests, Verdict, pick};
use crate::read;

/// The parts of documents that are wanted. Default: all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFilter {
    /// True if answers have no documents.
    pub is_off: bool,
    /// Patterns of the paths that are wanted; all if there are no patterns.
    pub includes: Vec<String>,
    /// Patterns of the paths that are not wanted.
    pub excludes: Vec<String>,
}

impl SourceFilter {
    /// Reads `true`, `"title"`, `["title", "user.*"]` or `{"includes": …, "excludes": …}`.
    ///
    /// # Errors
    /// If it is something else.
    pub fn read(value: &Json) -> Result<SourceFilter, Refusal> {
        let mut filter = SourceFilter::default();
        match value {
            Json::Bool(wanted) => filter.is_off = !wanted,
            Json::Object(members) => {
                for (name, value) in members {
                    let patterns = read::strings(value).ok_or_else(|| unknown(name, value));
                    match name.as_str() {
                        "includes" | "include" => filter.includes = patterns?,
                        "excludes" | "exclude" => filter.excludes = patterns?,
                        _ => return Err(unknown(name, value)),
                    }
                }
            }
            value => {
                filter.includes = read::strings(value).ok_or_else(|| {
                    let token = value.token();
                    let what = "Expected one of [VALUE_BOOLEAN, START_OBJECT] but found";
                    Refusal::parsing(format!("{what} [{token}]"))
                })?;
            }
        }
        Ok(filter)
    }

    /// Reads the value of the URL parameter `_source`: `true`, `false` or patterns.
    pub fn read_parameter(&mut self, text: &str) {
        match text {
            "true" | "" => self.is_off = false,
            "false" => self.is_off = true,
            patterns => self.includes = list(patterns),
        }
    }

    /// True if it leaves documents as they are.
    pub fn is_whole(&self) -> bool {
        !self.is_off && self.includes.is_empty() && self.excludes.is_empty()
    }

    /// Returns the wanted parts of a document. A whole one keeps its bytes, and so does one that is no
    /// JSON object.
    ///
    /// ```
    /// use spirit_opensearch::search::SourceFilter;
    ///
    /// let filter = SourceFilter { includes: vec!["user.*".into()], ..SourceFilter::default() };
    /// let source = br#"{"title":"sea","user":{"name":"ann","age":3.0}}"#;
    /// assert_eq!(&*filter.apply(source), br#"{"user":{"name":"ann","age":3.0}}"#);
    /// ```
    pub fn apply<'s>(&self, source: &'s [u8]) -> Cow<'s, [u8]> {
        if self.is_whole() {
            return Cow::Borrowed(source);
        }
        let Ok(text) = std::str::from_utf8(source) else { return Cow::Borrowed(source) };
        let step = |path: &String, name: &str| self.verdict(path, name);
        Cow::Owned(pick(text, &String::new(), &step).into_bytes())
    }

    fn verdict(&self, path: &str, name: &str) -> Verdict<String> {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        if reach(&self.excludes, &path) == Reach::Accepts {
            return Verdict::Drop;
        }
        let included = match self.includes.is_empty() {
            true => Reach::Accepts,
            false => reach(&self.includes, &path),
        };
        let below = format!("{path}.");
        let excludes_below = reach(&self.excludes, &below) != Reach::Ends;
        match included {
            Reach::Accepts if !excludes_below => Verdict::Keep,
            Reach::Accepts => Verdict::Into(path, Rests { scalars: true, empty: true }),
            _ if reach(&self.includes, &below) != Reach::Ends => {
                Verdict::Into(path, Rests { scalars: false, empty: false })
            }
            _ => Verdict::Drop,
        }
    }
}

/// Splits patterns that are separated by commas.
pub(super) fn list(patterns: &str) -> Vec<String> {
    patterns.split(',').filter(|pattern| !pattern.is_empty()).map(str::to_owned).collect()
}

fn unknown(name: &str, value: &Json) -> Refusal {
    let token = value.token();
    Refusal::parsing(format!("Unknown key for a {token} in [{name}]."))
}

/// How far a path is along some patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// Neither it nor anything that begins with it matches.
    Ends,
    /// It may be the beginning of a match.
    Leads,
    /// It matches, or an object that it is within does.
    Accepts,
}

fn reach(patterns: &[String], path: &str) -> Reach {
    let best = patterns.iter().map(|pattern| reach_of(pattern, path)).max();
    best.unwrap_or(Reach::Ends)
}

/// Returns how far a path is along one pattern, in which `*` stands for any characters.
fn reach_of(pattern: &str, path: &str) -> Reach {
    let pattern = pattern.as_bytes();
    // The places of the pattern at which the path may be.
    let mut places = vec![false; pattern.len() + 1];
    places[0] = true;
    skip_stars(pattern, &mut places);
    for byte in path.bytes() {
        if byte == b'.' && places[pattern.len()] {
            return Reach::Accepts;
        }
        let mut next = vec![false; places.len()];
        for (at, sign) in pattern.iter().enumerate().filter(|(at, _)| places[*at]) {
            match sign {
                b'*' => next[at] = true,
                sign if *sign == byte => next[at + 1] = true,
                _ => {}
            }
        }
        places = next;
        skip_stars(pattern, &mut places);
    }
    match places[pattern.len()] {
        true => Reach::Accepts,
        false if places.contains(&true) => Reach::Leads,
        false => Reach::Ends,
    }
}

/// Adds the places behind stars, which may stand for nothing.
fn skip_stars(pattern: &[u8], places: &mut [bool]) {
    for (at, sign) in pattern.iter().enumerate() {
        places[at + 1] |= places[at] && *sign == b'*';
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SOURCE: &str = concat!(
        r#"{"title":"reed","level":"Warn","tag":"bird","price":1.50,"ok":true,"#,
        r#""users":[{"name":"ann","role":"admin"},{"name":"bob","role":"guest"}]}"#
    );

    fn applied(filter: &str) -> String {
        let filter = SourceFilter::read(&Json::parse(filter.as_bytes()).unwrap()).unwrap();
        String::from_utf8(filter.apply(SOURCE.as_bytes()).into_owned()).unwrap()
    }

    /// The answers are those of OpenSearch 2.19, in the document's order.
    #[test]
    fn parts_are_picked_as_opensearch_does() {
        let others = r#""title":"reed","level":"Warn","tag":"bird","price":1.50,"ok":true"#;
        let users = r#""users":[{"name":"ann","role":"admin"},{"name":"bob","role":"guest"}]"#;
        let names = r#""users":[{"name":"ann"},{"name":"bob"}]"#;
        for (filter, source) in [
            ("true", SOURCE.to_owned()),
            ("[]", SOURCE.to_owned()),
            (r#"["users.name"]"#, format!("{{{names}}}")),
            (r#"["us*e"]"#, format!("{{{users}}}")),
            (r#"["users.*"]"#, format!("{{{users}}}")),
            (r#"["*.name"]"#, format!("{{{names}}}")),
            (r#"["user*.name","ok"]"#, format!(r#"{{"ok":true,{names}}}"#)),
            (r#""t*""#, r#"{"title":"reed","tag":"bird"}"#.to_owned()),
            (
                r#"{"excludes":["users.name"]}"#,
                format!(r#"{{{others},"users":[{{"role":"admin"}},{{"role":"guest"}}]}}"#),
            ),
            (r#"{"excludes":["users.*"]}"#, format!(r#"{{{others},"users":[]}}"#)),
            (r#"{"excludes":"users"}"#, format!("{{{others}}}")),
            (
                r#"{"includes":["users","tag"],"excludes":["*.role"]}"#,
                format!(r#"{{"tag":"bird",{names}}}"#),
            ),
            (r#"{"includes":["users.nope"]}"#, "{}".to_owned()),
            (
                r#"{"includes":["*"],"excludes":["*e"]}"#,
                r#"{"level":"Warn","tag":"bird","ok":true,"users":[]}"#.to_owned(),
            ),
        ] {
            assert_eq!(applied(filter), source, "{filter}");
        }
    }

    #[test]
    fn wrong_filters_are_refused() {
        for (filter, reason) in [
            ("5", "Expected one of [VALUE_BOOLEAN, START_OBJECT] but found [VALUE_NUMBER]"),
            (r#"{"foo":[]}"#, "Unknown key for a START_ARRAY in [foo]."),
            (r#"{"includes":5}"#, "Unknown key for a VALUE_NUMBER in [includes]."),
        ] {
            let refusal = SourceFilter::read(&Json::parse(filter.as_bytes()).unwrap()).unwrap_err();
            assert_eq!((refusal.kind, &*refusal.reason), ("parsing_exception", reason));
        }
    }

    #[test]
    fn a_whole_source_is_not_copied() {
        let source = b" {\"a\" : 1.0}\n";
        assert!(
            matches!(SourceFilter::default().apply(source), Cow::Borrowed(same) if same == source)
        );
    }

    proptest! {
        #[test]
        fn no_filter_panics(pattern in "[a*.é]{0,8}", source in "[\\[\\]{}\":,a1 .é]{0,24}") {
            let filter = SourceFilter { excludes: vec![pattern], ..SourceFilter::default() };
            filter.apply(source.as_bytes());
        }
    }
}
