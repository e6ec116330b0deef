//! Engraves the texts of a segment, some blocks at a time. It [compresses](crate::form::text_block)
//! them into their section and writes their [index](crate::form::text_index).

use spirit_door::Site;

use crate::form::text_block::{Cutter, Packer, begin};
use crate::form::text_index::{TEXT_ENTRY_BYTES, TextEntry};
use crate::ground::section::Section;
use crate::memory::Memory;
use crate::rows::texts::Texts;
use crate::tier::Nvm;

/// Bytes of text that a step compresses. It may exceed this by one block.
const STEP_BYTES: usize = 128 << 10;

/// The texts of a segment on their way to the second tier.
#[derive(Debug)]
pub(crate) struct TextEngraver {
    cutter: Cutter,
    /// Number of blocks written.
    blocks: u64,
    /// Number of bytes of the section written.
    bytes: u64,
    packer: Packer,
    raw: Vec<u8>,
    padded: Vec<u8>,
}

/// Returns the bytes of the texts' index, and an upper bound of the bytes of their section.
pub(crate) fn sizes(texts: Texts<'_>, rows: u32) -> (u64, u64) {
    let mut cutter = Cutter::new(rows);
    let (mut blocks, mut bytes) = (0, 0);
    while let Some(cut) = cutter.next(|row| texts.place(row).bytes) {
        blocks += 1;
        bytes += (cut.raw_bytes() as u64).next_multiple_of(8);
    }
    ((1 + blocks) * TEXT_ENTRY_BYTES, bytes)
}

impl TextEngraver {
    /// Makes the engraver of a segment of this many rows.
    pub(crate) fn new(rows: u32) -> TextEngraver {
        TextEngraver {
            cutter: Cutter::new(rows),
            blocks: 0,
            bytes: 0,
            packer: Packer::default(),
            raw: Vec::new(),
            padded: Vec::new(),
        }
    }

    /// Writes some blocks and their entries. Returns the section's bytes once all are written.
    pub(crate) fn advance(
        &mut self,
        memory: &Memory,
        nvm: &Nvm,
        texts: Texts<'_>,
        index: Section,
        section: Section,
    ) -> Option<u64> {
        let (first_entry, first_byte) = (self.blocks, self.bytes);
        let (mut entries, mut done) = (Vec::new(), 0);
        let mut is_last = false;
        self.padded.clear();
        // Each step packs at least one block or ends, so that the loop ends after `STEP_BYTES`.
        while done < STEP_BYTES && !is_last {
            match self.pack(texts) {
                Some((entry, raw_bytes)) => {
                    entries.extend_from_slice(entry.words().map(u64::to_le_bytes).as_flattened());
                    done += raw_bytes;
                }
                None => is_last = true,
            }
        }
        let entries_at = index.start + (1 + first_entry) * TEXT_ENTRY_BYTES;
        write(memory, nvm, section.start + first_byte, &self.padded);
        write(memory, nvm, entries_at, &entries);
        if is_last {
            let head = [self.blocks, section.start, self.bytes].map(u64::to_le_bytes);
            write(memory, nvm, index.start, head.as_flattened());
        }
        is_last.then_some(self.bytes)
    }

    /// Compresses the next block behind those of this step. Returns its entry and its uncompressed
    /// bytes.
    fn pack(&mut self, texts: Texts<'_>) -> Option<(TextEntry, usize)> {
        let length = |row| texts.place(row).bytes;
        let cut = self.cutter.next(length)?;
        begin(&cut, length, &mut self.raw);
        if cut.rows == 1 {
            texts.write(texts.place(cut.first), cut.skipped, cut.bytes, &mut self.raw);
        } else {
            for row in cut.first..cut.first + cut.rows {
                texts.write(texts.place(row), 0, length(row), &mut self.raw);
            }
        }
        let stored = self.packer.pack(&self.raw);
        let (from, stored_bytes) = (self.padded.len(), stored.len());
        self.padded.extend_from_slice(stored);
        self.padded.resize(self.padded.len().next_multiple_of(8), 0);
        let (padded, start) = (&self.padded[from..], (self.bytes / 8) as u32);
        let entry = TextEntry::new(cut.first, self.raw.len(), start, stored_bytes, padded);
        self.blocks += 1;
        self.bytes += padded.len() as u64;
        Some((entry, self.raw.len()))
    }
}

fn write(memory: &Memory, nvm: &Nvm, at: u64, bytes: &[u8]) {
    if !bytes.is_empty() {
        nvm.door().write(Site::BodyWords, memory.region(), at, bytes);
        nvm.door().write_back(Site::BodyWriteBack, memory.region(), at, bytes.len() as u64);
    }
}
