//! A source that is read, unpacked and parsed by a thread of its own, a few pieces ahead of what goes
//! in.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use super::open_source::OpenSource;
use super::piece::Piece;
use crate::chunk::Chunk;
use crate::failure::Failure;

/// Pieces that wait to go in: enough to read on while several executors work at one.
const PIECES: usize = 4;

pub(super) struct Ahead(Receiver<Piece>);

impl Ahead {
    /// Reads `source` to its end, or until nobody takes its pieces any more. Nobody waits for the
    /// thread, which may wait for a pipe.
    pub(super) fn of(mut source: OpenSource) -> Result<Ahead, Failure> {
        let (pieces, taken) = sync_channel(PIECES);
        let read = move || {
            loop {
                let piece = source.piece(Chunk::default());
                let is_last = piece.is_last();
                if pieces.send(piece).is_err() || is_last {
                    return;
                }
            }
        };
        let named = thread::Builder::new().name("spirit-read".to_owned());
        let started = named.spawn(read);
        started.map_err(|error| Failure::work(format_args!("no thread to read with: {error}")))?;
        Ok(Ahead(taken))
    }

    /// The next piece. There is one until the [last](Piece::is_last).
    pub(super) fn piece(&self) -> Result<Piece, Failure> {
        self.0.recv().map_err(|_| Failure::work("the thread that reads ended too early"))
    }
}
