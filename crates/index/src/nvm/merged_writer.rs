//! The merged dictionary's writer: one at a time, the merge stage's.
//!
//! Which lines are free is known by a bitmap in DRAM, made by going through all records before the first change after a
//! start that has found segments: nothing that a cut left behind can stay for longer.
//!
//! That a term has left its chain is made durable with the links of the next merge, whose fence and whose pages it shares, or
//! when its lines are needed earlier. They are not used again before, and what a cut brings back leads to a segment that is gone.

use std::collections::VecDeque;

use spirit_door::{Door, Site};
use spirit_mem::{Pins, Region};

use super::layout::NvmLayout;
use super::merged::{Merged, RECORD_BYTES, chain_word, long_lines, record_words};
use super::node::Link;
use crate::descriptor::Position;
use crate::term::Term;

/// The writer.
#[derive(Default)]
pub struct MergedWriter {
    /// A bit a line: set if something is in it.
    taken: Vec<u64>,
    used: u64,
    /// Where the search for a free line goes on.
    next: usize,
    /// Lines that wait for their last reader: stamp (the largest: what was removed is not durable yet), first line, how many.
    limbo: VecDeque<(u64, u32, u32)>,
    /// Where the words are that led to them.
    unlinked: Vec<u64>,
}

impl MergedWriter {
    /// The writer of a dictionary that nothing was ever entered into.
    pub fn new(region: &Region, layout: &NvmLayout) -> MergedWriter {
        let lines = Merged::new(region, layout).lines();
        let mut taken = vec![0; lines.div_ceil(64)];
        if let (Some(last), rest @ 1..) = (taken.last_mut(), lines % 64) {
            // What the last word has bits for and the partition has no lines.
            *last = u64::MAX << rest;
        }
        MergedWriter { taken, ..MergedWriter::default() }
    }

    /// Goes through the dictionary, so that its free lines are known. Records whose term has no posting from segment
    /// `oldest` on, which was the oldest at the start, are taken out. Readers may be on their way along the chains: where those led
    /// stays until they have left.
    pub fn open(
        region: &Region,
        layout: &NvmLayout,
        door: &Door,
        pins: &Pins,
        oldest: Position,
    ) -> MergedWriter {
        let merged = Merged::new(region, layout);
        let mut writer = MergedWriter::new(region, layout);
        let mut gone = Vec::new();
        for bucket in merged.used_buckets() {
            for (_, line) in merged.chain(bucket) {
                writer.take(line, 1);
                if let Some((first, lines)) = merged.apart(line) {
                    writer.take(first, lines);
                }
                if merged.head(line).position() < oldest {
                    gone.push(line);
                }
            }
            for line in gone.drain(..) {
                writer.remove_from(bucket, &merged, region, door, line);
            }
        }
        writer.settle(pins, region, door);
        writer
    }

    /// Lines in use.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Takes the term of record `line` out, whose hash is `hash`; its lines are free when that is durable and no reader can hold
    /// them.
    pub fn remove(
        &mut self,
        merged: &Merged<'_>,
        region: &Region,
        door: &Door,
        hash: u64,
        line: u32,
    ) {
        self.remove_from(merged.bucket(hash), merged, region, door, line);
    }

    /// The same, by the bucket whose chain it is in. Is it in none, nothing happens.
    fn remove_from(
        &mut self,
        bucket: usize,
        merged: &Merged<'_>,
        region: &Region,
        door: &Door,
        line: u32,
    ) {
        let mut chain = merged.chain(bucket).skip_while(|(_, l)| *l != line);
        let Some((at, _)) = chain.next() else { return };
        let after = chain.next();
        let word = after.map_or(0, |(_, next)| chain_word(next));
        door.store(Site::Unlink, region, at, word);
        self.unlinked.push(at);
        self.limbo.push_back((u64::MAX, line, 1));
        if let Some((first, lines)) = merged.apart(line) {
            self.limbo.push_back((u64::MAX, first, lines));
        }
    }

    /// Sends what was removed on its way; the caller fences, and [says so](Self::note_durable).
    pub fn write_back_unlinked(&mut self, region: &Region, door: &Door) {
        for at in self.unlinked.drain(..) {
            door.write_back(Site::UnlinkWriteBack, region, at, 8);
        }
    }

    /// What was removed is durable: its lines wait for their readers alone.
    pub fn note_durable(&mut self, pins: &Pins) {
        if self.limbo.back().is_some_and(|(stamp, ..)| *stamp == u64::MAX) {
            let stamp = pins.retire();
            let removed = self.limbo.iter_mut().rev();
            removed.take_while(|(when, ..)| *when == u64::MAX).for_each(|(when, ..)| *when = stamp);
        }
    }

    /// Makes what was removed durable without waiting for a merge, since its lines are needed; says whether there was anything.
    pub fn settle(&mut self, pins: &Pins, region: &Region, door: &Door) -> bool {
        if self.unlinked.is_empty() {
            return false;
        }
        self.write_back_unlinked(region, door);
        door.fence(Site::UnlinkFence, region);
        self.note_durable(pins);
        self.collect(pins);
        true
    }

    /// Frees what no reader holds any more.
    pub fn collect(&mut self, pins: &Pins) {
        if self.limbo.is_empty() {
            return;
        }
        let horizon = pins.horizon();
        while let Some((_, first, lines)) = self.limbo.pop_front_if(|(stamp, ..)| *stamp < horizon)
        {
            self.free(first, lines);
        }
    }

    /// Writes a record that no bucket leads to yet, with its term's `head`, whose chain goes on with `next` (a word that leads
    /// to a record); `None` if there is no room.
    pub fn add(
        &mut self,
        merged: &Merged<'_>,
        region: &Region,
        door: &Door,
        term: Term<'_>,
        next: u64,
        head: Link,
    ) -> Option<u32> {
        let line = self.allocate(1)?;
        let mut long = 0;
        if term.key.is_long() {
            let lines = long_lines(term.bytes.len());
            let Some(first) = self.allocate(lines) else {
                self.free(line, 1);
                return None;
            };
            long = first;
            let mut bytes = term.bytes.to_vec();
            bytes.resize(lines as usize * RECORD_BYTES as usize, 0);
            door.write(Site::Record, region, merged.place(first), &bytes);
            door.write_back(Site::RecordWriteBack, region, merged.place(first), bytes.len() as u64);
        }
        let [low, high, apart] = record_words(term.key, long);
        let place = merged.place(line);
        door.write_words(Site::Record, region, place, &[next, head.0, low, high, apart]);
        door.write_back(Site::RecordWriteBack, region, place, RECORD_BYTES);
        Some(line)
    }

    /// Takes back a record that no bucket ever led to.
    pub fn discard(&mut self, merged: &Merged<'_>, line: u32) {
        if let Some((first, lines)) = merged.apart(line) {
            self.free(first, lines);
        }
        self.free(line, 1);
    }

    fn take(&mut self, first: u32, lines: u32) {
        for line in first as usize..(first + lines) as usize {
            self.taken[line / 64] |= 1 << (line % 64);
        }
        self.used += lines as u64;
    }

    fn free(&mut self, first: u32, lines: u32) {
        for line in first as usize..(first + lines) as usize {
            self.taken[line / 64] &= !(1 << (line % 64));
        }
        self.used -= lines as u64;
    }

    /// `lines` neighbouring lines.
    fn allocate(&mut self, lines: u32) -> Option<u32> {
        let end = self.taken.len() * 64;
        let from = self.next;
        let first = self.search(from, end, lines).or_else(|| self.search(0, from, lines))?;
        self.next = first + lines as usize;
        self.take(first as u32, lines);
        Some(first as u32)
    }

    fn search(&self, from: usize, end: usize, lines: u32) -> Option<usize> {
        let (mut run, mut at) = (0, from);
        while at < end {
            let free = !self.taken[at / 64] >> (at % 64);
            if free & 1 == 0 {
                // On to the next that is free, in this word or behind it.
                at += (free.trailing_zeros() as usize).min(64 - at % 64);
                run = 0;
                continue;
            }
            (run, at) = (run + 1, at + 1);
            if run == lines {
                return Some(at - lines as usize);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;

    use spirit_door::Barrier;
    use spirit_mem::{Residency, Span};

    use super::*;
    use crate::nvm::layout::NvmSettings;
    use crate::term::FieldId;

    const BYTES: u64 = 1 << 20;

    /// A dictionary and its door.
    struct Tier {
        region: Region,
        layout: NvmLayout,
        door: Door,
    }

    impl Tier {
        fn merged(&self) -> Merged<'_> {
            Merged::new(&self.region, &self.layout)
        }

        /// Enters the term of a number into the first bucket, whatever its hash.
        fn enter(&self, writer: &mut MergedWriter, number: u32, newest: Position) -> Option<u32> {
            let bytes = number.to_le_bytes();
            let term = Term::new(FieldId::TEXT, &bytes)?;
            let next = self.merged().chain(0).next().map_or(0, |(_, line)| chain_word(line));
            let head = Link::new(newest, BYTES);
            let line = writer.add(&self.merged(), &self.region, &self.door, term, next, head)?;
            let at = self.layout.buckets.start();
            self.door.publish(Site::Enter, &self.region, at, chain_word(line));
            Some(line)
        }

        fn first_chain(&self) -> Vec<u32> {
            self.merged().chain(0).map(|(_, line)| line).collect()
        }
    }

    #[test]
    fn what_a_start_takes_out_leads_on_until_its_readers_have_left() {
        let layout = NvmLayout::new(NvmSettings { bytes: BYTES, log_bytes: 0 }, 64 << 10);
        let region = Region::reserve(BYTES, Residency::OnTouch).unwrap();
        let tier = Tier { region, layout, door: Door::new(Barrier::Order) };
        let mut before = MergedWriter::new(&tier.region, &tier.layout);
        let [young, gone] = [(1, 9), (2, 4)].map(|(number, newest)| {
            tier.enter(&mut before, number, newest).expect("there is room")
        });
        assert_eq!(tier.first_chain(), [gone, young]);

        let pins = Pins::new(1);
        let reader = pins.acquire().unwrap();
        pins.pin(&reader);
        let mut writer = MergedWriter::open(&tier.region, &tier.layout, &tier.door, &pins, 5);
        assert_eq!(tier.first_chain(), [young]);
        let lead_on = || {
            tier.region.view(Span::<AtomicU64>::new(tier.merged().place(gone), 1))[0].load(Relaxed)
        };
        let mut numbers = 3..;
        while tier.enter(&mut writer, numbers.next().unwrap(), 9).is_some() {}
        assert_eq!(lead_on(), chain_word(young), "a reader that stands there goes on as before");
        assert!(!tier.first_chain().contains(&gone));

        pins.unpin(&reader);
        writer.collect(&pins);
        assert_eq!(tier.enter(&mut writer, 2, 9), Some(gone), "then it is as good as any other");
    }
}
