//! `spirit check`: whether an index's file is what was stored there.

use std::io::Write;

use crate::args::CheckArgs;
use crate::directory::check_present;
use crate::failure::Failure;
use crate::output::out;

pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    check_present(&args.directory)?;
    let report = spirit::backup::check(&args.directory)?;
    let mut out = out();
    writeln!(out, "{report}")?;
    out.flush()?;
    if report.is_sound() {
        return Ok(());
    }
    let (name, found) = (args.directory.display(), report.findings.len() as u64 + report.more);
    Err(Failure::work(format_args!(
        "{name}: {found} things are wrong; restore a backup, or take what is whole with `spirit salvage`"
    )))
}
