//! Makes every checksum of a damaged file right again: what a file looks like that was made to deceive.

use super::atlas::{LogRecord, Segment};
use crate::support::Chance;

/// A file whose checksums are made right.
pub(crate) struct Forger<'a> {
    pub(crate) bytes: &'a mut [u8],
}

impl Forger<'_> {
    fn word(&self, at: u64) -> u64 {
        u64::from_le_bytes(self.bytes[at as usize..at as usize + 8].try_into().unwrap())
    }

    pub(crate) fn set(&mut self, at: u64, word: u64) {
        self.bytes[at as usize..at as usize + 8].copy_from_slice(&word.to_le_bytes());
    }

    /// Makes a word another one, such as a reader may stumble over; returns it.
    pub(crate) fn bend(&mut self, at: u64, chance: &mut Chance) -> u64 {
        let word = self.word(at);
        let bent = match chance.below(12) {
            0 => 0,
            1 => u64::MAX,
            2 => u64::MAX >> 1,
            3 => word ^ 1 << chance.below(64),
            4 => word.wrapping_add(8 * chance.below(16)),
            5 => word.wrapping_sub(8 * chance.below(16)),
            6 => word ^ 0xFFFF_FFFF,
            7 => word ^ 0xFFFF_FFFF << 32,
            8 => chance.next(),
            9 => word & !0xFFFF_FFFF | chance.below(1 << 12),
            10 => word & 0xFFFF_FFFF | chance.below(1 << 24) << 32,
            _ => self.word(at ^ 8),
        };
        self.set(at, bent);
        bent
    }

    fn sum(&self, at: u64, len: u64) -> u64 {
        crc32c::crc32c(&self.bytes[at as usize..(at + len) as usize]) as u64
    }

    /// Both roots.
    pub(crate) fn roots(&mut self) {
        for slot in [0, 4096] {
            self.set(slot + 63 * 8, self.sum(slot, 63 * 8));
        }
    }

    /// A segment's nodes, sections, section table and slot, as they were before.
    pub(crate) fn segment(&mut self, segment: &Segment) {
        let are_packed = segment.sections.iter().any(|(kind, _, bytes)| *kind == 17 && *bytes > 0);
        for (kind, start, bytes) in &segment.sections {
            match kind {
                6 => self.nodes(*start, *bytes, segment),
                18 => self.packed_terms(*start, *bytes),
                _ => {}
            }
        }
        self.page_checks(segment, are_packed);
        self.table(segment);
        self.entry(segment);
    }

    /// A section table's checksum alone, and the slot's.
    pub(crate) fn table(&mut self, segment: &Segment) {
        let check = self.sum(segment.table, segment.sections.len() as u64 * 24);
        self.set(segment.slot + 8 + 21 * 8, check);
        self.entry(segment);
    }

    /// A slot's checksum alone.
    pub(crate) fn entry(&mut self, segment: &Segment) {
        self.set(segment.slot + 29 * 8, self.sum(segment.slot + 8, 28 * 8));
    }

    /// The checks of all pages, and their own.
    fn page_checks(&mut self, segment: &Segment, are_packed: bool) {
        let Some((index, (_, start, bytes))) =
            (0..).zip(&segment.sections).find(|(_, (kind, ..))| *kind == 19)
        else {
            return;
        };
        let pages = segment.blocks.iter().flat_map(|(at, bytes)| (*at..at + bytes).step_by(4096));
        let checks: Vec<u32> = pages.map(|page| self.page(segment, page, are_packed)).collect();
        for (at, check) in (*start..start + bytes).step_by(4).zip(checks) {
            self.bytes[at as usize..at as usize + 4].copy_from_slice(&check.to_le_bytes());
        }
        let (at, check) = (segment.table + index * 24, self.sum(*start, *bytes));
        self.set(at, self.word(at) & 0xFFFF_FFFF | check << 32);
    }

    /// The check of a page: of what sections have in it, in the order of their kinds.
    fn page(&self, segment: &Segment, page: u64, are_packed: bool) -> u32 {
        let mut sum = 0;
        for (kind, start, bytes) in segment.sections.iter().filter(|(kind, ..)| *kind != 19) {
            let mask: &[u64] = match kind {
                14 => &[0],
                3 if !are_packed => &[u64::MAX, 0xFFFF_FFFF, u64::MAX],
                6 => &[0, u64::MAX, u64::MAX, 0xFFFF_FFFF],
                _ => &[u64::MAX],
            };
            let words = (*start..start + bytes / 8 * 8).step_by(8).zip(mask.iter().cycle());
            for (at, mask) in words.filter(|(at, _)| (page..page + 4096).contains(at)) {
                sum = crc32c::crc32c_append(sum, &(self.word(at) & mask).to_le_bytes());
            }
        }
        sum
    }

    /// A node's check goes over its term's key, which is in the term's record, or in the section of keys.
    fn nodes(&mut self, start: u64, bytes: u64, segment: &Segment) {
        for (index, node) in (start..start + bytes).step_by(32).enumerate() {
            let key = match segment.keys {
                Some(keys) => keys + index as u64 * 24,
                None => segment.lines + (self.word(node + 24) >> 32) * 64 + 16,
            };
            if key + 16 > self.bytes.len() as u64 {
                continue;
            }
            let words = [node + 8, node + 16, key, key + 8].map(|at| self.word(at).to_le_bytes());
            let check = crc32c::crc32c(words.as_flattened()) as u64;
            self.set(node + 24, self.word(node + 24) >> 32 << 32 | check);
        }
    }

    /// The checksums of blocks of packed terms, if their head fits the section.
    fn packed_terms(&mut self, start: u64, bytes: u64) {
        let head = if bytes > 0 { self.word(start) } else { 0 };
        let (terms, words) = (head & 0xFFFF_FFFF, head >> 32);
        let blocks = terms.div_ceil(32);
        if bytes != (1 + words + 2 * blocks) * 8 {
            return;
        }
        let (body, index) = (start + 8, start + 8 + (words + blocks) * 8);
        for block in 0..blocks {
            let first = |block| match block < blocks {
                true => self.word(index + block * 8) & 0xFFFF_FFFF,
                false => words,
            };
            let (from, to) = (first(block), first(block + 1));
            if from <= to && to <= words {
                let count = 32.min(terms - block * 32) as u32;
                let words = &self.bytes[(body + from * 8) as usize..(body + to * 8) as usize];
                let check = crc32c::crc32c_append(count, words) as u64;
                self.set(index + block * 8, from | check << 32);
            }
        }
    }

    /// A record of the merged dictionary.
    pub(crate) fn record(&mut self, at: u64) {
        let line = self.word(at + 32) & 0xFFFF_FFFF;
        let words = [self.word(at + 16), self.word(at + 24), line].map(u64::to_le_bytes);
        let check = crc32c::crc32c(words.as_flattened()) as u64;
        self.set(at + 32, line | check << 32);
    }

    /// A word that leads to a record.
    pub(crate) fn chain_word(&mut self, at: u64) {
        let next = self.word(at) & 0xFFFF_FFFF;
        self.set(at, next | (crc32c::crc32c(&next.to_le_bytes()) as u64) << 32);
    }

    /// A record of the log.
    pub(crate) fn log_record(&mut self, record: &LogRecord, salt: u32) {
        let header = self.word(record.at) & 0xFFFF_FFFF;
        let sum = crc32c::crc32c_append(salt, &header.to_le_bytes());
        let rest = &self.bytes[record.at as usize + 8..(record.at + record.bytes) as usize];
        let check = crc32c::crc32c_append(sum, rest) as u64;
        self.set(record.at, header | check << 32);
    }
}
