//! `spirit restore`: a backup becomes an index again.

use std::io::Write;

use crate::args::RestoreArgs;
use crate::failure::Failure;
use crate::output::out;
use crate::progress::BytesProgress;

pub(crate) fn run(args: &RestoreArgs) -> Result<(), Failure> {
    let mut progress = BytesProgress::new(args.progress, "restored");
    let restored = spirit::backup::restore_watched(&args.backup, &args.directory, &mut |p| {
        progress.tick(p.done, p.total);
    });
    progress.finish();
    let restored = restored?;
    let mut out = out();
    writeln!(
        out,
        "{} segments with {} rows ({} dead), {} operations of the log",
        restored.segments, restored.rows, restored.dead_rows, restored.log_operations
    )?;
    Ok(out.flush()?)
}
