//! `spirit stats`: what is where.

use std::io::Write;

use crate::args::StatsArgs;
use crate::commands::source::Source;
use crate::failure::Failure;
use crate::output::{json_line, out};
use crate::stats::Stats;

pub(crate) fn run(args: StatsArgs) -> Result<(), Failure> {
    let source = Source::of(args.directory, args.files)?;
    let opened = source.open(&args.reading, &args.index)?;
    opened.index.settle();
    let stats = Stats::of_kept(&opened.index, source.directory())?;
    let mut out = out();
    if args.json {
        json_line(&mut out, &stats)?;
    } else {
        for (name, value) in stats.lines() {
            writeln!(out, "{name:<32}{value}")?;
        }
    }
    out.flush()?;
    opened.close(Ok(()))
}
