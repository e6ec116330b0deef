//! Indexes that are made, by a request or by their first document, as templates say; and the index that
//! a write to a name goes to.

use std::sync::Arc;

use serde_json::value::RawValue;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;

use super::aliases;
use super::change::{Action, Change};
use super::composed::{self, Composed};
use super::dynamic_settings;
use super::mapping::Mapped;
use super::names;
use super::refused::{Answered, absent, not_made};
use super::settings;
use crate::api::server::Server;
use crate::catalog::{Absent, NotMade};
use crate::registry::backing;
use crate::served::Served;

/// The field that each document of a data stream has.
#[derive(serde::Deserialize)]
struct Timed<'d> {
    #[serde(rename = "@timestamp", borrow)]
    time: Option<&'d RawValue>,
}

/// The index that a write goes to.
pub(super) struct Written {
    pub(super) served: Arc<Served>,
    /// True if it was named by its data stream, which takes new documents only.
    pub(super) is_stream: bool,
}

impl Written {
    /// Returns the refusal of a change that a data stream does not take.
    pub(super) fn refusal(&self, change: &Change<'_>) -> Option<Refusal> {
        if !self.is_stream {
            return None;
        }
        if change.action != Action::Create {
            let reason = "only write ops with an op_type of create are allowed in data streams";
            return Some(Refusal::illegal_argument(reason));
        }
        let Timed { time } = serde_json::from_str(change.body).ok()?;
        let first = time.and_then(|time| time.get().bytes().next());
        let has_time = matches!(first, Some(b'"' | b'-' | b'0'..=b'9'));
        let reason = "failed to parse: documents must contain a single-valued timestamp field \
                      '@timestamp' of date type";
        (!has_time).then(|| Refusal::mapper_parsing(reason))
    }
}

/// Returns the index that a write to a name goes to. If none has the name, it is made, unless the write
/// makes none. For a thread that may wait for a disk.
pub(super) fn written(server: &Server, name: &str, may_make: bool) -> Answered<Written> {
    let registered = server.catalog().registry().now();
    let plain = |served| Written { served, is_stream: false };
    if let Some(alias) = registered.aliases.get(name) {
        let written = match alias.iter().find(|(_, is_write)| **is_write == Some(true)) {
            Some((index, _)) => Some(index),
            None if alias.len() == 1 => {
                alias.iter().find(|(_, is_write)| is_write.is_none()).map(|(index, _)| index)
            }
            None => None,
        };
        let Some(index) = written else {
            return Err(Refusal::illegal_argument(format!(
                "no write index is defined for alias [{name}]. The write index may be explicitly \
                 disabled using is_write_index=false or the alias points to multiple indices without \
                 one being designated as a write index"
            ))
            .into());
        };
        return names::named(server, index).map(plain);
    }
    let stream = |served| Written { served, is_stream: true };
    if registered.streams.contains_key(name) {
        return names::named(server, name).map(stream);
    }
    match server.catalog().get(&names::allowed(server, name)?) {
        Err(Absent::Unknown) if may_make => {}
        other => return other.map(plain).map_err(|why| absent(name, &why)),
    }
    match composed::compose(&registered, name, None)? {
        Composed { stream: Some(template), body, .. } => {
            make_stream(server, name, &template, &body).map(stream)
        }
        composed => make_composed(server, name, &composed.body).map(plain),
    }
}

/// Makes an index with the body of a request and what templates say.
pub(super) fn make(server: &Server, name: &str, own: Option<&Json>) -> Answered<()> {
    let registered = server.catalog().registry().now();
    let composed = composed::compose(&registered, name, own)?;
    if let Some(template) = composed.stream {
        return Err(Refusal::illegal_argument(format!(
            "cannot create index with name [{name}], because it matches with template [{template}] \
             that creates data streams only, use create data stream api instead"
        ))
        .into());
    }
    let parsed = names::allowed(server, name)?;
    if server.catalog().get(&parsed).err() != Some(Absent::Unknown) {
        return Err(not_made(name, &NotMade::Exists));
    }
    make_composed(server, name, &composed.body).map(drop)
}

fn make_composed(server: &Server, name: &str, body: &Json) -> Answered<Arc<Served>> {
    let (parsed, catalog) = (names::parsed(name)?, server.catalog());
    let mapped = Mapped::read(body)?;
    let aliases = body.get("aliases").map(aliases::of_index).transpose()?.unwrap_or_default();
    let settings = body.get("settings").map(dynamic_settings::given).transpose()?;
    let made = catalog.make(&parsed, catalog.default_sizes(), |builder| mapped.added_to(builder));
    match made {
        // Another request was faster.
        Err(NotMade::Exists) => catalog.get(&parsed).map_err(|why| absent(name, &why)),
        Err(why) => Err(not_made(name, &why)),
        Ok(served) => {
            settings::keep(catalog, name, settings.unwrap_or_default())?;
            aliases::give(catalog, name, &aliases)?;
            Ok(served)
        }
    }
}

/// Makes a data stream by its name, as its template says.
pub(super) fn make_named_stream(server: &Server, name: &str) -> Answered<()> {
    let registered = server.catalog().registry().now();
    if registered.streams.contains_key(name) {
        let reason = format!("data_stream [{name}] already exists");
        return Err(Refusal::new("resource_already_exists_exception", 400, reason).into());
    }
    names::allowed(server, name)?;
    let composed = composed::compose(&registered, name, None)?;
    let Some(template) = composed.stream else {
        let reason = format!("no matching index template found for data stream [{name}]");
        return Err(Refusal::illegal_argument(reason).into());
    };
    make_stream(server, name, &template, &composed.body).map(drop)
}

/// Makes a data stream: its index first. A crash between leaves an index that the next request takes.
fn make_stream(server: &Server, name: &str, template: &str, body: &Json) -> Answered<Arc<Served>> {
    if registered_as_other(server, name) {
        return Err(Refusal::invalid_index_name(name, "already exists as index or alias").into());
    }
    let served = make_composed(server, &backing(name), body)?;
    server.catalog().registry().change(|registered| {
        registered.streams.insert(name.to_owned(), template.to_owned());
        Ok::<(), super::refused::Refused>(())
    })?;
    Ok(served)
}

fn registered_as_other(server: &Server, name: &str) -> bool {
    let is_index = name.parse().is_ok_and(|parsed| server.catalog().get(&parsed).is_ok());
    is_index || server.catalog().registry().now().aliases.contains_key(name)
}
