//! `spirit check`: whether an index's file is what was stored there.

use std::io::Write;

use spirit::Index;

use crate::args::CheckArgs;
use crate::directory::check_present;
use crate::failure::Failure;
use crate::output::{json_line, out};
use crate::report::Reported;

pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    check_present(&args.directory)?;
    let report = Index::check(&args.directory)?;
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
    let (name, found) = (args.directory.display(), reported.wrong());
    Err(Failure::work(format_args!(
        "{name}: errors found: {found}; restore a backup, or save intact parts with `spirit \
         salvage`"
    )))
}
