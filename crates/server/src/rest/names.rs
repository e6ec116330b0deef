//! Names of several indexes: lists, patterns, exclusions, `_all`.

use std::sync::Arc;

use axum::extract::Path;
use spirit_opensearch::error::Refusal;

use super::refused::{Answered, Refused, absent, not_made};
use crate::api::server::Server;
use crate::catalog::{Absent, NotMade};
use crate::index_name::IndexName;
use crate::served::Served;

/// Returns the list of names in a path; all of them in a path without one.
pub(super) fn in_path(index: Option<&Path<String>>) -> &str {
    index.map_or("*", |Path(index)| index)
}

/// Returns the indexes that a list names, such as `logs-*,-logs-old`. One that is named and not there
/// is an error, unless it may be missing.
pub(super) fn resolve(
    server: &Server,
    list: &str,
    may_be_missing: bool,
) -> Answered<Vec<Arc<Served>>> {
    let all = server.catalog().all();
    let mut chosen: Vec<Arc<Served>> = Vec::new();
    for part in list.split(',').filter(|part| !part.is_empty()) {
        match part.strip_prefix('-') {
            Some(excluded) if !chosen.is_empty() || excluded.contains('*') => {
                chosen.retain(|served| !matches(excluded, served.name.as_str()));
            }
            _ if part == "_all" || part.contains('*') => {
                let pattern = if part == "_all" { "*" } else { part };
                // Hidden ones are named with their point.
                let is_it = |served: &&Arc<Served>| {
                    let name = served.name.as_str();
                    matches(pattern, name) && (pattern.starts_with('.') || !name.starts_with('.'))
                };
                chosen.extend(all.iter().filter(is_it).cloned());
            }
            _ => match named(server, part) {
                Ok(served) => chosen.push(served),
                Err(_) if may_be_missing => {}
                Err(refused) => return Err(refused),
            },
        }
    }
    chosen.sort_by(|a, b| a.name.cmp(&b.name));
    chosen.dedup_by(|a, b| a.name == b.name);
    Ok(chosen)
}

/// Returns the index of a name.
pub(super) fn named(server: &Server, name: &str) -> Answered<Arc<Served>> {
    let parsed = parsed(name)?;
    server.catalog().get(&parsed).map_err(|why| absent(name, &why))
}

/// Returns the index of a name, and makes one that does not exist. For a thread that may wait for a
/// disk.
pub(super) fn named_or_made(server: &Server, name: &str) -> Answered<Arc<Served>> {
    let (parsed, catalog) = (parsed(name)?, server.catalog());
    match catalog.get(&parsed) {
        Err(Absent::Unknown) => {}
        other => return other.map_err(|why| absent(name, &why)),
    }
    match catalog.make(&parsed, catalog.default_sizes(), |builder| builder) {
        // Another request was faster.
        Err(NotMade::Exists) => catalog.get(&parsed).map_err(|why| absent(name, &why)),
        made => made.map_err(|why| not_made(name, &why)),
    }
}

pub(super) fn parsed(name: &str) -> Answered<IndexName> {
    name.parse().map_err(|why: String| Refused(Refusal::invalid_index_name(name, &why)))
}

/// True if a name matches a pattern, in which `*` stands for any letters.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    // A pattern with a `*` has a part behind the last one.
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("*", "a", true),
            ("logs-*", "logs-1", true),
            ("logs-*", "log-1", false),
            ("*-1", "logs-1", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("a", "a", true),
            ("a", "ab", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
