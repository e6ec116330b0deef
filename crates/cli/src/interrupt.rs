//! Ctrl-C, and what else asks a process to end: what is under way comes to an orderly end first. Asked twice it ends at once.
//! A terminal that goes away asks too, unless the process was started not to mind it, as by `nohup`.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// What a shell adds to a signal's number to make an exit code of it.
const EXIT_BASE: i32 = 128;
/// Time between two looks for a signal while waiting for input.
const PATIENCE: Duration = Duration::from_millis(50);
/// Input that comes within this time counts as there, so that a fast writer is read in large pieces.
const AT_ONCE: Duration = Duration::from_millis(1);
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
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if signal == SIGHUP && is_ignored(signal) {
                continue;
            }
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

    /// Runs `work`. Meanwhile calls `look` every 50 ms until the process is asked to end, and then `stop` once.
    pub(crate) fn during<T>(
        &self,
        mut look: impl FnMut() + Send,
        stop: impl FnOnce() + Send,
        work: impl FnOnce() -> T,
    ) -> T {
        let (working, over) = sync_channel::<()>(0);
        thread::scope(|scope| {
            scope.spawn(move || {
                // Ends at once when the work is done: the sender is dropped.
                while let Err(RecvTimeoutError::Timeout) = over.recv_timeout(PATIENCE) {
                    if self.is_asked() {
                        return stop();
                    }
                    look();
                }
            });
            let done = work();
            drop(working);
            done
        })
    }

    /// What `open` opens, read by another thread: it ends when the process is asked to end, though nothing may come from it any
    /// more. Where nothing comes it says so at once, and then every 50 ms, by an error of kind
    /// [`WouldBlock`](io::ErrorKind::WouldBlock).
    pub(crate) fn end<R: Read>(
        &self,
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
    ) -> Ending {
        let (give, pieces) = sync_channel(PIECES);
        thread::spawn(move || {
            let mut input = match open() {
                Ok(input) => input,
                // Nobody may want it any more.
                Err(error) => return drop(give.send(Err(error))),
            };
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
        let interrupt = self.clone();
        Ending { interrupt, pieces, piece: Vec::new(), at: 0, has_paused: true }
    }
}

/// True if the process was started with `signal` ignored (`SigIgn` in `/proc/self/status`).
fn is_ignored(signal: i32) -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return false };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Input that ends when the process is asked to end.
pub(crate) struct Ending {
    interrupt: Interrupt,
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    /// So much of the piece was taken.
    at: usize,
    /// It was said that nothing is there, since something was.
    has_paused: bool,
}

impl Ending {
    /// The next piece; an empty one is the end.
    fn next_piece(&mut self) -> io::Result<Vec<u8>> {
        match self.pieces.try_recv() {
            Ok(piece) => return piece,
            Err(TryRecvError::Disconnected) => return Ok(Vec::new()),
            Err(TryRecvError::Empty) => {}
        }
        let patience = if self.has_paused { PATIENCE } else { AT_ONCE };
        match self.pieces.recv_timeout(patience) {
            Ok(piece) => piece,
            Err(RecvTimeoutError::Timeout) if self.interrupt.is_asked() => Ok(Vec::new()),
            Err(RecvTimeoutError::Timeout) => {
                self.has_paused = true;
                Err(io::ErrorKind::WouldBlock.into())
            }
            Err(RecvTimeoutError::Disconnected) => Ok(Vec::new()),
        }
    }
}

impl Read for Ending {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            (self.piece, self.at) = (self.next_piece()?, 0);
            self.has_paused &= self.piece.is_empty();
        }
        let taken = (&self.piece[self.at..]).read(to)?;
        self.at += taken;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Write, pipe};

    use super::*;

    #[test]
    fn input_comes_whole_and_in_order() {
        let bytes: Vec<u8> = (0..1_000_000u32).map(|n| (n % 251) as u8).collect();
        let mut read = Vec::new();
        let input = io::Cursor::new(bytes.clone());
        let mut ending = Interrupt::default().end(|| Ok(input));
        while let Err(error) = ending.read_to_end(&mut read) {
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        }
        assert!(read == bytes);
    }

    #[test]
    fn input_that_does_not_come_is_not_waited_for() {
        let (input, _open) = pipe().unwrap();
        let interrupt = Interrupt::default();
        let mut ending = interrupt.end(|| Ok(input));
        interrupt.asked.store(true, Relaxed);
        assert_eq!(ending.read(&mut [0; 8]).unwrap(), 0);
    }

    #[test]
    fn input_that_waits_says_so_and_is_read_when_it_comes() {
        let (input, mut writer) = pipe().unwrap();
        let mut ending = Interrupt::default().end(|| Ok(input));
        let mut bytes = [0; 8];
        for text in ["red", "blue"] {
            writer.write_all(text.as_bytes()).unwrap();
            assert_eq!(ending.read(&mut bytes).unwrap(), text.len());
            let error = ending.read(&mut bytes).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        }
        drop(writer);
        assert_eq!(ending.read(&mut bytes).unwrap(), 0);
    }

    #[test]
    fn an_error_of_the_opening_is_one_of_the_reading() {
        let open = || std::fs::File::open("no/such.pipe");
        let error = Interrupt::default().end(open).read(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
