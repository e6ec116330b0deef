//! Names of several indexes: lists, patterns, exclusions, `_all`.

use std::sync::Arc;

use axum::extract::Path;
use spirit_opensearch::error::Refusal;

use super::refused::{Answered, Refused, absent, forbidden, not_made};
use crate::api::server::Server;
use crate::catalog::{Absent, NotMade};
use crate::index_name::IndexName;
use crate::pattern::matches;
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
                    matches(pattern, name)
                        && (pattern.starts_with('.') || !name.starts_with('.'))
                        && server.access().is_for(name)
                };
                chosen.extend(all.iter().filter(is_it).cloned());
            }
            _ => match named(server, part) {
                Ok(served) => chosen.push(served),
                Err(Refused(refusal)) if may_be_missing && refusal.status != 403 => {}
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
    let parsed = allowed(server, name)?;
    server.catalog().get(&parsed).map_err(|why| absent(name, &why))
}

/// Returns the index of a name, and makes one that does not exist. For a thread that may wait for a
/// disk.
pub(super) fn named_or_made(server: &Server, name: &str) -> Answered<Arc<Served>> {
    let (parsed, catalog) = (allowed(server, name)?, server.catalog());
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

/// Returns a name of an index that the request may ask.
fn allowed(server: &Server, name: &str) -> Answered<IndexName> {
    let parsed = parsed(name)?;
    match server.access().is_for(parsed.as_str()) {
        true => Ok(parsed),
        false => Err(forbidden(name, server.access().user())),
    }
}

pub(super) fn parsed(name: &str) -> Answered<IndexName> {
    name.parse().map_err(|why: String| Refused(Refusal::invalid_index_name(name, &why)))
}
