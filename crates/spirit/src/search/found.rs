//! How hits were found: what a cursor needs to go on in the same order.

use spirit_query::{Fading, Parameters, SortBy};

/// How hits were found.
#[derive(Clone, Copy, Default)]
pub(crate) enum Found {
    #[default]
    Newest,
    Best(Ranked),
    Sorted(Sorted),
}

/// How the best hits were found.
#[derive(Clone, Copy)]
pub(crate) struct Ranked {
    pub(crate) parameters: Parameters,
    /// How their scores fade, if they do.
    pub(crate) fading: Option<Fading>,
    /// The sequence number where the documents end that were there when the first page was asked for.
    pub(crate) limit: u64,
}

/// How hits were sorted by a field.
#[derive(Clone, Copy)]
pub(crate) struct Sorted {
    pub(crate) by: SortBy,
    /// As in [`Ranked`].
    pub(crate) limit: u64,
}
