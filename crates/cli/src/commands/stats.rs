//! `spirit stats`: what is where.

use std::io::Write;

use crate::args::StatsArgs;
use crate::commands::source::index_files;
use crate::failure::Failure;
use crate::output::{json_line, out};
use crate::settings::not_kept;
use crate::stats::Stats;

pub(crate) fn run(args: &StatsArgs) -> Result<(), Failure> {
    if let Some(directory) = &args.directory {
        return Err(not_kept(directory, "index files in memory with --in FILE"));
    }
    if args.files.is_empty() {
        return Err(Failure::usage(
            "nothing to show: name files to index in memory with --in FILE",
        ));
    }
    let index = index_files(&args.files, &args.reading, &args.index)?;
    index.settle();
    let stats = Stats::of(&index)?;
    let mut out = out();
    if args.json {
        json_line(&mut out, &stats)?;
    } else {
        for (name, value) in stats.lines() {
            writeln!(out, "{name:<32}{value}")?;
        }
    }
    Ok(out.flush()?)
}
