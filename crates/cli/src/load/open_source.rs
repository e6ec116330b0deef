//! A source that is being read, and how far it was read.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::document::{Parser, Rules};
use crate::input::{Followed, Jump, Records};
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
    /// The file once more, to go on at the place without reading what lies before.
    again: Option<Again>,
}

/// A file that can be gone on with at a place.
pub(super) enum Again {
    /// As it is.
    Whole(File),
    /// As it grows.
    Growing(File, Followed),
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
        OpenSource { path, records, rules, parser: None, from, last: 0, unfinished, again: None }
    }

    /// Goes on at the place without reading what lies before, if that is possible.
    pub(super) fn or_jump(self, again: Option<Again>) -> OpenSource {
        let again = again.filter(|_| self.from.marked > 0);
        OpenSource { again, ..self }
    }

    /// Goes to the place, once the format is known, if the file has the same bytes before it.
    pub(super) fn jump(&mut self) -> io::Result<()> {
        let Some(again) = self.again.take().filter(|_| self.records.are_lines()) else {
            return Ok(());
        };
        let (Again::Whole(file) | Again::Growing(file, _)) = &again;
        let Some(jump) = Jump::to(file, self.from.mark)? else { return Ok(()) };
        let rest = match again {
            Again::Whole(file) => jump.rest(file)?,
            Again::Growing(_, followed) => Box::new(followed.behind(&jump)),
        };
        self.records.jump(jump, rest, self.from.marked);
        self.last = self.from.marked;
        Ok(())
    }
}
