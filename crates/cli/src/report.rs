//! Reports of `check` and `verify`, in the shape that `--json` prints.

use serde::Serialize;
use spirit::backup::Report;
use spirit::error::Corrupt;

#[derive(Serialize)]
pub(crate) struct Reported {
    sound: bool,
    findings: Vec<Found>,
    /// Findings that are not listed.
    more: u64,
    in_use: bool,
    closed: bool,
    executors: usize,
    segments: u64,
    merged_segments: u64,
    rows: u64,
    dead_rows: u64,
    terms: u64,
    postings: u64,
    text_bytes: u64,
    merged_terms: u64,
    log_records: u64,
    log_operations: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct Found {
    what: &'static str,
    /// None if it is in the root.
    executor: Option<usize>,
    /// Offset in the file.
    at: u64,
    why: &'static str,
}

impl Reported {
    pub(crate) fn of(report: &Report) -> Reported {
        Reported {
            sound: report.is_sound(),
            findings: report.findings.iter().map(Found::of).collect(),
            more: report.more,
            in_use: report.in_use,
            closed: report.closed,
            executors: report.executors,
            segments: report.segments,
            merged_segments: report.merged_segments,
            rows: report.rows,
            dead_rows: report.dead_rows,
            terms: report.terms,
            postings: report.postings,
            text_bytes: report.text_bytes,
            merged_terms: report.merged_terms,
            log_records: report.log_records,
            log_operations: report.log_operations,
            bytes: report.bytes,
        }
    }

    /// Counts the things that are wrong.
    pub(crate) fn wrong(&self) -> u64 {
        self.findings.len() as u64 + self.more
    }
}

impl Found {
    fn of(finding: &Corrupt) -> Found {
        let Corrupt { what, executor, at, why, .. } = *finding;
        Found { what, executor, at, why }
    }
}
