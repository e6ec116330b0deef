//! A file that is read as it grows, until it is another one.
//!
//! At its end it says that nothing is there yet, unless the file was left: it got shorter or has other
//! bytes before the place (it was emptied), or its path leads to another file or to none (it was renamed
//! or removed), and nothing came for a while. Who writes a log may go on for a moment after it was renamed.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::jump::Jump;
use crate::interrupt::Interrupt;

/// Silence after which a file that was renamed or removed is left. Fluent Bit waits as long.
const LEAVING: Duration = Duration::from_secs(5);
/// Bytes before the place that are compared with what was read.
const COMPARED: usize = 1024;

pub(crate) struct Followed {
    file: File,
    path: PathBuf,
    interrupt: Interrupt,
    /// Bytes that were read.
    bytes: u64,
    /// The last of them.
    tail: Vec<u8>,
    /// The last read found nothing.
    is_at_end: bool,
    /// When something came.
    last: Instant,
    is_over: bool,
}

impl Followed {
    /// `path` is where the file was opened.
    pub(crate) fn new(file: File, path: &Path, interrupt: &Interrupt) -> Followed {
        Followed {
            file,
            path: path.into(),
            interrupt: interrupt.clone(),
            bytes: 0,
            tail: Vec::new(),
            is_at_end: false,
            last: Instant::now(),
            is_over: false,
        }
    }

    /// The same from the place on that `jump` leads to.
    pub(crate) fn behind(self, jump: &Jump) -> Followed {
        Followed { bytes: jump.mark.bytes, tail: jump.tail.clone(), ..self }
    }

    /// True if the file does not go on where it was read to.
    fn was_emptied(&self) -> io::Result<bool> {
        let length = self.file.metadata()?.len();
        if length <= self.bytes {
            return Ok(length < self.bytes);
        }
        let mut tail = vec![0; self.tail.len()];
        let start = self.bytes - tail.len() as u64;
        match self.file.read_exact_at(&mut tail, start) {
            // Emptied this moment.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(true),
            read => read.map(|()| tail != self.tail),
        }
    }

    /// True if the path leads elsewhere.
    fn was_moved(&self) -> io::Result<bool> {
        let own = self.file.metadata()?;
        let is_own =
            |found: std::fs::Metadata| (found.dev(), found.ino()) == (own.dev(), own.ino());
        Ok(!std::fs::metadata(&self.path).is_ok_and(is_own))
    }

    /// True if nothing more is waited for.
    fn is_left(&self) -> io::Result<bool> {
        Ok(self.interrupt.is_asked() || self.last.elapsed() >= LEAVING && self.was_moved()?)
    }

    fn note(&mut self, read: &[u8]) {
        (self.is_at_end, self.last) = (false, Instant::now());
        self.bytes += read.len() as u64;
        self.tail.extend(&read[read.len().saturating_sub(COMPARED)..]);
        self.tail.drain(..self.tail.len().saturating_sub(COMPARED));
    }
}

impl Read for Followed {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.is_over || to.is_empty() {
            return Ok(0);
        }
        if self.is_at_end && self.was_emptied()? {
            self.is_over = true;
            return Ok(0);
        }
        let read = self.file.read_at(to, self.bytes)?;
        if read > 0 {
            self.note(&to[..read]);
            return Ok(read);
        }
        self.is_at_end = true;
        self.is_over = self.was_emptied()? || self.is_left()?;
        if self.is_over { Ok(0) } else { Err(ErrorKind::WouldBlock.into()) }
    }
}
