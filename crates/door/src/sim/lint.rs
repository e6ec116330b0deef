//! What is wrong with a trace whatever the images show.

use crate::site::Site;

/// A rule that an event broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lint {
    /// A word was published while its thread had another store pending: what it leads to may not be there.
    Uncovered {
        /// Where that store was: the space.
        space: u8,
        /// And its offset in bytes.
        at: u64,
    },
    /// Lines were written back that had nothing pending: time lost.
    CleanWriteBack,
    /// A thread has fenced that had nothing on its way: time lost, or the write-back was another thread's.
    IdleFence,
}

impl Lint {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Lint::Uncovered { .. } => "uncovered publish",
            Lint::CleanWriteBack => "clean write-back",
            Lint::IdleFence => "idle fence",
        }
    }
}

/// Where a rule was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which event of the trace, counted from 0.
    pub event: usize,
    /// Its site.
    pub site: Option<Site>,
    /// The rule.
    pub lint: Lint,
}
