//! `spirit salvage`: what is whole of a damaged index becomes an index again.

use std::io::Write;

use spirit::Index;

use crate::args::SalvageArgs;
use crate::directory::check_present;
use crate::failure::Failure;
use crate::output::out;
use crate::progress::BytesProgress;

pub(crate) fn run(args: &SalvageArgs) -> Result<(), Failure> {
    check_present(&args.directory)?;
    let mut progress = BytesProgress::new(args.progress, "salvaged");
    let salvaged = Index::salvage(&args.directory, &args.out, |p| progress.tick(p.done, p.total));
    progress.finish();
    let salvaged = salvaged?;
    let mut out = out();
    for missing in &salvaged.findings {
        let unknown = missing.documents_max.is_none().then_some("; its contents are unknown");
        writeln!(out, "missing: {missing}{}", unknown.unwrap_or_default())?;
    }
    if let Some(doubt) = &salvaged.doubt {
        writeln!(out, "doubtful, since no checksum covers all of it: {doubt}")?;
    }
    writeln!(
        out,
        "{} segments with {} rows ({} dead), {} operations of the log; missing parts: {}",
        salvaged.segments,
        salvaged.rows,
        salvaged.dead_rows,
        salvaged.log_operations,
        salvaged.findings.len()
    )?;
    Ok(out.flush()?)
}
