//! Reports: what an index or a backup has, and its damage.

use std::fmt;

use spirit_index::check::{Checked, Counts};
use spirit_index::ground::Corrupt as Damage;

use crate::config::corrupt::Corrupt;

/// The contents of an index or a backup, and its damage. Numbers that an operation does not count
/// are 0.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The damage, in the order of the file: at most a thousand findings for each executor. Of a
    /// salvage: the parts that are lost.
    pub findings: Vec<Corrupt>,
    /// The number of further findings.
    pub more: u64,
    /// The reason why more may be wrong than checksums tell; none if there is no doubt. With it, a
    /// salvaged index would not have been opened even without damage.
    pub doubt: Option<String>,
    /// The number of segments that retention dropped before they were copied to a backup.
    pub segments_dropped: u64,
    /// True if a process has the index open for writing. Dictionary and log change all the time
    /// then, so a check leaves them out.
    pub in_use: bool,
    /// True if the index was closed in an orderly way. If not, the next start replays its log.
    pub closed: bool,
    /// The number of executors.
    pub executors: usize,
    /// The number of engraved segments.
    pub segments: u64,
    /// The number of merged segments among them.
    pub merged_segments: u64,
    /// The number of rows in these segments.
    pub rows: u64,
    /// The number of dead rows in these segments, and of rows that never were documents.
    pub dead_rows: u64,
    /// The number of terms, counted in each segment that has them.
    pub terms: u64,
    /// The number of postings in these segments.
    pub postings: u64,
    /// The size of the texts as given, in bytes.
    pub text_bytes: u64,
    /// The number of terms in the merged dictionary.
    pub merged_terms: u64,
    /// The number of log records whose operations no segment has.
    pub log_records: u64,
    /// The number of operations in these records. Opening the index replays them.
    pub log_operations: u64,
    /// The number of bytes whose contents were checked; of a new backup, the size of the file.
    pub bytes: u64,
}

impl Report {
    /// True if nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    pub(crate) fn take(&mut self, executor: Option<usize>, start: u64, checked: Checked) {
        let found = |Damage { what, at, why }| Corrupt {
            executor,
            what,
            at: start + at,
            why,
            documents_max: None,
        };
        self.findings.extend(checked.findings.into_iter().map(found));
        self.more += checked.more;
        let Counts { segments, merged_segments, rows, dead_rows, .. } = checked.counts;
        let Counts { terms, postings, text_bytes, merged_terms, .. } = checked.counts;
        let Counts { log_records, log_operations, bytes, .. } = checked.counts;
        self.segments += segments;
        self.merged_segments += merged_segments;
        self.rows += rows;
        self.dead_rows += dead_rows;
        self.terms += terms;
        self.postings += postings;
        self.text_bytes += text_bytes;
        self.merged_terms += merged_terms;
        self.log_records += log_records;
        self.log_operations += log_operations;
        self.bytes += bytes;
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        if self.more > 0 {
            writeln!(f, "and {} more", self.more)?;
        }
        if self.in_use {
            writeln!(
                f,
                "the index is open for writing: its dictionary and its log were not checked"
            )?;
        }
        write!(
            f,
            "{} segments with {} rows ({} dead), {} merged, {} terms, {} postings, {} bytes of text; {} terms in the dictionary; {} operations in \
             {} records of the log; {} bytes: {}",
            self.segments,
            self.rows,
            self.dead_rows,
            self.merged_segments,
            self.terms,
            self.postings,
            self.text_bytes,
            self.merged_terms,
            self.log_operations,
            self.log_records,
            self.bytes,
            if self.is_sound() { "sound" } else { "damaged" },
        )
    }
}
