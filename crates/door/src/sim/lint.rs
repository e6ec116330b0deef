//! Lints: errors of a trace that need no images.

use crate::site::Site;

/// A rule that an event broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lint {
    /// A word was published while its thread had another store pending. The data that it leads to
    /// may be missing.
    Uncovered {
        /// The space of that store.
        space: u8,
        /// Its offset in bytes.
        at: u64,
    },
    /// Lines without pending stores were written back: wasted time.
    CleanWriteBack,
    /// A thread without write-backs fenced: wasted time, or another thread wrote back.
    IdleFence,
}

impl Lint {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Lint::Uncovered { .. } => "uncovered publish",
            Lint::CleanWriteBack => "clean write-back",
            Lint::IdleFence => "idle fence",
        }
    }
}

/// A broken rule, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The number of the event in the trace, counted from 0.
    pub event: usize,
    /// The site of the event.
    pub site: Option<Site>,
    /// The rule.
    pub lint: Lint,
}
