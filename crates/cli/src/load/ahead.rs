//! A source that is read, unpacked and parsed by a thread of its own, a few pieces ahead of what goes
//! in.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::open_source::OpenSource;
use super::piece::Piece;
use crate::chunk::Chunk;
use crate::failure::Failure;

/// Pieces that wait to go in: enough to read on while several executors work at one.
const PIECES: usize = 2;
/// Documents of the first piece, so that work begins at once. Each next one has twice as many, until
/// there are as many as are wanted.
const FIRST_DOCUMENTS: usize = 2048;

pub(super) struct Ahead {
    pieces: Receiver<Piece>,
    /// Chunks to be filled again.
    used: SyncSender<Chunk>,
}

impl Ahead {
    /// Reads `source` to its end, or until nobody takes its pieces any more. Nobody waits for the
    /// thread, which may wait for a pipe.
    pub(super) fn of(mut source: OpenSource) -> Result<Ahead, Failure> {
        let (read, pieces) = sync_channel(PIECES);
        let (used, free) = sync_channel(PIECES + 2);
        let run = move || {
            let most = source.documents_max();
            let mut documents = FIRST_DOCUMENTS;
            loop {
                source.take_at_most(documents.min(most));
                documents = documents.saturating_mul(2);
                let piece = source.piece(free.try_recv().unwrap_or_default());
                let is_last = piece.is_last();
                if read.send(piece).is_err() || is_last {
                    return;
                }
            }
        };
        let named = thread::Builder::new().name("spirit-read".to_owned());
        let started = named.spawn(run);
        started.map_err(|error| Failure::work(format_args!("no thread to read with: {error}")))?;
        Ok(Ahead { pieces, used })
    }

    /// Gives a chunk back, which is empty.
    pub(super) fn give_back(&self, chunk: Chunk) {
        // Nobody fills it if the source has ended.
        let _ = self.used.try_send(chunk);
    }

    /// The next piece. There is one until the [last](Piece::is_last).
    pub(super) fn piece(&self) -> Result<Piece, Failure> {
        self.pieces.recv().map_err(|_| Failure::work("the thread that reads ended too early"))
    }
}
