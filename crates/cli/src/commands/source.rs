//! What is asked, and where: sorted out of `[-d DIR] [--in FILE…] [QUERY] [--queries FILE]`.

use std::path::{Path, PathBuf};

use spirit::Index;
use spirit_forms::size::Size;

use crate::args::{IndexArgs, ReadingArgs, SourceArgs};
use crate::choice::OnFullName;
use crate::directory;
use crate::failure::Failure;
use crate::input::files_below;
use crate::load::Loader;
use crate::progress::Progress;
use crate::queries::Queries;
use crate::room;

/// Where the documents are.
#[derive(Debug)]
pub(crate) enum Source {
    /// In an index that is kept.
    Directory(PathBuf),
    /// In files, which are indexed in memory.
    Files(Vec<PathBuf>),
}

/// An index to be asked.
pub(crate) struct Opened {
    pub(crate) index: Index,
    /// Records of the files that are not in it.
    refused: u64,
}

impl Opened {
    /// Closes the index. Fails if records of the files are not in it, since answers are incomplete.
    pub(crate) fn close(self, answered: Result<(), Failure>) -> Result<(), Failure> {
        directory::close(self.index, answered)?;
        if self.refused > 0 { Err(Failure::Refused) } else { Ok(()) }
    }
}

impl Source {
    pub(crate) fn of(directory: Option<PathBuf>, files: Vec<PathBuf>) -> Result<Source, Failure> {
        match (directory, files.is_empty()) {
            (Some(directory), true) => Ok(Source::Directory(directory)),
            (None, false) => Ok(Source::Files(files)),
            (Some(_), false) => Err(Failure::usage(
                "-d and --in: give only one of them; `spirit ingest -d DIR FILE` adds files to an \
                 index",
            )),
            (None, true) => Err(Failure::usage(
                "no index: give -d DIR, or files to index in memory with --in FILE",
            )),
        }
    }

    /// An index of it.
    pub(crate) fn open(&self, reading: &ReadingArgs, index: &IndexArgs) -> Result<Opened, Failure> {
        match self {
            Source::Directory(directory) => {
                check_nothing_is_read(reading)?;
                let index = directory::open_to_ask(directory, index)?;
                Ok(Opened { index, refused: 0 })
            }
            Source::Files(files) => {
                reading.check()?;
                let (files, _) = files_below(files, &[]).map_err(Failure::work)?;
                indexed(&files, reading, index)
            }
        }
    }

    pub(crate) fn directory(&self) -> Option<&Path> {
        match self {
            Source::Directory(directory) => Some(directory),
            Source::Files(_) => None,
        }
    }
}

/// An index in memory of all that is in `files`. Unless it was said how much DRAM there is, or what goes where there is too little, they
/// get what they need.
fn indexed(files: &[PathBuf], reading: &ReadingArgs, args: &IndexArgs) -> Result<Opened, Failure> {
    let executors = args.executors.unwrap_or(1).max(1) as u64;
    let sizes = match (args.dram, args.on_full) {
        (None, None | Some(OnFullName::Refuse)) => room::sizes(files, executors),
        _ => Vec::new(),
    };
    let mut sizes = sizes.into_iter().peekable();
    let mut reported = 0;
    loop {
        let dram = sizes.next().map(Size).or(args.dram);
        let index = args.with_dram(dram).open()?;
        let mut progress = Progress::silent();
        let mut loader = Loader::new(&index, reading.into(), &mut progress).reported(reported);
        match loader.load(files) {
            Err(_) if loader.is_full() && sizes.peek().is_some() => {
                reported = loader.totals().refused;
            }
            loaded => {
                let refused = loader.totals().refused;
                return loaded.map(|()| Opened { index, refused });
            }
        }
    }
}

fn check_nothing_is_read(reading: &ReadingArgs) -> Result<(), Failure> {
    let given = [
        (reading.format.is_some(), "--format"),
        (reading.delimiter.is_some(), "--delimiter"),
        (reading.record_start.is_some(), "--record-start"),
        (!reading.text_field.is_empty(), "--text-field"),
        (reading.strict, "--strict"),
        (reading.on_misfit.is_some(), "--on-misfit"),
    ];
    match given.into_iter().find(|(given, _)| *given) {
        None => Ok(()),
        Some((_, name)) => {
            Err(Failure::usage(format_args!("{name}: needs --in; with -d no file is read")))
        }
    }
}

impl SourceArgs {
    pub(crate) fn settled(mut self) -> Result<(Source, Queries), Failure> {
        let queries = match (self.query.take(), self.queries.take()) {
            (_, Some(path)) => Some(Queries::File(path)),
            (Some(query), None) => Some(Queries::One(query)),
            (None, None) => self.query_among_files().map(Queries::One),
        };
        let source = Source::of(self.directory, self.files)?;
        let missing = || Failure::usage("no query: give QUERY, or --queries FILE");
        Ok((source, queries.ok_or_else(missing)?))
    }

    /// `--in FILE… QUERY`: the query came last, where the shell's user would put it, and was taken for one more
    /// file. A file of that name means that there is no query.
    fn query_among_files(&mut self) -> Option<String> {
        if self.files.len() < 2 {
            return None;
        }
        self.files
            .pop_if(|last| !last.exists())
            .and_then(|last| last.into_os_string().into_string().ok())
    }
}
