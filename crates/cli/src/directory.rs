//! An index in a directory: looked for, opened, closed.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use spirit::backup::Progress;
use spirit::lab::Media;
use spirit::settings::LateReader;
use spirit::{Index, OpenError};
use spirit_forms::size::Size;

use crate::args::{IndexArgs, TierArgs};
use crate::failure::Failure;
use crate::made;
use crate::note::note;

/// How often it is said how far a start is.
const PERIOD: Duration = Duration::from_secs(1);

/// The file that the index in `directory` consists of.
pub(crate) fn file(directory: &Path) -> PathBuf {
    directory.join("heap")
}

/// Fails unless there is an index in `directory`. Opening would make one.
pub(crate) fn check_present(directory: &Path) -> Result<(), Failure> {
    if is_present(directory)? {
        return Ok(());
    }
    let name = directory.display();
    Err(Failure::work(format_args!(
        "{name}: there is no index; `spirit ingest -d {name} FILE` makes one"
    )))
}

pub(crate) fn is_present(directory: &Path) -> Result<bool, Failure> {
    let file = file(directory);
    file.try_exists().map_err(|error| Failure::file(&file, &error))
}

/// Opens the index that is in `directory`.
pub(crate) fn open(directory: &Path, args: &IndexArgs) -> Result<Index, Failure> {
    check_present(directory)?;
    open_or_make(directory, args, &TierArgs::default())
}

/// Like [`open`], but only for reading: changes nothing and keeps no other process out.
pub(crate) fn open_to_ask(directory: &Path, args: &IndexArgs) -> Result<Index, Failure> {
    check_present(directory)?;
    let options = args.options().directory(directory).while_recovering(shown(directory));
    let index = options.read_only(true).open().map_err(|error| failed(directory, error))?;
    made::check(&index, directory, args, &TierArgs::default())?;
    made::tell_of_missing_fields(&index, directory, args);
    Ok(index)
}

/// Opens the index in `directory`, or makes it as the options say.
pub(crate) fn open_or_make(
    directory: &Path,
    args: &IndexArgs,
    tier: &TierArgs,
) -> Result<Index, Failure> {
    open_or_make_at(directory, args, tier, Media::default())
}

/// The same, where structures lie in these media.
pub(crate) fn open_or_make_at(
    directory: &Path,
    args: &IndexArgs,
    tier: &TierArgs,
    media: Media,
) -> Result<Index, Failure> {
    let present = is_present(directory)?;
    if !present && media != Media::default() {
        // What lies in the index's directory is made before the index.
        std::fs::create_dir_all(directory).map_err(|error| Failure::file(directory, &error))?;
    }
    let options = tier.added_to(args.options()).directory(directory).media(media);
    let index = options
        .while_recovering(shown(directory))
        .while_waiting(report_late(directory))
        .open()
        .map_err(|error| failed(directory, error))?;
    let beyond = index.start_report().dram_beyond;
    if beyond > 0 {
        note(format_args!(
            "{}: replaying the log takes {} more DRAM than --dram, for this start only; the index \
             or its disk is full, or a document is large",
            directory.display(),
            Size(beyond)
        ));
    }
    if present {
        made::check(&index, directory, args, tier)?;
    }
    Ok(index)
}

/// Says how far a start is, once a second if it takes so long.
fn shown(directory: &Path) -> impl Fn(Progress) + Send + Sync + 'static {
    let name = directory.display().to_string();
    let last = Mutex::new(Instant::now());
    move |recovering| {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= PERIOD {
            *last = Instant::now();
            note(format_args!("{name}: recovering, {} %", recovering.percent()));
        }
    }
}

/// Says which reader the index waits for.
fn report_late(directory: &Path) -> impl Fn(LateReader) + Send + Sync + 'static {
    let name = directory.display().to_string();
    move |late| {
        let whose = match late.process {
            Some(process) => {
                format!("process {process}, which reads the index and may have been stopped")
            }
            None => "a reader that keeps its results".to_owned(),
        };
        let waited = late.waited.as_secs();
        let lease = late.lease.as_secs();
        note(format_args!(
            "{name}: waiting for {whose}, since {waited} s; the wait ends after {} s at most",
            lease * 3
        ));
    }
}

fn failed(directory: &Path, error: OpenError) -> Failure {
    match error {
        // These do not know where they are.
        OpenError::Corrupt { .. } | OpenError::Recovery(_) => {
            Failure::work(format_args!("{}: {error}", directory.display()))
        }
        error => error.into(),
    }
}

/// Closes `index` in an orderly way, whatever came of the `work` with it; the first failure is the one to tell.
pub(crate) fn close<T>(index: Index, work: Result<T, Failure>) -> Result<T, Failure> {
    let closed = index
        .close()
        .map_err(|error| Failure::work(format_args!("the index could not be closed: {error}")));
    match (work, closed) {
        (
            Ok(_) | Err(Failure::OutputClosed | Failure::Refused | Failure::Interrupted(_)),
            Err(failure),
        ) => Err(failure),
        (work, _) => work,
    }
}
