//! A source that is being read, and how far it was read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::document::{Parser, Rules};
use crate::input::Records;
use crate::resume::{Place, Unfinished};

pub(super) struct OpenSource {
    pub(super) path: PathBuf,
    pub(super) records: Records,
    pub(super) rules: Arc<Rules>,
    /// None until the format is known.
    pub(super) parser: Option<Parser>,
    /// What lies before is in.
    pub(super) from: Place,
    /// The number of the last record that was read.
    pub(super) last: u64,
    /// The record behind `from` that went in without an ending.
    pub(super) unfinished: Option<Unfinished>,
}

/// Why reading stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    /// A chunk was full, and is in.
    Full,
    /// Nothing more is there yet. All that was read is in.
    Pause,
    End,
    /// The source is not the one that was read: it has other records before the place.
    Other,
}

impl OpenSource {
    pub(super) fn new(path: &Path, records: Records, rules: Arc<Rules>, from: Place) -> OpenSource {
        let (path, unfinished) = (path.into(), from.unfinished);
        OpenSource { path, records, rules, parser: None, from, last: 0, unfinished }
    }
}
