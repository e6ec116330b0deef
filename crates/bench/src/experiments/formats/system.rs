//! The same documents in each form of lists and on each medium.

use spirit::Index;
use spirit::lab::{PointerUpdate, Postings};
use spirit::stats::Stats;

use crate::Fallible;
use crate::corpus::Corpus;
use crate::engine;
use crate::scratch::Scratch;

/// Where lists are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Medium {
    /// A file in memory.
    Memory,
    /// A mapped file on the disk.
    Disk,
    /// Not in the second tier at all.
    Heap,
}

/// A way to keep lists, and its name in the paper.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) paper: &'static str,
    pub(super) postings: Postings,
    pub(super) medium: Medium,
}

/// All else is compared with the first, which is the state of the art in the paper.
pub(super) const KINDS: [Kind; 5] = [
    kind("packed DRAM", "LPF-DRAM", Postings::Packed, Medium::Memory),
    kind("packed NVM", "LPF-NVM", Postings::Packed, Medium::Disk),
    kind("raw DRAM", "DPF-DRAM", Postings::Raw, Medium::Memory),
    kind("raw NVM", "DPF-HYB", Postings::Raw, Medium::Disk),
    kind("raw heap", "-", Postings::Raw, Medium::Heap),
];

const fn kind(name: &'static str, paper: &'static str, postings: Postings, medium: Medium) -> Kind {
    Kind { name, paper, postings, medium }
}

/// Sections of a segment that hold lists and positions, in either form.
const LISTS: [&str; 3] = ["posting arrays", "document vectors", "packed lists"];

/// An index kept in one way.
pub(super) struct System {
    pub(super) kind: &'static Kind,
    pub(super) index: Index,
    pub(super) documents: usize,
    /// Behind the index: it outlives it.
    _scratch: Option<Scratch>,
}

impl System {
    /// An index of every kind.
    pub(super) fn all(corpus: &Corpus) -> Fallible<Vec<System>> {
        KINDS.iter().map(|kind| System::filled(kind, corpus)).collect()
    }

    fn filled(kind: &'static Kind, corpus: &Corpus) -> Fallible<System> {
        let scratch = match kind.medium {
            Medium::Memory => Some(Scratch::new()?),
            Medium::Disk => Some(Scratch::on_disk()?),
            Medium::Heap => None,
        };
        // Several indexes stand side by side, so none takes memory that it does not need.
        let mut options = engine::options(corpus).prefault(false);
        if let Some(scratch) = &scratch {
            options = options
                .directory(scratch.path())
                .nvm_bytes(engine::heap_bytes(corpus))
                .postings(kind.postings)
                .pointer_update(PointerUpdate::Eager);
        }
        let index = engine::filled(options, corpus)?;
        index.flush()?;
        if scratch.is_some() {
            engine::wait_until_merged(&index)?;
        }
        Ok(System { kind, index, documents: corpus.len(), _scratch: scratch })
    }

    /// Bytes of lists and positions, and of everything.
    pub(super) fn bytes(&self) -> Fallible<[u64; 2]> {
        let Stats { bytes, sections, .. } = self.index.stats()?;
        if self.kind.medium == Medium::Heap {
            return Ok([bytes.postings + bytes.vectors, bytes.index()]);
        }
        let lists = sections.iter().filter(|(name, _)| LISTS.contains(name));
        let sum = |sections: &mut dyn Iterator<Item = &(&str, u64)>| sections.map(|(_, n)| n).sum();
        Ok([sum(&mut lists.into_iter()), sum(&mut sections.iter())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_lists_are_packed_and_smaller() {
        let corpus = Corpus::generate(3, Some(3000));
        let systems = System::all(&corpus).unwrap();
        let lists: Vec<u64> = systems.iter().map(|system| system.bytes().unwrap()[0]).collect();
        let [packed, packed_too, raw, raw_too, heap] = lists[..] else { panic!("five kinds") };
        assert_eq!((packed, raw), (packed_too, raw_too));
        assert!(packed * 2 < raw && packed * 2 < heap, "{lists:?}");
    }
}
