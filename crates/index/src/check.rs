//! The check of an executor's part of the second tier: it finds all damage that an image alone can
//! show. It changes and repairs nothing.
//!
//! | file | checks |
//! |---|---|
//! | `seen` | the state shared by the other checks |
//! | `slots` | marks, entries, counts of dead rows; blocks in the rings |
//! | `segment` | a segment's section table, its [shape](crate::form::shape), checksums |
//! | `rows` | rows, keys, document vectors, lengths |
//! | `lengths` | the lengths of the documents of a term |
//! | `columns` | the values of documents' fields |
//! | `texts` | texts, and their index |
//! | `postings` | nodes, posting arrays, block maxima, bitmaps |
//! | `packed` | packed terms, and the lists that they lead to, with skip data and positions |
//! | `terms` | terms and keys, by hash |
//! | `order` | terms that have nodes, by their bytes |
//! | `merged` | the merged dictionary, and the nodes that it leads to |
//! | `log` | the log |
//!
//! An offset from the image is checked before it is followed, and each loop is bounded by the data
//! that it reads. So a check of any bytes ends with a result.

mod columns;
mod lengths;
mod log;
mod merged;
mod order;
mod packed;
mod postings;
mod rows;
mod seen;
mod segment;
mod slots;
pub(crate) mod terms;
mod texts;

pub(crate) use log::check_record;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

use spirit_mem::{Region, Span};

use crate::form::root::Root;
use crate::ground::corrupt::Corrupt;
use crate::ground::geometry::{Geometry, GeometryError};
use crate::ground::ids::{Position, State};
use crate::ground::layout::NvmLayout;
use crate::ground::slot::Entry;
use crate::ground::term::FieldId;
use crate::ground::values::ValueKind;

/// Largest number of findings that are kept; more are counted.
pub const FINDINGS_MAX: usize = 1000;

/// An executor's part that is checked, mapped from offset 0 of a region.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    region: &'a Region,
    geometry: Geometry,
    layout: NvmLayout,
    logged: Option<Logged>,
    in_use: bool,
}

/// The root's words about the log, if operations are logged.
#[derive(Clone, Copy, Debug)]
pub struct Logged {
    /// Initial value of the checksums.
    pub salt: u32,
    /// The number of the last start.
    pub incarnation: u32,
    /// True if the index was closed in an orderly way.
    pub closed: bool,
}

/// The numbers of things checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of segments.
    pub segments: u64,
    /// Number of merged segments.
    pub merged_segments: u64,
    /// Number of rows.
    pub rows: u64,
    /// Number of rows that are dead or never were documents.
    pub dead_rows: u64,
    /// Number of terms, counted in each segment that contains them.
    pub terms: u64,
    /// Number of postings.
    pub postings: u64,
    /// Bytes of texts, before compression.
    pub text_bytes: u64,
    /// Number of terms of the merged dictionary.
    pub merged_terms: u64,
    /// Number of records of the log that no segment contains.
    pub log_records: u64,
    /// Number of operations in them.
    pub log_operations: u64,
    /// Bytes whose contents were checked.
    pub bytes: u64,
}

/// The outcome of a check.
#[derive(Debug, Default)]
pub struct Checked {
    /// The first [`FINDINGS_MAX`] findings.
    pub findings: Vec<Corrupt>,
    /// Number of further findings.
    pub more: u64,
    /// The numbers of things checked.
    pub counts: Counts,
    /// The columns found, by field and kind, with the place of one of them. A caller that knows the
    /// fields' kinds compares them.
    pub columns: BTreeMap<(FieldId, ValueKind), u64>,
}

impl<'a> Part<'a> {
    /// Makes the part in `region` of an index with this root. `in_use` is true if another process
    /// may be changing it.
    pub fn new(
        region: &'a Region,
        root: &Root,
        logged: Option<Logged>,
        in_use: bool,
    ) -> Result<Part<'a>, GeometryError> {
        let geometry = Geometry::new(root.settings()?)?;
        let layout = geometry.nvm.expect("the settings have a second tier");
        Ok(Part { region, geometry, layout, logged, in_use })
    }

    /// Checks the whole part.
    pub fn check(&self) -> Checked {
        let mut checked = Checked::default();
        let found = slots::check(self, &mut checked);
        let segments = segment::check_all(self, &found, None, &mut checked);
        if self.in_use {
            // Damage looks like a change under way.
            return checked;
        }
        slots::check_blocks(self, &segments, &mut checked);
        merged::check(self, &found, &segments, &mut checked);
        let end = log::check(self, &found, &mut checked);
        rows::check_deaths(self, &segments, end, &mut checked);
        checked
    }

    /// Checks the engraved segment at `position` alone. `before` is the slot entry of the segment
    /// before it.
    pub fn check_segment(&self, position: Position, before: Option<Entry>) -> Checked {
        let mut checked = Checked::default();
        let found = seen::Found { live: vec![(position, State::Engraved)], newest: None };
        segment::check_all(self, &found, before, &mut checked);
        checked
    }

    /// Checks the live segment at `position` alone, which is in this state.
    pub fn check_live(&self, position: Position, state: State) -> Checked {
        let mut checked = Checked::default();
        let found = seen::Found { live: vec![(position, state)], newest: None };
        segment::check_all(self, &found, None, &mut checked);
        checked
    }

    /// Checks the log alone. `newest` is the newest segment's slot entry.
    pub fn check_log(&self, newest: Option<Entry>) -> Checked {
        let mut checked = Checked::default();
        log::check(self, &seen::Found { newest, ..seen::Found::default() }, &mut checked);
        checked
    }

    /// Returns the words of `bytes` bytes at `start`, or none if they are not in the part.
    fn words(&self, start: u64, bytes: u64) -> &'a [AtomicU64] {
        let inside = start.checked_add(bytes).is_some_and(|end| end <= self.layout.bytes);
        let words = inside.then(|| self.region.get(Span::new(start, bytes / 8))).flatten();
        words.unwrap_or(&[])
    }
}

impl Checked {
    fn note(&mut self, what: &'static str, at: u64, why: &'static str) {
        self.add(Corrupt { what, at, why });
    }

    fn add(&mut self, finding: Corrupt) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        } else {
            self.more += 1;
        }
    }

    /// Adds the results of another check.
    fn join(&mut self, other: Checked) {
        other.findings.into_iter().for_each(|finding| self.add(finding));
        self.more += other.more;
        self.counts += other.counts;
        self.columns.extend(other.columns);
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.segments += other.segments;
        self.merged_segments += other.merged_segments;
        self.rows += other.rows;
        self.dead_rows += other.dead_rows;
        self.terms += other.terms;
        self.postings += other.postings;
        self.text_bytes += other.text_bytes;
        self.merged_terms += other.merged_terms;
        self.log_records += other.log_records;
        self.log_operations += other.log_operations;
        self.bytes += other.bytes;
    }
}
