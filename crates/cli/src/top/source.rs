//! What is shown: a server, or an index in a directory.

use super::{Directory, Sample, Server};
use crate::failure::Failure;

/// What is shown.
pub(crate) enum Source {
    Server(Server),
    Directory(Directory),
}

impl Source {
    /// Returns its URL or its path.
    pub(crate) fn name(&self) -> &str {
        match self {
            Source::Server(server) => server.url(),
            Source::Directory(directory) => directory.name(),
        }
    }

    /// Takes a sample. Errors say what to do.
    pub(crate) fn sample(&self) -> Result<Sample, String> {
        match self {
            Source::Server(server) => server.sample(),
            Source::Directory(directory) => directory.sample(),
        }
    }

    /// Ends the reading, after work that ended so.
    pub(crate) fn close(self, shown: Result<(), Failure>) -> Result<(), Failure> {
        match self {
            Source::Server(_) => shown,
            Source::Directory(directory) => directory.close(shown),
        }
    }
}
