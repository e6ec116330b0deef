//! `spirit verify`: whether a backup is whole.

use std::io::Write;

use spirit::backup::Backup;

use crate::args::VerifyArgs;
use crate::failure::Failure;
use crate::output::{json_line, out};
use crate::progress::BytesProgress;
use crate::report::Reported;

pub(crate) fn run(args: &VerifyArgs) -> Result<(), Failure> {
    let mut progress = BytesProgress::new(args.progress, "verified");
    let report = Backup::at(&args.backup).progress(|p| progress.tick(p.done, p.total)).verify();
    progress.finish();
    let report = report?;
    let mut out = out();
    let reported = Reported::of(&report);
    if args.json {
        json_line(&mut out, &reported)?;
    } else {
        writeln!(out, "{report}")?;
    }
    out.flush()?;
    if report.is_sound() {
        return Ok(());
    }
    let (name, found) = (args.backup.display(), reported.wrong());
    Err(Failure::work(format_args!("{name}: errors found: {found}; use another backup")))
}
