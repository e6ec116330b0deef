//! Tasks of the flush stage.

use std::sync::mpsc::SyncSender;

use spirit_index::engrave::SegmentEnd;
use spirit_index::flush::Flush;

/// A task of the flush stage.
#[expect(clippy::large_enum_variant, reason = "the thread that adds would allocate a box")]
pub(crate) enum Task {
    /// Flush this segment, and engrave it if there is a second tier.
    Flush(Flush, SegmentEnd),
    /// Engrave all flushed segments, under any policy: the log is full, or the index closes.
    EngraveAll,
    /// Merge all engraved segments, however few: the index closes.
    MergeAll,
    /// Make room: the ingest role read this progress, and then found too little.
    MakeRoom(u64),
    /// Answer on the channel when all earlier tasks are done.
    Report(SyncSender<()>),
    /// End the thread.
    Stop,
}
