//! The beginning of a source, read ahead so that its content can say what it is.

use std::io::{self, Chain, Cursor, ErrorKind, Read};

/// Bytes that are read ahead at once.
const PIECE_BYTES: usize = 8 << 10;

/// Bytes from anywhere.
pub(crate) type Bytes = Box<dyn Read + Send>;

pub(crate) struct Head {
    bytes: Vec<u8>,
    source: Bytes,
    is_over: bool,
}

impl Head {
    pub(crate) fn new(source: Bytes) -> Head {
        Head { bytes: Vec::new(), source, is_over: false }
    }

    /// Returns what was read so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// True if the source has nothing more than [`bytes`](Self::bytes).
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Reads more. May fail because nothing is there yet, and be called again: nothing is lost.
    pub(crate) fn more(&mut self) -> io::Result<()> {
        let before = self.bytes.len();
        self.bytes.resize(before + PIECE_BYTES, 0);
        let read = loop {
            match self.source.read(&mut self.bytes[before..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.bytes.truncate(before + *read.as_ref().unwrap_or(&0));
        self.is_over = read? == 0;
        Ok(())
    }

    /// Returns the whole source without its first `passed` bytes.
    pub(crate) fn whole(self, passed: usize) -> Chain<Cursor<Vec<u8>>, Bytes> {
        let mut bytes = Cursor::new(self.bytes);
        bytes.set_position(passed as u64);
        bytes.chain(self.source)
    }
}
