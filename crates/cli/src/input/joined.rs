//! Lines that make a record together, as they stand in the file.

use super::{Line, Lines};

pub(super) struct Joined {
    bytes_max: usize,
    pub(super) bytes: Vec<u8>,
    /// The number of the first line; none before it.
    pub(super) first: Option<u64>,
    is_long: bool,
}

impl Joined {
    pub(super) fn new(bytes_max: usize) -> Joined {
        Joined { bytes_max, bytes: Vec::new(), first: None, is_long: false }
    }

    /// Forgets the record that was taken.
    pub(super) fn begin(&mut self) {
        if self.first.is_none() {
            self.bytes.clear();
            self.is_long = false;
        }
    }

    /// Adds the line that was read.
    pub(super) fn add(&mut self, lines: &mut Lines) {
        let line = lines.bytes();
        let has_room = !lines.is_cut && self.bytes.len() + line.len() <= self.bytes_max;
        if has_room {
            self.bytes.extend(line);
        }
        self.is_long |= !has_room;
        let number = lines.number + 1;
        self.first.get_or_insert(number);
        lines.take_line();
    }

    /// Takes the record, with the number of its first line. The next one begins behind it.
    pub(super) fn taken(&mut self) -> (u64, Line<'_>) {
        let first = self.first.take().unwrap_or_default();
        (first, if self.is_long { Line::TooLong } else { Line::Bytes(&self.bytes) })
    }
}
