//! The queries of search-benchmark-game: a JSON object a line, `{"query": TEXT, "tags": [...]}`.

use std::path::Path;

use serde_json::Value;

use super::{ARCHIVE, QuerySet, classic};
use crate::{Fallible, archive};

const FILE: &str = "search-benchmark-game/queries.txt";

/// At most `most` of each tag, from the archive in the folder of shared data.
pub(crate) fn load(data: &Path, most: usize, seed: u64) -> Fallible<QuerySet> {
    let mut set = QuerySet::default();
    for (name, text) in archive::texts(&data.join(ARCHIVE), |name| name == FILE)? {
        read(&text, &mut set).map_err(|reason| format!("{name}: {reason}"))?;
    }
    Ok(set.sampled(most, seed))
}

fn read(text: &str, set: &mut QuerySet) -> Result<(), String> {
    for line in text.lines() {
        let query: Value = serde_json::from_str(line).map_err(|e| format!("{e}: {line}"))?;
        let tags = query["tags"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let text = query["query"].as_str().ok_or_else(|| format!("no query: {line}"))?;
        set.push(class(tags), classic::parse(text));
    }
    Ok(())
}

/// The tag that says what a query is; the others say how widely it is used and how many words it has.
fn class<'a>(tags: impl Iterator<Item = &'a str>) -> &'a str {
    let mut kinds = tags.filter(|tag| *tag != "global" && !tag.contains(':'));
    kinds.next().unwrap_or("untagged")
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirit_peer_protocol::Query as Tree;

    #[test]
    fn a_line_has_its_kind_among_its_tags() {
        let text = r#"{"query": "the", "tags": ["term"]}
{"query": "+griffith +observatory", "tags": ["global", "intersection:num_tokens_2", "intersection"]}
{"query": "+- +-", "tags": ["intersection"]}"#;
        let mut set = QuerySet::default();
        read(text, &mut set).unwrap();
        assert_eq!(set.classes(), [("term", 1), ("intersection", 1)]);
        assert_eq!(set.queries[0].query, Tree::term("the"));
        assert_eq!(set.dropped["intersection"].0, 1);
        assert!(read("{}", &mut set).is_err());
    }
}
