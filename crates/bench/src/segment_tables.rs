//! A table of terms for each segment: per-segment probing, as in engines whose segments know nothing of each other.
//!
//! It has what our dictionary is made of, the same [line table](LineTable) and a record a term; but one for each segment, so a
//! term is looked up once a segment. A record says what an entry of the dictionary says, and queries go on from there as
//! they always do, over the same posting arrays. So finding a term is all that differs. It is made as cheap as we could: a
//! term that a segment lacks costs one cache line, one that it has two; the lines of the next segments are asked for ahead;
//! the tables lie in DRAM on huge pages; nothing is checked against damage.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::form::{FindOlder, OlderAt};
use spirit_index::ground::LineTable;
use spirit_index::ground::{FieldId, TERM_BYTES_MAX, Term, TermKey};
use spirit_index::ground::{Position, SegmentId};
use spirit_index::memory::Memory;
use spirit_index::memory::Window;
use spirit_index::snapshot::{OrderedTerm, Snapshot};
use spirit_index::terms::Entry;
use spirit_mem::{Line, Region, Residency, Span};

use crate::Fallible;

/// Terms for each line of a table, which has room for seven. With four, one term in millions found no place.
const TERMS_PER_LINE: u64 = 3;
/// A term's record: key, segment and postings, payload.
const RECORD_WORDS: u64 = 4;
const RECORD_BYTES: u64 = RECORD_WORDS * size_of::<AtomicU64>() as u64;
/// Segments ahead whose line is asked for.
const AHEAD: Position = 8;

/// The tables of all segments of an executor.
pub(crate) struct SegmentTables {
    region: Region,
    /// The first segment's position.
    oldest: Position,
    tables: Vec<LineTable>,
    records_start: u64,
}

impl SegmentTables {
    /// Those of an executor whose segments are all merged, and stay.
    pub(crate) fn of(memory: &Memory) -> Fallible<SegmentTables> {
        let window = memory.window();
        if memory.coverage().terms_from() < window.end {
            return Err("the DRAM dictionary covers segments, which nobody would probe".into());
        }
        let lists = (window.oldest..window.end)
            .map(|position| lists(memory, position))
            .collect::<Fallible<Vec<_>>>()?;
        let lines = |lists: &Vec<_>| (lists.len() as u64).div_ceil(TERMS_PER_LINE).max(1);
        let records_start = lists.iter().map(lines).sum::<u64>() * size_of::<Line>() as u64;
        let records: u64 = lists.iter().map(|lists| lists.len() as u64).sum();
        let bytes = records_start + records * RECORD_BYTES;
        let region = Region::reserve(bytes, Residency::Prefault)?;
        let mut made =
            SegmentTables { region, oldest: window.oldest, tables: Vec::new(), records_start };
        let (mut line, mut record) = (0, 0);
        for lists in &lists {
            let table = LineTable::new(Span::new(line * size_of::<Line>() as u64, lines(lists)));
            for (key, entry) in lists {
                made.write(record, *key, *entry);
                let full = |_| "a segment's table has no room for a term";
                table.insert(&made.region, key.hash(), record).map_err(full)?;
                record += 1;
            }
            line += lines(lists);
            made.tables.push(table);
        }
        Ok(made)
    }

    fn record(&self, record: u64) -> &[AtomicU64] {
        let at = self.records_start + record * RECORD_BYTES;
        self.region.view(Span::new(at, RECORD_WORDS))
    }

    fn write(&self, record: u64, key: TermKey, entry: Entry) {
        let segment = entry.segment.0 as u64 | (entry.postings as u64) << 32;
        let words = [key.low, key.high, segment, entry.payload as u64];
        self.record(record).iter().zip(words).for_each(|(word, value)| word.store(value, Relaxed));
    }

    /// Whether a record is the term's. The key of a long term has a hash of its bytes, and is taken for them.
    fn is_of(&self, record: u64, key: TermKey) -> bool {
        let words = self.record(record);
        key.is(TermKey { low: words[0].load(Relaxed), high: words[1].load(Relaxed) })
    }

    fn entry(&self, record: u64) -> Entry {
        let words = self.record(record);
        let (segment, payload) = (words[2].load(Relaxed), words[3].load(Relaxed) as u32);
        let postings = (segment >> 32) as u32;
        Entry { segment: SegmentId(segment as u32), postings, payload, ..Entry::NONE }
    }

    fn table(&self, position: Position) -> Option<&LineTable> {
        self.tables.get(position.checked_sub(self.oldest)? as usize)
    }
}

impl FindOlder for &SegmentTables {
    fn find(&self, _: Term<'_>, _: u64) -> OlderAt {
        OlderAt::default()
    }

    fn visit(
        &self,
        _: &mut OlderAt,
        term: Term<'_>,
        hash: u64,
        part: Window,
        mut take: impl FnMut(Entry),
    ) {
        for position in (part.oldest..part.end).rev() {
            if let Some(table) = position.checked_sub(AHEAD).and_then(|ahead| self.table(ahead)) {
                table.prefetch(&self.region, hash);
            }
            let Some(table) = self.table(position) else { continue };
            if let Some(record) = table.find(&self.region, hash, |r| self.is_of(r, term.key)) {
                take(self.entry(record));
            }
        }
    }
}

/// The terms of a segment with their lists in it.
fn lists(memory: &Memory, position: Position) -> Fallible<Vec<(TermKey, Entry)>> {
    let segment = Snapshot::of_role(memory, u64::MAX).segment(position);
    let mut terms = segment.ok_or("a segment is gone")?.terms_from(FieldId::TEXT, b"");
    let (mut lists, mut bytes) = (Vec::new(), [0; TERM_BYTES_MAX]);
    while let Some(OrderedTerm { field, len, entry, .. }) = terms.next_term(&mut bytes) {
        let term = Term::new(field, &bytes[..len]).ok_or("a term has no bytes")?;
        lists.push((term.key, entry));
    }
    Ok(lists)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirit::lab::DictionaryTier;
    use spirit::{Analyzer, Index, Query};

    use crate::scratch::Scratch;

    /// Segment `i` has documents with `all`, with `i` and with a term too long for its key.
    #[test]
    fn probing_counts_what_the_index_counts() {
        let scratch = Scratch::new().unwrap();
        let options = Index::builder().analyzer(Analyzer::Simple).dram_bytes(64 << 20);
        let options = options.segment_bytes(1 << 20).directory(scratch.path());
        let options = options.nvm_bytes(64 << 20).dictionary(DictionaryTier::Nvm);
        let index = options.open().unwrap();
        for segment in 0..20 {
            let text = format!("all s{segment} averyveryverylongterm{segment}");
            index.add_all(vec![(None, text.as_str()); segment + 1]).unwrap();
            index.flush().unwrap();
        }
        let tables = SegmentTables::of(index.memories().next().unwrap()).unwrap();
        let mut reader = index.reader().unwrap();
        let long = "averyveryverylongterm4";
        for (words, wanted) in [
            (&["all"][..], 210),
            (&["s7"], 8),
            (&[long], 5),
            (&["all", "s7"], 8),
            (&["s7", "s8"], 0),
            (&["none"], 0),
        ] {
            let query = Query::all_of(words).unwrap();
            assert_eq!(reader.count(&query).unwrap(), wanted, "{words:?}");
            assert_eq!(reader.count_finding(&query, &tables), wanted, "{words:?}");
        }
    }
}
