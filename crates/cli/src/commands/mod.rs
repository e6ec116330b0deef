//! The commands, one a file.

mod count;
mod demo;
mod ingest;
mod search;
mod source;
mod stats;

use crate::args::Command;
use crate::failure::Failure;
use crate::settings::not_kept;

pub(crate) fn run(command: Command) -> Result<(), Failure> {
    let instead = "search, count and stats index files in memory with --in";
    match command {
        Command::Demo(args) => demo::run(&args),
        Command::Ingest(args) => ingest::run(args),
        Command::Search(args) => search::run(args),
        Command::Count(args) => count::run(args),
        Command::Stats(args) => stats::run(&args),
        Command::Delete(args) => Err(not_kept(&args.directory, instead)),
        Command::Check(args) => Err(not_kept(&args.directory, instead)),
        Command::Serve(args) => Err(not_kept(&args.directory, instead)),
    }
}
