//! A source whose bytes are counted as they are read.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::head::Bytes;

pub(super) struct Counted {
    source: Bytes,
    /// Relaxed: for people.
    read: Arc<AtomicU64>,
}

impl Counted {
    pub(super) fn new(source: Bytes, read: Arc<AtomicU64>) -> Counted {
        Counted { source, read }
    }
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.source.read(buffer)?;
        self.read.fetch_add(bytes as u64, Relaxed);
        Ok(bytes)
    }
}
