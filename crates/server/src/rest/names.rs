//! Names of several indexes: lists, patterns, exclusions, `_all`.

use std::sync::Arc;

use axum::extract::Path;
use spirit_opensearch::error::Refusal;

use super::refused::{Answered, Refused, absent, forbidden};
use crate::api::server::Server;
use crate::index_name::IndexName;
use crate::pattern::matches;
use crate::registry::{Registered, backing};
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
    let registered = server.catalog().registry().now();
    resolve_in(server, &registered, list, may_be_missing)
}

/// Like [`resolve`], for requests that take no alias and no data stream.
pub(super) fn resolve_concrete(
    server: &Server,
    list: &str,
    may_be_missing: bool,
) -> Answered<Vec<Arc<Served>>> {
    let registered = server.catalog().registry().now();
    let is_alias_of = |name: &&str| registered.aliases.contains_key(*name);
    if let Some(alias) = list.split(',').find(is_alias_of) {
        return Err(Refused(is_alias(alias)));
    }
    let is_stream = |name: &&str| registered.streams.contains_key(*name);
    if let Some(stream) = list.split(',').find(is_stream) {
        return Err(Refusal::index_not_found(stream).into());
    }
    resolve_in(server, &Registered::default(), list, may_be_missing)
}

/// Returns the refusal of an alias where an index is required.
pub(super) fn is_alias(name: &str) -> Refusal {
    Refusal::illegal_argument(format!(
        "The provided expression [{name}] matches an alias, specify the corresponding concrete \
         indices instead."
    ))
}

fn resolve_in(
    server: &Server,
    registered: &Registered,
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
                let others = registered.aliases.keys().chain(registered.streams.keys());
                let of_key =
                    |name: &&String| matches(pattern, name) && server.access().is_for(name);
                for name in others.filter(of_key) {
                    // An alias of indexes that the key may not ask stands for nothing in a pattern.
                    chosen.extend(behind(server, registered, name).into_iter().flatten());
                }
            }
            _ if registered.aliases.contains_key(part) => {
                chosen.extend(behind(server, registered, part)?);
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

/// Returns the indexes behind an alias or a data stream.
fn behind(server: &Server, registered: &Registered, name: &str) -> Answered<Vec<Arc<Served>>> {
    let get = |index: &str| {
        let index = allowed(server, index)?;
        server.catalog().get(&index).map_err(|why| absent(index.as_str(), &why))
    };
    match registered.aliases.get(name) {
        Some(alias) => alias.keys().map(|index| get(index)).collect(),
        // The key is for the stream, whose index has another name.
        None => {
            allowed(server, name)?;
            let backing = backing(name);
            let found = parsed(backing.as_str()).map(|index| server.catalog().get(&index))?;
            Ok(vec![found.map_err(|why| absent(backing.as_str(), &why))?])
        }
    }
}

/// Returns the index of a name, of an alias or of a data stream. An alias of several is an error.
pub(super) fn named(server: &Server, name: &str) -> Answered<Arc<Served>> {
    let registered = server.catalog().registry().now();
    if registered.aliases.contains_key(name) || registered.streams.contains_key(name) {
        let mut behind = behind(server, &registered, name)?;
        if behind.len() > 1 {
            let names: Vec<&str> = behind.iter().map(|served| served.name.as_str()).collect();
            return Err(Refusal::illegal_argument(format!(
                "alias [{name}] has more than one index associated with it [{}], can't execute a \
                 single index op",
                names.join(", ")
            ))
            .into());
        }
        return behind.pop().ok_or_else(|| Refusal::index_not_found(name).into());
    }
    let parsed = allowed(server, name)?;
    server.catalog().get(&parsed).map_err(|why| absent(name, &why))
}

/// Returns a name of an index that the request may ask.
pub(super) fn allowed(server: &Server, name: &str) -> Answered<IndexName> {
    let parsed = parsed(name)?;
    match server.access().is_for(parsed.as_str()) {
        true => Ok(parsed),
        false => Err(forbidden(name, server.access().user())),
    }
}

pub(super) fn parsed(name: &str) -> Answered<IndexName> {
    name.parse().map_err(|why: String| Refused(Refusal::invalid_index_name(name, &why)))
}
