//! What counts the pairs: lists of a codec, or our index.

use spirit::lab::{PointerUpdate, Postings};
use spirit::{Builder, Index, Query, Reader};

use super::lists::Lists;
use crate::Fallible;
use crate::codecs::List;
use crate::corpus::Corpus;
use crate::engine;
use crate::scratch::Scratch;
use crate::workloads::Workload;

/// One way to keep the lists of a class.
pub(super) trait Contender {
    fn name(&self) -> &'static str;

    /// Returns the bytes of a posting.
    fn bytes(&self) -> f64;

    /// Counts what the lists of a pair have in common.
    fn count(&mut self, pair: usize) -> usize;
}

/// Lists of one codec.
pub(super) struct Packed<L> {
    lists: Vec<L>,
    pairs: Vec<(usize, usize)>,
    bytes: f64,
}

impl<L: List> Packed<L> {
    pub(super) fn of(lists: &Lists) -> Packed<L> {
        let packed: Vec<L> = lists.all.iter().map(|list| L::of(list, lists.end)).collect();
        let bytes: usize = packed.iter().map(L::bytes).sum();
        let postings: usize = lists.all.iter().map(Vec::len).sum();
        let bytes = bytes as f64 / postings.max(1) as f64;
        Packed { lists: packed, pairs: lists.pairs.clone(), bytes }
    }
}

impl<L: List> Contender for Packed<L> {
    fn name(&self) -> &'static str {
        L::NAME
    }

    fn bytes(&self) -> f64 {
        self.bytes
    }

    fn count(&mut self, pair: usize) -> usize {
        let (one, other) = self.pairs[pair];
        self.lists[one].and_count(&self.lists[other])
    }
}

/// An index, and the bytes of a posting in its lists.
struct Kept {
    name: &'static str,
    index: Index,
    bytes: f64,
    /// Behind the index: it outlives it.
    _scratch: Option<Scratch>,
}

/// Our index with raw lists, and with packed ones.
pub(super) struct Indexes([Kept; 2]);

/// A class's queries, and who answers them.
struct Asking<'a> {
    kept: &'a Kept,
    reader: Reader,
    queries: &'a [Query],
}

impl Indexes {
    pub(super) fn of(corpus: &Corpus) -> Fallible<Indexes> {
        let raw = filled(options(corpus), corpus)?;
        let stats = raw.stats()?;
        let bytes = stats.bytes.postings as f64 / stats.postings.max(1) as f64;
        let raw = Kept { name: "index, raw", index: raw, bytes, _scratch: None };
        let scratch = Scratch::new()?;
        let options = options(corpus)
            .directory(scratch.path())
            .nvm_bytes(heap_bytes(corpus))
            .postings(Postings::Packed)
            .pointer_update(PointerUpdate::Eager);
        let packed = filled(options, corpus)?;
        engine::wait_until_merged(&packed)?;
        let stats = packed.stats()?;
        let lists = stats.sections.iter().filter(|(name, _)| *name == "packed lists");
        let bytes: u64 = lists.map(|(_, bytes)| bytes).sum();
        let bytes = bytes as f64 / stats.postings.max(1) as f64;
        let name = "index, packed";
        Ok(Indexes([raw, Kept { name, index: packed, bytes, _scratch: Some(scratch) }]))
    }

    /// Both, to be asked the first `pairs` queries of a class.
    pub(super) fn asking<'a>(
        &'a self,
        workload: &'a Workload,
        pairs: usize,
    ) -> Fallible<Vec<Box<dyn Contender + 'a>>> {
        let asking = |kept: &'a Kept| -> Fallible<Box<dyn Contender + 'a>> {
            let queries = &workload.queries[..pairs];
            Ok(Box::new(Asking { kept, reader: kept.index.reader()?, queries }))
        };
        self.0.iter().map(asking).collect()
    }
}

/// An index of one segment without positions.
fn options(corpus: &Corpus) -> Builder {
    engine::options(corpus)
        .positions(false)
        .prefault(false)
        .segment_bytes(engine::segment_bytes(corpus, 1))
        .dram_bytes(heap_bytes(corpus))
}

/// Room for all of it in either tier.
fn heap_bytes(corpus: &Corpus) -> u64 {
    let segment_bytes = engine::segment_bytes(corpus, 1);
    engine::heap_bytes(corpus) + segment_bytes * engine::HEAP_SEGMENTS_MIN
}

fn filled(options: Builder, corpus: &Corpus) -> Fallible<Index> {
    let index = engine::filled(options, corpus)?;
    index.flush()?;
    Ok(index)
}

impl Contender for Asking<'_> {
    fn name(&self) -> &'static str {
        self.kept.name
    }

    fn bytes(&self) -> f64 {
        self.kept.bytes
    }

    fn count(&mut self, pair: usize) -> usize {
        engine::count(&mut self.reader, &self.queries[pair])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::raw::Raw;
    use crate::workloads;

    #[test]
    fn lists_and_indexes_count_the_same() {
        let corpus = Corpus::generate(3, Some(2000));
        let workloads = workloads::draw(&corpus, 42).unwrap();
        let indexes = Indexes::of(&corpus).unwrap();
        let lists = Lists::of(&corpus, &workloads[5]);
        let mut asking = indexes.asking(&workloads[5], lists.pairs.len()).unwrap();
        asking.push(Box::new(Packed::<Raw>::of(&lists)));
        for pair in (0..lists.pairs.len()).step_by(10) {
            let counts: Vec<usize> = asking.iter_mut().map(|one| one.count(pair)).collect();
            assert_eq!(counts, [lists.count(pair); 3]);
        }
        let bytes: Vec<f64> = asking.iter().map(|one| one.bytes()).collect();
        assert!(bytes[1] < bytes[0] && bytes[2] == 4.0, "{bytes:?}");
    }
}
