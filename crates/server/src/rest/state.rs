//! The state of a document: its sequence number, how many states it has had, and its source.

use spirit::{Clause, HitError, Index, Search, SearchError, Value};

/// The field that counts a document's states. A first state does not have it.
pub(super) const VERSION: &str = "_version";

/// The state of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) sequence: u64,
    pub(super) version: i64,
    pub(super) source: String,
}

/// The reason why a state cannot be read.
#[derive(Debug)]
pub(super) enum NoState {
    Search(SearchError),
    Hit(HitError),
}

impl From<SearchError> for NoState {
    fn from(error: SearchError) -> NoState {
        NoState::Search(error)
    }
}

impl From<HitError> for NoState {
    fn from(error: HitError) -> NoState {
        NoState::Hit(error)
    }
}

/// Reads the state of the document with an id, as it was acknowledged last; none without a document.
pub(super) fn read(index: &Index, id: &str) -> Result<Option<State>, NoState> {
    let searcher = index.searcher();
    let hits = searcher.search(Clause::key(id), Search::newest(1))?;
    hits.get(0).map(|hit| of(&hit)).transpose().map_err(NoState::Hit)
}

/// Returns the state of a hit's document.
pub(super) fn of(hit: &spirit::Hit<'_>) -> Result<State, HitError> {
    let version = match hit.get(VERSION)? {
        Some(Value::Integer(version)) => version,
        _ => 1,
    };
    Ok(State { sequence: hit.sequence()?, version, source: hit.text()?.to_owned() })
}
