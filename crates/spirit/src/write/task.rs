//! What the ingest role asks of the flush stage.

use std::sync::mpsc::SyncSender;

use spirit_index::engrave::Sealed;
use spirit_index::flush::Flush;

/// What the stage is asked to do.
#[expect(clippy::large_enum_variant, reason = "the thread that adds would allocate a box")]
pub(crate) enum Task {
    /// Flush this segment, and engrave it if there is a second tier.
    Flush(Flush, Sealed),
    /// Engrave all that is flushed, whatever the policy: the log is full, or the index closes.
    EngraveAll,
    /// Merge all that is engraved, however little has come together: the index closes.
    MergeAll,
    /// The ingest role found the long-term partition full.
    MakeRoom,
    /// Say so on the channel when everything before is done.
    Report(SyncSender<()>),
    /// End.
    Stop,
}
