//! Which files are asked, and what: sorted out of `[-d DIR] [--in FILE…] [QUERY] [--queries FILE]`.

use std::path::PathBuf;

use spirit::Index;

use crate::args::{IndexArgs, ReadingArgs, SourceArgs};
use crate::failure::Failure;
use crate::load::Loader;
use crate::progress::Progress;
use crate::queries::Queries;
use crate::settings::not_kept;

#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) queries: Queries,
}

impl SourceArgs {
    pub(crate) fn settled(mut self) -> Result<Source, Failure> {
        if let Some(directory) = &self.directory {
            return Err(not_kept(directory, "index files in memory with --in FILE"));
        }
        if self.files.is_empty() {
            return Err(Failure::usage(
                "nothing to ask: name files to index in memory with --in FILE",
            ));
        }
        let queries = match (self.query.take(), self.queries.take()) {
            (_, Some(path)) => Queries::File(path),
            (Some(query), None) => Queries::One(query),
            (None, None) => Queries::One(self.query_among_files()?),
        };
        Ok(Source { files: self.files, queries })
    }

    /// `--in FILE… QUERY`: the query came last, where the shell's user would put it, and was taken for one more
    /// file. A file of that name means that there is no query.
    fn query_among_files(&mut self) -> Result<String, Failure> {
        let missing = || Failure::usage("no query: give QUERY, or --queries FILE");
        self.files
            .pop_if(|last| !last.exists())
            .filter(|_| !self.files.is_empty())
            .and_then(|last| last.into_os_string().into_string().ok())
            .ok_or_else(missing)
    }
}

/// An index in memory of `files`.
pub(crate) fn index_files(
    files: &[PathBuf],
    reading: &ReadingArgs,
    index: &IndexArgs,
) -> Result<Index, Failure> {
    let index = index.open()?;
    Loader::new(&index, reading.into(), &mut Progress::silent()).load(files)?;
    Ok(index)
}
