//! `spirit salvage`: what is whole of a damaged index becomes an index again.

use std::io::Write;

use crate::args::SalvageArgs;
use crate::directory::check_present;
use crate::failure::Failure;
use crate::output::out;
use crate::progress::BytesProgress;

pub(crate) fn run(args: &SalvageArgs) -> Result<(), Failure> {
    check_present(&args.directory)?;
    let mut progress = BytesProgress::new(args.progress, "salvaged");
    let salvaged = spirit::backup::salvage_watched(&args.directory, &args.out, &mut |p| {
        progress.tick(p.done, p.total);
    });
    progress.finish();
    let salvaged = salvaged?;
    let mut out = out();
    for missing in &salvaged.missing {
        writeln!(out, "missing: {missing}")?;
    }
    if let Some(doubt) = &salvaged.doubt {
        writeln!(out, "doubtful, since no checksum tells all of this: {doubt}")?;
    }
    let restored = &salvaged.restored;
    writeln!(
        out,
        "{} segments with {} rows ({} dead), {} operations of the log; {} things are missing",
        restored.segments,
        restored.rows,
        restored.dead_rows,
        restored.log_operations,
        salvaged.missing.len()
    )?;
    Ok(out.flush()?)
}
