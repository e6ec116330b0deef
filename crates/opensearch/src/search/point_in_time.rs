//! Points in time: states of indexes that a search may ask for.

use std::time::Duration;

use super::limit::time;
use super::{SearchBody, SortBy};
use crate::error::Refusal;
use crate::json::Json;

/// Elasticsearch's name of a document's place in a point in time.
const PLACE: &str = "_shard_doc";

/// The point in time that a search asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointInTime {
    /// Its id.
    pub id: String,
    /// The time for which it is kept from now on, at least.
    pub keep_alive: Option<Duration>,
}

impl PointInTime {
    pub(super) fn read(members: &[(String, Json)]) -> Result<PointInTime, Refusal> {
        let (mut id, mut keep_alive) = (None, None);
        for (name, value) in members {
            match (name.as_str(), value) {
                ("id", Json::String(text)) => id = Some(text.clone()),
                ("keep_alive", Json::String(text)) => {
                    keep_alive = time(name, text).map_err(|_| {
                        Refusal::content("[pit] failed to parse field [keep_alive]")
                    })?;
                }
                ("id" | "keep_alive", value) => {
                    return Err(Refusal::content(format!(
                        "[pit] {name} doesn't support values of type: {}",
                        value.token()
                    )));
                }
                _ => return Err(Refusal::content(format!("[pit] unknown field [{name}]"))),
            }
        }
        // The words are OpenSearch's.
        let missing = || Refusal::illegal_argument("point int time id is not provided");
        Ok(PointInTime { id: id.ok_or_else(missing)?, keep_alive })
    }
}

/// Takes the place of a document in a point in time for `_doc`, which is the same here.
pub(super) fn name_places(body: &mut SearchBody) {
    if body.pit.is_none() {
        return;
    }
    for key in &mut body.sort {
        if matches!(&key.by, SortBy::Field(name) if name == PLACE) {
            key.by = SortBy::Document;
        }
    }
}
