//! The number of documents and their lengths, in a snapshot.

use crate::column::Column;
use crate::fresh::field_lengths::FreshLengths;
use crate::fresh::length_arrays::ChunkLengths;
use crate::ground::posting::rank_of;
use crate::ground::term::FieldId;
use crate::ground::values::ValueKind;
use crate::rows::lengths::{LENGTH_MAX, LengthArray, RunningCounts, Statistics};
use crate::snapshot::{Segment, Snapshot};

impl Snapshot<'_> {
    /// Returns the number of documents with a text, and their kept tokens, in all rows that the
    /// snapshot sees. Dead documents count too. For any number of segments, this reads two
    /// descriptors and a word of each fresh segment.
    pub fn statistics(&self) -> Statistics {
        let fresh = self.fresh().map(|segment| segment.statistics(segment.rows()));
        fresh.fold(self.registered_statistics(), |sum, of_segment| sum + of_segment)
    }

    /// Like [`statistics`](Self::statistics), but of a field of text. This reads a column's entry
    /// of each registered segment.
    pub fn field_statistics(&self, field: FieldId) -> Statistics {
        if field == FieldId::TEXT {
            return self.statistics();
        }
        let fresh = self.fresh().map(|segment| segment.fresh_statistics(field));
        let registered = self.registered().map(|segment| {
            let column = segment.column(field, ValueKind::Text);
            column.map_or(Statistics::default(), |column| column.statistics())
        });
        fresh.chain(registered).fold(Statistics::default(), |sum, of_segment| sum + of_segment)
    }

    /// Returns the part of [`statistics`](Self::statistics) in registered segments. Both versions
    /// of a rewritten segment's position have one running total. So only of the first segment it
    /// matters which version is seen.
    fn registered_statistics(&self) -> Statistics {
        let window = self.window;
        if window.oldest >= window.end {
            return Statistics::default();
        }
        let ends = self.segment(window.oldest).zip(self.segment(window.end - 1));
        ends.map_or(Statistics::default(), |(first, last)| {
            let behind_first = last.descriptor.total() - first.descriptor.total();
            first.descriptor.kept() + behind_first
        })
    }
}

/// The lengths of a field in a segment's documents, saturated at [`LENGTH_MAX`]. It is made once for
/// thousands of documents.
pub struct FieldLengths<'a>(Source<'a>);

enum Source<'a> {
    Counts(RunningCounts<'a>),
    Array(LengthArray<'a>),
    Fresh(Fresh<'a>),
    Nothing,
}

/// The lengths of a field of a fresh segment, and the array of the chunk that was read last.
struct Fresh<'a> {
    lengths: FreshLengths<'a>,
    field: FieldId,
    chunk: u32,
    array: Option<ChunkLengths<'a>>,
}

impl FieldLengths<'_> {
    /// Returns the length of a document.
    #[inline]
    pub fn get(&mut self, local: u32) -> u32 {
        match &mut self.0 {
            Source::Counts(counts) => counts.length(local).min(LENGTH_MAX as u32),
            Source::Array(lengths) => {
                let index = lengths.len().checked_sub(1 + local as usize);
                index.and_then(|index| lengths.get(index)).unwrap_or(0).into()
            }
            Source::Fresh(fresh) => fresh.get(local),
            Source::Nothing => 0,
        }
    }
}

impl<'a> Fresh<'a> {
    fn of(lengths: FreshLengths<'a>, field: FieldId) -> Fresh<'a> {
        // No chunk was read yet.
        Fresh { lengths, field, chunk: u32::MAX, array: None }
    }

    #[inline]
    fn get(&mut self, row: u32) -> u32 {
        let chunk = self.lengths.arrays.chunk_of(row);
        if chunk != self.chunk {
            (self.chunk, self.array) = (chunk, self.lengths.arrays.get(chunk, self.field));
        }
        match self.array.map_or(0, |array| array.get(row)) {
            0 => self.of_record(row),
            length => length.into(),
        }
    }

    #[cold]
    fn of_record(&self, row: u32) -> u32 {
        self.lengths.of_row(row, self.field).map_or(0, |found| found.length)
    }
}

impl<'a> Segment<'a> {
    /// Returns the lengths of its documents, saturated at [`LENGTH_MAX`], newest first. The length
    /// of rank `r` is at `r` less the [base rank](crate::memory::flushed::Flushed::base_rank).
    /// Returns `None` while the segment is fresh.
    #[inline]
    pub fn lengths(&self) -> Option<LengthArray<'a>> {
        match self.descriptor.lengths() {
            0 => None,
            word => LengthArray::at(self.memory.region(), word, self.descriptor.rows()),
        }
    }

    /// Like [`lengths`](Self::lengths), but of a field.
    #[inline]
    pub fn lengths_of(&self, field: FieldId) -> Option<LengthArray<'a>> {
        if field == FieldId::TEXT { self.lengths() } else { self.lengths_apart(field) }
    }

    fn lengths_apart(&self, field: FieldId) -> Option<LengthArray<'a>> {
        let rows = self.lengths()?.len() as u32;
        let lengths = self.all_columns().map(|columns| columns.lengths_of(field));
        Some(lengths.unwrap_or(LengthArray::ones(rows)))
    }

    /// Returns the number of kept tokens of a document's field, saturated at [`LENGTH_MAX`]. The
    /// snapshot sees the row.
    #[inline]
    pub fn length_of(&self, field: FieldId, local: u32) -> u32 {
        if field == FieldId::TEXT {
            return self.length(local).min(LENGTH_MAX as u32);
        }
        self.field_lengths(field).get(local)
    }

    /// Returns the lengths of a field, for many documents that the snapshot sees.
    pub fn field_lengths(&self, field: FieldId) -> FieldLengths<'a> {
        // The array first: once the segment is registered, the memory of running counts and of
        // records may be another's.
        FieldLengths(match self.lengths_of(field) {
            Some(lengths) => Source::Array(lengths),
            None if field == FieldId::TEXT => {
                self.running_counts().map_or(Source::Nothing, Source::Counts)
            }
            None => Source::Fresh(Fresh::of(self.fresh_lengths(), field)),
        })
    }

    /// Returns documents and kept tokens of a field in the rows that the snapshot sees. For
    /// segments of [`Snapshot::fresh`] only.
    fn fresh_statistics(&self, field: FieldId) -> Statistics {
        self.fresh_lengths().of_first(self.rows(), field)
    }

    fn fresh_lengths(&self) -> FreshLengths<'a> {
        let (region, geometry) = (self.memory.region(), self.memory.geometry());
        FreshLengths::new(region, geometry, self.descriptor.records(), self.extent())
    }

    /// Returns the number of kept tokens of a document's text. The snapshot sees the row.
    #[inline]
    pub fn length(&self, local: u32) -> u32 {
        let Some(lengths) = self.lengths() else {
            return self.running_counts().map_or(0, |counts| counts.length(local));
        };
        let index = lengths.len().checked_sub(1 + local as usize);
        match index.and_then(|index| lengths.get(index)).unwrap_or(0) {
            LENGTH_MAX => self.long_length(local),
            length => length as u32,
        }
    }

    /// Returns the length of a document whose entry in the array is saturated. It is exact, except
    /// that packed segments with positions count holes and the tokens of all fields too.
    #[cold]
    fn long_length(&self, local: u32) -> u32 {
        let has_vectors = self.memory.geometry().settings.positions;
        if !has_vectors || self.descriptor.packed_words() > 0 {
            return self.row_table().row(local).tokens(LENGTH_MAX);
        }
        let row = self.vector_row(local);
        let kept = self.vectors().ordinals(row.vector(), row.tokens()).flatten().count() as u32;
        kept.saturating_sub(self.kept_apart(local))
    }

    /// Returns the number of terms of a document that are not of its text.
    fn kept_apart(&self, local: u32) -> u32 {
        let of_column = |column: Column<'_>| match column.kind() {
            ValueKind::Text => column.first(rank_of(local)).unwrap_or(0) as u32,
            ValueKind::Keyword | ValueKind::Boolean => column.of(rank_of(local)).count() as u32,
            ValueKind::Integer | ValueKind::Float | ValueKind::Time => 0,
        };
        self.columns().map(of_column).sum()
    }

    /// Returns documents and kept tokens in its first `rows` rows, which the snapshot sees. For a
    /// registered segment it counts all rows, since every snapshot of it sees all.
    pub fn statistics(&self, rows: u32) -> Statistics {
        // A segment that is flushed meanwhile may have more rows than the snapshot sees. Its row
        // count and statistics were stored before its lengths.
        let is_whole = self.descriptor.lengths() != 0 && rows as u64 >= self.descriptor.rows();
        match self.running_counts() {
            Some(counts) if !is_whole => counts.of_first(rows),
            _ => self.descriptor.kept(),
        }
    }

    /// Returns the running counts of its rows, if it is fresh or was so when it was first seen.
    pub fn running_counts(&self) -> Option<RunningCounts<'a>> {
        let (memory, directory) = (self.memory, self.descriptor.counts());
        (directory != 0).then(|| RunningCounts::new(memory.region(), memory.geometry(), directory))
    }
}
