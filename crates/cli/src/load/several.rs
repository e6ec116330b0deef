//! Several files that are read, unpacked and parsed at once, each by a thread, a few pieces ahead of what
//! goes in.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::open_source::OpenSource;
use super::piece::{Ended, Piece};
use crate::chunk::Chunk;
use crate::failure::Failure;

/// Pieces of a file that wait to go in.
const PIECES: usize = 2;
/// Files that were read, or begun, before the one that goes in.
const FILES: usize = 2;

/// The files, in their order.
pub(super) struct Several(Receiver<Pieces>);

/// The pieces of a file.
pub(super) struct Pieces(Receiver<Piece>);

impl Several {
    /// Reads files on as many threads as there are cores, to their ends, or until nobody takes their
    /// pieces any more.
    pub(super) fn read<O>(
        sources: impl Iterator<Item = O> + Send + 'static,
    ) -> Result<Several, Failure>
    where
        O: FnOnce() -> Result<OpenSource, Failure>,
    {
        let (begun, files) = sync_channel(FILES);
        // Who holds the lock begins the next file. So files are in their order in the channel.
        let turn = Arc::new(Mutex::new((sources, begun)));
        let threads = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..threads {
            let turn = turn.clone();
            let named = thread::Builder::new().name("spirit-read".to_owned());
            let started = named.spawn(move || {
                while let Some((open, pieces)) = next_file(&turn) {
                    read_file(open, &pieces);
                }
            });
            started
                .map_err(|error| Failure::work(format_args!("no thread to read with: {error}")))?;
        }
        Ok(Several(files))
    }

    /// The next file. There is one for each that was given.
    pub(super) fn next_source(&mut self) -> Result<Pieces, Failure> {
        self.0.recv().map_err(|_| ended_early())
    }
}

impl Pieces {
    /// The next piece. There is one until the [last](Piece::is_last).
    pub(super) fn next(&self) -> Result<Piece, Failure> {
        self.0.recv().map_err(|_| ended_early())
    }
}

fn ended_early() -> Failure {
    Failure::work("a thread that reads ended too early")
}

/// Takes the next file. Waits while enough others are begun.
fn next_file<O>(
    turn: &Mutex<(impl Iterator<Item = O>, SyncSender<Pieces>)>,
) -> Option<(O, SyncSender<Piece>)> {
    let mut turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let (sources, begun) = &mut *turn;
    let open = sources.next()?;
    let (read, pieces) = sync_channel(PIECES);
    begun.send(Pieces(pieces)).ok()?;
    Some((open, read))
}

fn read_file(open: impl FnOnce() -> Result<OpenSource, Failure>, pieces: &SyncSender<Piece>) {
    let mut source = match open() {
        Ok(source) => source,
        Err(failure) => {
            let piece = Piece { ended: Ended::Failed(failure), ..Piece::new(Chunk::default()) };
            // Nobody waits for it if the command ends.
            let _ = pieces.send(piece);
            return;
        }
    };
    loop {
        let piece = source.piece(Chunk::default());
        let is_last = piece.is_last();
        if pieces.send(piece).is_err() || is_last {
            return;
        }
    }
}
