//! Whether an index's file is what was stored there: `spirit check`.

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

/// Something in the file is not what was stored there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What.
    pub what: &'static str,
    /// The executor whose part it is in; none if it is the root.
    pub executor: Option<usize>,
    /// Its offset in the file.
    pub at: u64,
    /// What is wrong with it.
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

/// What [`check`] looked at, and what it found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// What is wrong, in the order of the file; of each executor at most a thousand.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub more: u64,
    /// Somebody has the index open for writing: what changes all the time (dictionary, log) was left out.
    pub in_use: bool,
    /// Whether the index was closed in an orderly way. If not, what its log holds is taken up by the next start.
    pub closed: bool,
    /// Executors.
    pub executors: usize,
    /// Engraved segments.
    pub segments: u64,
    /// Of those, segments that are merged.
    pub merged_segments: u64,
    /// Rows of these segments.
    pub rows: u64,
    /// Rows of these segments that are dead, or never were documents.
    pub dead_rows: u64,
    /// Terms of these segments, counted in each segment that has them.
    pub terms: u64,
    /// Postings of these segments.
    pub postings: u64,
    /// Bytes of texts, as they were given.
    pub text_bytes: u64,
    /// Terms of the merged dictionary.
    pub merged_terms: u64,
    /// Records of the log whose operations no segment has.
    pub log_records: u64,
    /// Operations in them.
    pub log_operations: u64,
    /// Bytes whose contents were checked.
    pub bytes: u64,
}

impl Report {
    /// Whether nothing is wrong.
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

/// Checks the index in `directory`, as far as its file alone can tell, and changes nothing: neither is it recovered, nor is
/// anybody kept out. If somebody has it open for writing, or opens it meanwhile, what is at rest is checked.
///
/// An error means that there is nothing to check, or no root to go by.
///
/// What no check can tell: death stamps, which have none of their own; and the loss of the last record of the log if the
/// index was not closed, which looks like one that was never written whole.
pub fn check(directory: impl AsRef<Path>) -> Result<Report, OpenError> {
    check_file(&directory.as_ref().join("heap"))
}

/// The same of the file at `path`.
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
        // Behind the segments: whatever they name was in the list before.
        if let Some(schema) = schema_of(image) {
            check_kinds(&schema, &mut checked);
        }
        report.take(Some(executor as usize), image.part_start(executor), checked);
        report.executors += 1;
    }
    Ok(report)
}

/// What is wrong with the list of fields. The process that has the index open may be writing over the older one.
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

/// The newest fields, if the list can be read: else that has been said.
fn schema_of(image: &Image) -> Option<Schema> {
    let list = read_beside_writer(&image.region, image.root.fields).ok()?;
    Schema::from_list(&list.bytes, image.options.analyzer, true).ok()
}

/// Finds columns that are of no field, or of another kind than theirs.
pub(crate) fn check_kinds(schema: &Schema, checked: &mut Checked) {
    for ((field, kind), at) in &checked.columns {
        if schema.get(*field).is_none_or(|known| known.kind.value_kind() != *kind) {
            let why = "its values are of another kind than its field's";
            checked.findings.push(Corrupt { what: "column", at: *at, why });
        }
    }
}

/// The part in `region` of an index with this root.
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
