//! How the index under test is made: as small as it opens.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use spirit::lab::Trace;
use spirit::lab::{EngravePolicy, Parts, PointerUpdate, Postings};
use spirit::{Analyzer, Index, Mode, OnFull, OpenError};
use spirit_door::sim::Image;
use spirit_index::ground::PARTS_START;

const SEGMENT_BYTES: u64 = 64 << 10;
/// The least log.
pub(crate) const LOG_BYTES: u64 = 16 << 10;
/// How long documents are kept, if not for as long as there is room.
const KEPT: Duration = Duration::from_secs(86_400);
/// Slots and log of a part.
const FIXED_BYTES: u64 = (16 << 10) + LOG_BYTES;

/// What may differ between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setup {
    pub(crate) executors: usize,
    pub(crate) engrave: EngravePolicy,
    pub(crate) pointer_update: PointerUpdate,
    /// This many segments are merged together.
    pub(crate) merge_after: usize,
    /// Who waits for a reader waits no longer than this.
    pub(crate) reader_lease: Duration,
    /// Whether texts are kept, and looked at.
    pub(crate) store: bool,
    /// How lists are stored in the second tier.
    pub(crate) postings: Postings,
    /// True if they stay so where the merged dictionary has no room: then the oldest documents go.
    pub(crate) keeps_raw: bool,
    /// Threads behind the ingest role.
    pub(crate) stage_threads: usize,
    /// True if the second tier has partitions of other sizes.
    pub(crate) has_parts: bool,
    /// True if documents are kept for a time, which is longer than any run, so that the log says when they arrived.
    pub(crate) retain: bool,
}

impl Setup {
    /// One that depends on `seed`.
    pub(crate) fn of(seed: u64) -> Setup {
        use EngravePolicy::{Eager, Lazy, Opportunistic};
        let engrave = [Eager, Eager, Lazy, Opportunistic][(seed / 2 % 4) as usize];
        let pointer_update = [PointerUpdate::Eager, PointerUpdate::Lazy][(seed / 8 % 2) as usize];
        let reader_lease = Duration::from_millis(20);
        let (executors, store) = (1 + (seed % 2) as usize, seed / 3 % 2 == 1);
        let merge_after = [1, 2, 3, 1][(seed / 5 % 4) as usize];
        let postings = [Postings::Raw, Postings::Packed][(seed / 7 % 2) as usize];
        let (keeps_raw, retain) = (!(seed / 13).is_multiple_of(4), seed / 11 % 2 == 1);
        let (stage_threads, has_parts) = (1 + (seed / 17 % 2) as usize, seed / 4 % 3 == 1);
        Setup {
            executors,
            engrave,
            pointer_update,
            merge_after,
            reader_lease,
            store,
            postings,
            keeps_raw,
            stage_threads,
            has_parts,
            retain,
        }
    }

    /// The least part: slots, log, and room for five segments, or seven with texts; or for the partitions asked for.
    fn nvm_bytes(self) -> u64 {
        let segments = if self.store { 7 } else { 5 };
        let parts = self.nvm_parts();
        let partitions = parts.short + parts.long + parts.dictionary;
        FIXED_BYTES + (segments * SEGMENT_BYTES).max(partitions)
    }

    /// The partitions of a part, in bytes.
    fn nvm_parts(self) -> Parts {
        let [short, long, dictionary] = if self.has_parts { [2, 6, 1] } else { [0; 3] };
        Parts {
            short: short * SEGMENT_BYTES,
            long: long * SEGMENT_BYTES,
            dictionary: dictionary * SEGMENT_BYTES,
        }
    }

    /// The least heap for segments of this size.
    fn dram_bytes(self) -> u64 {
        let segments = if self.store { 23 } else { 20 };
        segments * SEGMENT_BYTES
    }

    /// Opens the index in `directory`, or makes it.
    pub(crate) fn open(
        self,
        directory: &Path,
        trace: Option<&Arc<Trace>>,
    ) -> Result<Index, OpenError> {
        let executors = self.executors as u64;
        let options = Index::builder()
            .directory(directory)
            .mode(Mode::Crash)
            .executors(self.executors)
            .dram_bytes(executors * self.dram_bytes())
            .segment_bytes(SEGMENT_BYTES)
            .nvm_bytes(executors * self.nvm_bytes())
            .store(self.store)
            .postings(self.postings)
            .keeps_raw(self.keeps_raw)
            .log_bytes(LOG_BYTES)
            .document_bytes_max(6 << 10)
            .engrave(self.engrave)
            .pointer_update(self.pointer_update)
            .merge_after(self.merge_after)
            .stage_threads(self.stage_threads)
            .nvm_parts(self.nvm_parts().map(|bytes| bytes * executors))
            .analyzer(Analyzer::Simple)
            .on_full(OnFull::DropOldest)
            .readers_max(4)
            .source(|place| String::from_utf8(place.to_vec()).map_err(std::io::Error::other))
            .reader_lease(self.reader_lease);
        let options = if self.retain { options.retain(KEPT) } else { options };
        match trace {
            Some(trace) => options.trace(trace.clone()).open(),
            None => options.open(),
        }
    }

    /// The bytes of each space of a trace: root and list of fields, then the executors' parts, one behind the other in the file.
    pub(crate) fn spaces(self) -> Vec<u64> {
        let mut spaces = vec![self.nvm_bytes(); self.executors + 1];
        spaces[0] = PARTS_START;
        spaces
    }

    /// A file of zeros.
    pub(crate) fn empty(self) -> Image {
        Image::new(self.spaces().into_iter().map(|bytes| vec![0; bytes as usize / 8]).collect())
    }
}
