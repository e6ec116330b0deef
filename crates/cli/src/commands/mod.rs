//! The commands, one a file.

mod backup;
mod check;
mod completions;
mod config;
mod count;
mod delete;
mod demo;
mod fields;
mod get;
mod index;
mod ingest;
mod keys;
mod restore;
mod salvage;
mod search;
mod serve;
mod source;
mod stats;
mod top;
mod verify;

use crate::args::Command;
use crate::failure::Failure;

pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Demo(args) => demo::run(&args),
        Command::Ingest(args) => ingest::run(*args),
        Command::Index(args) => index::run(args),
        Command::Search(args) => search::run(args),
        Command::Count(args) => count::run(args),
        Command::Get(args) => get::run(&args),
        Command::Delete(args) => delete::run(&args),
        Command::Stats(args) => stats::run(args),
        Command::Fields(args) => fields::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Backup(args) => backup::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Restore(args) => restore::run(&args),
        Command::Salvage(args) => salvage::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Keys(args) => keys::run(args),
        Command::Top(args) => top::run(&args),
    }
}
