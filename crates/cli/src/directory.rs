//! An index in a directory: looked for, opened, asked whether it is as the options say, closed.

use std::path::{Path, PathBuf};

use spirit::{Index, OpenError};

use crate::args::{IndexArgs, TierArgs};
use crate::failure::Failure;
use crate::output::note;

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

fn is_present(directory: &Path) -> Result<bool, Failure> {
    let file = file(directory);
    file.try_exists().map_err(|error| Failure::file(&file, &error))
}

/// Opens the index that is in `directory`.
pub(crate) fn open(directory: &Path, args: &IndexArgs) -> Result<Index, Failure> {
    check_present(directory)?;
    open_or_make(directory, args, &TierArgs::default())
}

/// Opens the index in `directory`, or makes it as the options say.
pub(crate) fn open_or_make(
    directory: &Path,
    args: &IndexArgs,
    tier: &TierArgs,
) -> Result<Index, Failure> {
    let present = is_present(directory)?;
    let options = tier.added_to(args.options()).directory(directory);
    let index = options.open().map_err(|error| failed(directory, error))?;
    if present {
        compare(&index, directory, args, tier)?;
    }
    Ok(index)
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

/// An index is as it was made: an option that says otherwise is a mistake.
fn compare(
    index: &Index,
    directory: &Path,
    args: &IndexArgs,
    tier: &TierArgs,
) -> Result<(), Failure> {
    let name = directory.display();
    if let Some(asked) = args.executors {
        let made = executors(index)?;
        if asked != made {
            return Err(Failure::usage(format_args!(
                "--executors {asked}: the index in {name} was made with {made}, which stays; leave the option out"
            )));
        }
    }
    let not_compared = not_compared(args, tier);
    if !not_compared.is_empty() {
        let options = not_compared.join(", ");
        note(format_args!("{options}: not used; the index in {name} stays as it was made"));
    }
    Ok(())
}

fn executors(index: &Index) -> Result<usize, Failure> {
    let stats = index.stats().map_err(Failure::work)?;
    Ok(stats.partitions.iter().map(|partition| partition.executor + 1).max().unwrap_or(1))
}

/// The options given that the engine does not say of an index that it has.
fn not_compared(args: &IndexArgs, tier: &TierArgs) -> Vec<&'static str> {
    [
        (args.analyzer.is_some(), "--analyzer"),
        (args.segment.is_some(), "--segment"),
        (args.positions.is_some(), "--positions"),
        (args.on_full.is_some(), "--on-full"),
        (tier.mode.is_some(), "--mode"),
        (tier.durability.is_some(), "--durability"),
        (tier.reserve.is_some(), "--reserve"),
        (tier.nvm.is_some(), "--nvm"),
    ]
    .into_iter()
    .filter_map(|(given, name)| given.then_some(name))
    .collect()
}

/// Closes `index` in an orderly way, whatever came of the `work` with it; the first failure is the one to tell.
pub(crate) fn close<T>(index: Index, work: Result<T, Failure>) -> Result<T, Failure> {
    let closed = index
        .close()
        .map_err(|error| Failure::work(format_args!("the index could not be closed: {error}")));
    match (work, closed) {
        (Ok(_) | Err(Failure::OutputClosed), Err(failure)) => Err(failure),
        (work, _) => work,
    }
}
