//! Ctrl-C, and what else asks a process to end: what is under way comes to an orderly end first. Asked twice it ends at once.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// What a shell adds to a signal's number to make an exit code of it.
const EXIT_BASE: i32 = 128;
/// How long whoever waits for input does not look whether he was asked to end.
const PATIENCE: Duration = Duration::from_millis(50);
/// Pieces of input read ahead.
const PIECES: usize = 2;
const PIECE_BYTES: usize = 256 << 10;

/// Whether the process was asked to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt {
    asked: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// From now on signals ask, where they had ended the process.
    pub(crate) fn caught() -> Result<Interrupt, Failure> {
        let interrupt = Interrupt::default();
        for signal in [SIGINT, SIGTERM] {
            interrupt.catch(signal).map_err(|error| {
                Failure::work(format_args!("signal {signal} cannot be caught: {error}"))
            })?;
        }
        Ok(interrupt)
    }

    /// In this order: the second one finds that it was asked before; who sees that it was asked sees by what.
    fn catch(&self, signal: i32) -> io::Result<()> {
        flag::register_conditional_shutdown(signal, EXIT_BASE + signal, self.asked.clone())?;
        flag::register_usize(signal, self.signal.clone(), signal as usize)?;
        flag::register(signal, self.asked.clone())?;
        Ok(())
    }

    /// Whether it was asked.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Acquire)
    }

    /// An error if it was.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if !self.is_asked() {
            return Ok(());
        }
        Err(Failure::Interrupted(EXIT_BASE as u8 + self.signal.load(Relaxed) as u8))
    }

    /// The same input, which ends when the process is asked to end, though nothing may come from it any more: another thread
    /// waits for that.
    pub(crate) fn end(&self, mut input: impl Read + Send + 'static) -> Ending {
        let (give, pieces) = sync_channel(PIECES);
        thread::spawn(move || {
            loop {
                let mut piece = vec![0; PIECE_BYTES];
                let read = input.read(&mut piece).map(|bytes| piece.truncate(bytes));
                let is_over = read.is_err() || piece.is_empty();
                // Nobody wants it any more: he has seen enough.
                if give.send(read.map(|()| piece)).is_err() || is_over {
                    return;
                }
            }
        });
        Ending { interrupt: self.clone(), pieces, piece: Vec::new(), at: 0 }
    }
}

/// Input that ends when the process is asked to end.
pub(crate) struct Ending {
    interrupt: Interrupt,
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    /// So much of the piece was taken.
    at: usize,
}

impl Read for Ending {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() {
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => (self.piece, self.at) = (piece?, 0),
                Err(RecvTimeoutError::Timeout) if !self.interrupt.is_asked() => continue,
                Err(_) => return Ok(0),
            }
            if self.piece.is_empty() {
                return Ok(0);
            }
        }
        let taken = (&self.piece[self.at..]).read(to)?;
        self.at += taken;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::io::pipe;

    use super::*;

    #[test]
    fn input_comes_whole_and_in_order() {
        let bytes: Vec<u8> = (0..1_000_000u32).map(|n| (n % 251) as u8).collect();
        let mut read = Vec::new();
        let input = io::Cursor::new(bytes.clone());
        Interrupt::default().end(input).read_to_end(&mut read).unwrap();
        assert!(read == bytes);
    }

    #[test]
    fn input_that_does_not_come_is_not_waited_for() {
        let (input, _open) = pipe().unwrap();
        let interrupt = Interrupt::default();
        let mut ending = interrupt.end(input);
        interrupt.asked.store(true, Relaxed);
        assert_eq!(ending.read(&mut [0; 8]).unwrap(), 0);
    }
}
