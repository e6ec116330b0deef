//! `spirit backup`: the state of an index at one point, in one file, while the process that has it open goes on.

use std::io::Write;

use serde::Serialize;
use spirit::backup::Backup;

use crate::args::BackupArgs;
use crate::directory::check_present;
use crate::failure::Failure;
use crate::output::{json_line, out};
use crate::progress::BytesProgress;

#[derive(Serialize)]
struct Summary {
    bytes: u64,
    segments: u64,
    rows: u64,
    dead_rows: u64,
    log_operations: u64,
    segments_dropped: u64,
    in_use: bool,
}

pub(crate) fn run(args: &BackupArgs) -> Result<(), Failure> {
    check_present(&args.directory)?;
    let mut progress = BytesProgress::new(args.progress, "copied");
    let backup =
        Backup::at(&args.out).progress(|p| progress.tick(p.done, p.total)).make(&args.directory);
    progress.finish();
    let backup = backup?;
    let mut out = out();
    let summary = Summary {
        bytes: backup.bytes,
        segments: backup.segments,
        rows: backup.rows,
        dead_rows: backup.dead_rows,
        log_operations: backup.log_operations,
        segments_dropped: backup.segments_dropped,
        in_use: backup.in_use,
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
        let Summary { bytes, segments, rows, dead_rows, log_operations, .. } = self;
        writeln!(
            out,
            "{segments} segments with {rows} rows ({dead_rows} dead), {log_operations} operations of the log; {bytes} bytes"
        )?;
        if self.segments_dropped > 0 {
            let dropped = self.segments_dropped;
            writeln!(out, "the index dropped {dropped} segments before they were copied")?;
        }
        Ok(())
    }
}
