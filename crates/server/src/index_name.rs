//! Names of indexes. They are names of directories, and cannot lead out of the server's.

use std::fmt;
use std::str::FromStr;

/// The most bytes of a name.
const BYTES_MAX: usize = 255;
/// Signs that no name has: they mean something in paths, patterns and lists of names.
const SIGNS: [char; 12] = ['\\', '/', '*', '?', '"', '<', '>', '|', ' ', ',', '#', ':'];

/// The name of an index, by the rule of OpenSearch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct IndexName(String);

impl IndexName {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IndexName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for IndexName {
    type Err = String;

    fn from_str(name: &str) -> Result<IndexName, String> {
        if name.is_empty() || name == "." || name == ".." {
            return Err("it must not be empty, `.` or `..`".into());
        }
        if name.starts_with(['_', '-', '+']) {
            return Err("it must not begin with `_`, `-` or `+`".into());
        }
        if name.len() > BYTES_MAX {
            return Err(format!("it has {} bytes: the limit is {BYTES_MAX}", name.len()));
        }
        if let Some(sign) = name.chars().find(|c| SIGNS.contains(c) || c.is_control()) {
            return Err(format!("it must not have {sign:?}"));
        }
        if name.chars().any(char::is_uppercase) {
            return Err("it must be lower case".into());
        }
        Ok(IndexName(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_directory() {
        let long = "a".repeat(BYTES_MAX);
        for right in ["a", "logstash-2026.11.25", ".kibana", "1", "größe", "a+b", "a_b", &long] {
            assert_eq!(right.parse::<IndexName>().unwrap().as_str(), right);
        }
        let longer = "a".repeat(BYTES_MAX + 1);
        for wrong in [
            "", ".", "..", "a/b", "../a", "/a", "a\\b", "A", "_a", "-a", "+a", "a*", "a b", "a,b",
            "a#", "a:b", "a\0", "a\n", &longer,
        ] {
            assert!(wrong.parse::<IndexName>().is_err(), "{wrong:?}");
        }
    }
}
