//! `spirit restore`: a backup becomes an index again.

use std::io::Write;

use serde::Serialize;
use spirit::backup::Backup;

use crate::args::RestoreArgs;
use crate::failure::Failure;
use crate::output::{json_line, out};
use crate::progress::BytesProgress;

#[derive(Serialize)]
struct Summary {
    segments: u64,
    rows: u64,
    dead_rows: u64,
    log_operations: u64,
}

pub(crate) fn run(args: &RestoreArgs) -> Result<(), Failure> {
    let mut progress = BytesProgress::new(args.progress, "restored");
    let restored = Backup::at(&args.backup)
        .progress(|p| progress.tick(p.done, p.total))
        .restore(&args.directory);
    progress.finish();
    let restored = restored?;
    let mut out = out();
    let summary = Summary {
        segments: restored.segments,
        rows: restored.rows,
        dead_rows: restored.dead_rows,
        log_operations: restored.log_operations,
    };
    if args.json {
        json_line(&mut out, &summary)?;
    } else {
        summary.write(&mut out)?;
    }
    Ok(out.flush()?)
}

impl Summary {
    fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        let Summary { segments, rows, dead_rows, log_operations } = self;
        writeln!(
            out,
            "{segments} segments with {rows} rows ({dead_rows} dead), {log_operations} operations of the log"
        )
    }
}
