//! Checks of an index's file against what was stored there: `spirit check`.

use std::fmt;
use std::path::Path;

use spirit_index::check::{Checked, Counts, Logged, Part};
use spirit_index::form::field_list;
use spirit_index::form::root::{self, Root};
use spirit_index::ground::corrupt::Corrupt;
use spirit_index::ground::layout::ROOT_BYTES;
use spirit_mem::Region;
use spirit_schema::Schema;

use crate::backup::image::{Image, is_logged};
use crate::config::error::OpenError;
use crate::storage::fields::read_beside_writer;
use crate::storage::trust::CLOSED;

/// A part of the file that does not hold what was stored there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of part.
    pub what: &'static str,
    /// The executor whose part of the file has it; none for the root.
    pub executor: Option<usize>,
    /// The offset in the file, in bytes.
    pub at: u64,
    /// The error.
    pub why: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(executor) = self.executor {
            write!(f, "executor {executor}: ")?;
        }
        write!(f, "{} at {:#x}: {}", self.what, self.at, self.why)
    }
}

/// The result of [`check`] and [`verify`](crate::backup::verify()): counts and findings.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Errors, in the order of the file: at most a thousand for each executor.
    pub findings: Vec<Finding>,
    /// The number of further errors.
    pub more: u64,
    /// True if a process has the index open for writing. Dictionary and log change all the time
    /// then, so they were not checked.
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
    /// The number of operations in these records.
    pub log_operations: u64,
    /// The number of bytes whose contents were checked.
    pub bytes: u64,
}

impl Report {
    /// True if nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    pub(crate) fn take(&mut self, executor: Option<usize>, start: u64, checked: Checked) {
        let found = |Corrupt { what, at, why }| Finding { what, executor, at: start + at, why };
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
                "the index is open for writing: its dictionary and its log were not looked at"
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

/// Checks the index in `directory`, as far as its file alone can tell.
///
/// It changes nothing, recovers nothing, and keeps no process out. A process may have the index
/// open for writing, or open it meanwhile. Then only the parts that do not change are checked.
///
/// Two kinds of damage are not found. Death stamps have no checksums. If the index was not closed,
/// a lost last log record looks like one that was never written whole.
///
/// # Errors
/// If there is no file to check, or if its root cannot be read.
pub fn check(directory: impl AsRef<Path>) -> Result<Report, OpenError> {
    check_file(&directory.as_ref().join("heap"))
}

/// Checks the file at `path`, like [`check`].
pub(crate) fn check_file(path: &Path) -> Result<Report, OpenError> {
    loop {
        let image = Image::open(path)?;
        let report = check_image(&image);
        // A difference is no damage if a writer has started meanwhile.
        if image.in_use || !image.has_changed() {
            return report;
        }
    }
}

fn check_image(image: &Image) -> Result<Report, OpenError> {
    let closed = image.root.state == CLOSED;
    let mut report = Report { in_use: image.in_use, closed, ..Report::default() };
    let mut findings = root::check(&image.region);
    findings.extend(check_fields(image));
    report.take(None, 0, Checked { findings, ..Checked::default() });
    for executor in 0..image.root.executors {
        let region = image.part(executor)?;
        let mut checked = part(&region, &image.root, image.in_use)?.check();
        // After the segments: their columns are known now, and every field that they name was in
        // the list before.
        if let Some(schema) = schema_of(image) {
            check_kinds(&schema, &mut checked);
        }
        report.take(Some(executor as usize), image.part_start(executor), checked);
        report.executors += 1;
    }
    Ok(report)
}

/// Finds errors in the list of fields. The process that has the index open may be overwriting the
/// older list.
fn check_fields(image: &Image) -> Vec<Corrupt> {
    let (region, generation_min) = (&image.region, image.root.fields);
    let list = match read_beside_writer(region, generation_min) {
        Ok(list) if image.in_use => list,
        read => {
            let found = field_list::check(region, generation_min);
            let (Ok(list), []) = (read, &found[..]) else { return found };
            list
        }
    };
    let malformed = Schema::from_list(&list.bytes, image.options.analyzer, true).err();
    let why = "it names a field that this version does not know, or that cannot be";
    malformed.map(|_| Corrupt { what: "list of fields", at: ROOT_BYTES, why }).into_iter().collect()
}

/// Returns the newest fields; none if the list cannot be read, which `check_fields` has reported.
fn schema_of(image: &Image) -> Option<Schema> {
    let list = read_beside_writer(&image.region, image.root.fields).ok()?;
    Schema::from_list(&list.bytes, image.options.analyzer, true).ok()
}

/// Finds columns of unknown fields, and columns whose kind differs from their field's.
pub(crate) fn check_kinds(schema: &Schema, checked: &mut Checked) {
    for ((field, kind), at) in &checked.columns {
        if schema.get(*field).is_none_or(|known| known.kind.value_kind() != *kind) {
            let why = "its values are of another kind than its field's";
            checked.findings.push(Corrupt { what: "column", at: *at, why });
        }
    }
}

/// Returns the part in `region`, for an index with this root.
pub(crate) fn part<'a>(
    region: &'a Region,
    root: &Root,
    in_use: bool,
) -> Result<Part<'a>, OpenError> {
    let logged = is_logged(root).then_some(Logged {
        salt: root.salt as u32,
        incarnation: root.incarnation as u32,
        closed: root.state == CLOSED,
    });
    Part::new(region, root, logged, in_use).map_err(OpenError::Memory)
}
