//! The merged dictionary's writer. There is one at a time, the merge stage's.
//!
//! A bitmap in DRAM records the free lines. After a start that found segments it is built from all
//! records before the first change. So lines that a cut left behind are free by then.
//!
//! Removing a term becomes durable with the links of the next merge, whose fence and pages it
//! shares. It becomes durable earlier if its lines are needed. The lines are not reused before
//! that. A crash may resurrect such a record; it then leads to a dropped segment.
//!
//! The disk backs lines in steps, before they are used. It backs arrays of buckets before the
//! dictionary [grows](crate::form::merged) into them.

use std::collections::VecDeque;

use spirit_door::{Door, Site};
use spirit_mem::{Pins, Region};

use crate::form::merged::{
    Merged, NOWHERE, RECORD_BYTES, chain_word, count_word, long_lines, record_words,
};
use crate::form::node::Link;
use crate::ground::damage;
use crate::ground::ids::Position;
use crate::ground::layout::NvmLayout;
use crate::ground::term::Term;
use crate::tier::{BACKED_BYTES, Nvm};

/// Smallest number of lines that the disk backs in one step.
const BACKED_LINES: usize = (BACKED_BYTES / RECORD_BYTES) as usize;
/// If more than one in this number of backed lines is free, search from the first line before
/// backing more.
const FREE_SHARE: u64 = 8;
/// Number of buckets that one step of growing or cutting handles.
const STEP_BUCKETS: usize = 16 << 10;

/// An array of 2^`bits` buckets that is being filled.
struct Growth {
    bits: u32,
    /// The next bucket of the array in use.
    next: usize,
}

/// The progress of cutting chains that may lead into the next bucket's records.
struct Cutting {
    /// The epoch up to which readers of the old array may be pinned.
    stamp: u64,
    /// The next bucket to look at.
    next: usize,
}

/// The merged dictionary's writer.
#[derive(Default)]
pub struct MergedWriter {
    /// A bit per line: set if the line is in use.
    taken: Vec<u64>,
    used: u64,
    /// Number of lines that the disk backs, from the first on.
    backed: usize,
    /// The line at which the search for a free line continues.
    next: usize,
    /// Lines that wait for their last reader: stamp, first line, number of lines. The largest stamp
    /// means that the removal is not durable yet.
    limbo: VecDeque<(u64, u32, u32)>,
    /// Offsets of the words that led to removed records, or out of their bucket.
    unlinked: Vec<u64>,
    growth: Option<Growth>,
    cutting: Option<Cutting>,
}

impl MergedWriter {
    /// Makes the writer of a dictionary that no term was ever entered into.
    pub fn new(region: &Region, layout: &NvmLayout) -> MergedWriter {
        let lines = Merged::new(region, layout).lines();
        MergedWriter { taken: vec![0; lines.div_ceil(64)], ..MergedWriter::default() }
    }

    /// Opens an existing dictionary and finds its free lines. Removes records whose term has no
    /// posting from segment `oldest` on, the oldest at the start. Cuts chains that a crash left
    /// uncut. Readers may be in the chains: removed records stay until these have left.
    pub fn open(region: &Region, nvm: &Nvm, pins: &Pins, oldest: Position) -> MergedWriter {
        let (layout, door) = (nvm.layout(), nvm.door());
        let merged = Merged::new(region, layout);
        let mut writer = MergedWriter::new(region, layout);
        let mut gone = Vec::new();
        for bucket in merged.used_buckets() {
            writer.cut(&merged, region, door, bucket);
            for (_, line) in merged.chain(bucket).filter(|(_, line)| merged.is_known(*line)) {
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
        writer.settle(pins, region, nvm);
        writer
    }

    /// Returns the number of lines in use.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Returns the number of lines that are free.
    pub fn free_lines(&self, region: &Region, layout: &NvmLayout) -> u64 {
        Merged::new(region, layout).lines() as u64 - self.used
    }

    /// Removes the term of record `line`, whose hash is `hash`. Its lines are free once the removal
    /// is durable and no reader can hold them.
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

    /// Like [`remove`](Self::remove), for a record in the chain of `bucket`. Does nothing if the
    /// record is not there.
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
        let word = after.map_or(NOWHERE, |(_, next)| chain_word(next));
        door.store(Site::Unlink, region, at, word);
        self.unlinked.push(at);
        self.limbo.push_back((u64::MAX, line, 1));
        if let Some((first, lines)) = merged.apart(line) {
            self.limbo.push_back((u64::MAX, first, lines));
        }
    }

    /// Writes the removals back. The caller fences and then calls
    /// [`note_durable`](Self::note_durable).
    pub fn write_back_unlinked(&mut self, region: &Region, door: &Door) {
        for at in self.unlinked.drain(..) {
            door.write_back(Site::UnlinkWriteBack, region, at, 8);
        }
    }

    /// Notes that all removals are durable. Their lines now wait for readers only.
    pub fn note_durable(&mut self, pins: &Pins) {
        if self.limbo.back().is_some_and(|(stamp, ..)| *stamp == u64::MAX) {
            let stamp = pins.retire();
            let removed = self.limbo.iter_mut().rev();
            removed.take_while(|(when, ..)| *when == u64::MAX).for_each(|(when, ..)| *when = stamp);
        }
    }

    /// Makes removals durable without waiting for a merge, because their lines are needed. Returns
    /// true if there were any.
    pub fn settle(&mut self, pins: &Pins, region: &Region, nvm: &Nvm) -> bool {
        if self.unlinked.is_empty() {
            return false;
        }
        self.write_back_unlinked(region, nvm.door());
        nvm.door().fence(Site::UnlinkFence, region);
        self.note_durable(pins);
        self.collect(pins);
        true
    }

    /// Takes the next step of cutting chains, or of growing for `lines` lines in use. Returns true
    /// if there is another step. All records that were added have entered their chains: a new one
    /// may lead into the next bucket's.
    ///
    /// Growing stops if the disk has no room; chains are longer then.
    pub(crate) fn grow(&mut self, region: &Region, nvm: &Nvm, pins: &Pins, lines: u64) -> bool {
        if self.advance_cutting(region, nvm, pins) {
            return true;
        }
        let (layout, door) = (nvm.layout(), nvm.door());
        let merged = Merged::new(region, layout);
        let begun = self.growth.take().or_else(|| self.begin_growth(&merged, nvm, lines));
        let Some(Growth { bits, next }) = begun else { return false };
        let end = merged.buckets().min(next + STEP_BUCKETS);
        let larger = Merged::of_buckets(region, layout, bits);
        (next..end).for_each(|bucket| divide(&merged, &larger, region, door, bucket));
        // Write back at once: eight words share a line.
        let finer = larger.buckets() / merged.buckets();
        let (at, bytes) = (larger.bucket_place(next * finer), (end - next) * finer * 8);
        door.write_back(Site::GrowWriteBack, region, at, bytes as u64);
        if damage::is_any() {
            // The larger array would miss records that the damage hides.
            return false;
        }
        if end < merged.buckets() {
            self.growth = Some(Growth { bits, next: end });
            return true;
        }
        door.fence(Site::GrowFence, region);
        let count = layout.bucket_count.start();
        door.publish(Site::GrowCount, region, count, count_word(bits));
        door.write_back(Site::GrowCountWriteBack, region, count, 8);
        // From here on records enter only the new array, and chains are cut that the old one needs
        // whole.
        door.fence(Site::GrowCountFence, region);
        if self.used > 0 {
            self.cutting = Some(Cutting { stamp: pins.retire(), next: 0 });
        }
        false
    }

    /// Plans an array with one bucket per line, if that is more than there are and the disk has
    /// room for it. Without a dictionary it falls back to the first buckets.
    fn begin_growth(&self, merged: &Merged<'_>, nvm: &Nvm, lines: u64) -> Option<Growth> {
        let (first, last) = nvm.layout().bucket_bits;
        let bits = lines.next_power_of_two().ilog2().clamp(first, last);
        if merged.is_made() && (bits <= merged.bits() || self.cutting.is_some()) {
            return None;
        }
        let is_backed = |bits: &u32| {
            let array = nvm.layout().bucket_array(*bits);
            nvm.back_range(array.start()..array.end())
        };
        let bits = Some(bits).filter(is_backed);
        let bits = bits.or_else(|| (!merged.is_made()).then_some(first));
        bits.map(|bits| Growth { bits, next: 0 })
    }

    /// Gives up a larger array that is not in use yet, because records will leave the chains.
    pub(crate) fn stop_growing(&mut self) {
        self.growth = None;
    }

    /// True if chains are still to be cut and removed lines wait for that.
    pub(crate) fn is_cutting(&self) -> bool {
        self.cutting.is_some()
    }

    /// Cuts the next chains, once no reader needs them whole. Returns true if it did.
    pub(crate) fn advance_cutting(&mut self, region: &Region, nvm: &Nvm, pins: &Pins) -> bool {
        let Some(Cutting { stamp, next }) = self.cutting else { return false };
        if stamp >= pins.horizon() {
            return false;
        }
        let merged = Merged::new(region, nvm.layout());
        let end = merged.buckets().min(next + STEP_BUCKETS);
        (next..end).for_each(|bucket| self.cut(&merged, region, nvm.door(), bucket));
        self.cutting = (end < merged.buckets()).then_some(Cutting { stamp, next: end });
        if self.cutting.is_some() {
            return true;
        }
        // A reader may have reached a record in limbo by a word that led there until now. A crash
        // may bring that word back.
        let stamp = if self.unlinked.is_empty() { pins.retire() } else { u64::MAX };
        self.limbo.iter_mut().for_each(|(when, ..)| *when = stamp);
        true
    }

    /// Ends the chain of `bucket` where it leads to another bucket's record.
    fn cut(&mut self, merged: &Merged<'_>, region: &Region, door: &Door, bucket: usize) {
        let mut chain = merged.chain(bucket);
        if let Some((at, _)) = chain.find(|(_, line)| merged.is_foreign(bucket, *line)) {
            door.store(Site::Unlink, region, at, NOWHERE);
            self.unlinked.push(at);
        }
    }

    /// Frees lines that no reader holds any more.
    pub fn collect(&mut self, pins: &Pins) {
        if self.cutting.is_some() || self.limbo.is_empty() {
            return;
        }
        let horizon = pins.horizon();
        while let Some((_, first, lines)) = self.limbo.pop_front_if(|(stamp, ..)| *stamp < horizon)
        {
            self.free(first, lines);
        }
    }

    /// Writes a record for a term with this head. No chain leads to the record yet. Its own chain
    /// word is `next`. Returns `None` if there is no room.
    pub fn add(
        &mut self,
        merged: &Merged<'_>,
        region: &Region,
        nvm: &Nvm,
        term: Term<'_>,
        next: u64,
        head: Link,
    ) -> Option<u32> {
        let door = nvm.door();
        let line = self.allocate(merged, nvm, 1)?;
        let mut long = 0;
        if term.key.is_long() {
            let lines = long_lines(term.bytes.len());
            let Some(first) = self.allocate(merged, nvm, lines) else {
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

    /// Takes `lines` adjacent lines.
    fn allocate(&mut self, merged: &Merged<'_>, nvm: &Nvm, lines: u32) -> Option<u32> {
        let has_many_free = self.used + self.backed as u64 / FREE_SHARE < self.backed as u64;
        let mut first = self.search(self.next, self.backed, lines);
        if first.is_none() && has_many_free {
            first = self.search(0, self.backed, lines);
        }
        // After a start the first lines to be backed may all be taken. The loop ends once nothing
        // more can be backed.
        while first.is_none()
            && let Some(from) = self.back_more(merged, nvm, lines)
        {
            first = self.search(from, self.backed, lines);
        }
        // Neither the partition nor the disk has more: search all backed lines.
        let first = first.or_else(|| self.search(0, self.backed, lines))?;
        self.next = first + lines as usize;
        self.take(first as u32, lines);
        Some(first as u32)
    }

    /// Backs more lines, at least `lines`. Returns the first of them.
    fn back_more(&mut self, merged: &Merged<'_>, nvm: &Nvm, lines: u32) -> Option<usize> {
        let (from, end) = (self.backed, merged.lines());
        let most = (from / FREE_SHARE as usize).max(BACKED_LINES);
        // A disk that is nearly full may have room for a smaller step.
        [most, BACKED_LINES].into_iter().find_map(|step| {
            let to = end.min(from + step.max(lines as usize));
            let wanted = merged.place(from as u32)..merged.place(to as u32);
            let is_backed = to - from >= lines as usize && nvm.back_range(wanted);
            is_backed.then(|| std::mem::replace(&mut self.backed, to))
        })
    }

    fn search(&self, from: usize, end: usize, lines: u32) -> Option<usize> {
        let (mut run, mut at) = (0, from);
        while at < end {
            let free = !self.taken[at / 64] >> (at % 64);
            if free & 1 == 0 {
                // Skip to the next free line, in this word or behind it.
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

/// Leads the finer buckets of `larger` that replace `bucket` to their first records. The caller
/// writes them back. The array may still hold words from a growth that was given up.
fn divide(merged: &Merged<'_>, larger: &Merged<'_>, region: &Region, door: &Door, bucket: usize) {
    let finer = 1 << (larger.bits() - merged.bits());
    let mut records = merged.records(bucket).map(|(_, line)| line).peekable();
    for finer in bucket * finer..(bucket + 1) * finer {
        // A damaged record stays with the records before it.
        let is_its = |line: &u32| !larger.is_foreign(finer, *line);
        let first = records.next_if(is_its);
        while records.next_if(is_its).is_some() {}
        let (at, word) = (larger.bucket_place(finer), first.map_or(NOWHERE, chain_word));
        if larger.bucket_word(finer) != word {
            door.store(Site::Grow, region, at, word);
        }
    }
    debug_assert!(records.next().is_none(), "chains are in the order of hashes");
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;

    use spirit_door::Barrier;
    use spirit_mem::{HeapFile, PinSlot, Residency, Span};

    use super::*;
    use crate::ground::layout::NvmSettings;
    use crate::ground::parts::Parts;
    use crate::ground::term::FieldId;
    use crate::tier::Tier;

    const BYTES: u64 = 4 << 20;

    /// A dictionary in memory, with a file that backs every block.
    pub(crate) struct Sample {
        pub(crate) region: Region,
        nvm: Nvm,
        pins: Pins,
    }

    impl Sample {
        pub(crate) fn new() -> Sample {
            Sample::of(BYTES)
        }

        fn of(bytes: u64) -> Sample {
            let name = format!("spirit-merged-writer-{:?}", std::thread::current().id());
            let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
            let file = Arc::new(HeapFile::create(&path, bytes).unwrap());
            std::fs::remove_file(path).unwrap();
            let layout = NvmLayout::new(
                NvmSettings { bytes, log_bytes: 0, parts: Parts::default() },
                64 << 10,
            );
            let tier = Tier {
                file,
                start: 0,
                door: Door::new(Barrier::Order),
                is_new: true,
                verify: false,
            };
            let region = Region::reserve(bytes, Residency::OnTouch).unwrap();
            let sample = Sample { region, nvm: Nvm::new(layout, tier), pins: Pins::new(2) };
            // The first buckets.
            sample.grow(&mut sample.writer(), 0);
            sample
        }

        pub(crate) fn merged(&self) -> Merged<'_> {
            Merged::new(&self.region, self.nvm.layout())
        }

        fn writer(&self) -> MergedWriter {
            MergedWriter::new(&self.region, self.nvm.layout())
        }

        fn open(&self, oldest: Position) -> MergedWriter {
            MergedWriter::open(&self.region, &self.nvm, &self.pins, oldest)
        }

        /// Returns a writer after entering the terms of numbers below `end`, and the lines of
        /// these.
        pub(crate) fn filled(&self, end: u32) -> (MergedWriter, BTreeMap<u32, u32>) {
            let mut writer = self.writer();
            let lines =
                (0..end).map(|number| (number, self.enter(&mut writer, number, 9).unwrap()));
            let lines = lines.collect();
            (writer, lines)
        }

        /// Enters the term of a number. Its newest posting is in the segment at `newest`.
        fn enter(&self, writer: &mut MergedWriter, number: u32, newest: Position) -> Option<u32> {
            let bytes = bytes(number);
            let term = Term::new(FieldId::TEXT, &bytes)?;
            let (at, next) = self.merged().gap(term.key.hash());
            let head = Link::new(newest, BYTES);
            let line = writer.add(&self.merged(), &self.region, &self.nvm, term, next, head)?;
            self.nvm.door().publish(Site::Enter, &self.region, at, chain_word(line));
            Some(line)
        }

        pub(crate) fn remove(&self, writer: &mut MergedWriter, number: u32, line: u32) {
            let hash = hash(number);
            writer.remove(&self.merged(), &self.region, self.nvm.door(), hash, line);
        }

        fn find(&self, merged: &Merged<'_>, number: u32) -> Option<u32> {
            let bytes = bytes(number);
            merged.find(Term::new(FieldId::TEXT, &bytes).unwrap(), hash(number))
        }

        fn grow(&self, writer: &mut MergedWriter, lines: u64) {
            while writer.grow(&self.region, &self.nvm, &self.pins, lines) {}
        }

        /// Grows for `lines` lines. No chain is cut before the returned reader has left.
        pub(crate) fn grow_beside_a_reader(
            &self,
            writer: &mut MergedWriter,
            lines: u64,
        ) -> PinSlot {
            let reader = self.pins.acquire().unwrap();
            self.pins.pin(&reader);
            self.grow(writer, lines);
            reader
        }

        fn collect(&self, writer: &mut MergedWriter) {
            writer.collect(&self.pins);
        }

        /// Checks the lines of all records, bucket by bucket. Each chain is in order. If it
        /// `is_cut`, it leads to its own records only.
        fn check(&self, expected: &BTreeMap<u32, u32>, is_cut: bool) {
            let merged = self.merged();
            for (number, line) in expected {
                assert_eq!(self.find(&merged, *number), Some(*line), "{number}");
            }
            let mut found = Vec::new();
            for bucket in 0..merged.buckets() {
                let records: Vec<u32> = merged.records(bucket).map(|(_, line)| line).collect();
                let hashes = records.iter().map(|line| merged.key(*line).hash() as u32);
                assert!(hashes.is_sorted());
                assert!(!is_cut || merged.chain(bucket).count() == records.len());
                found.extend(records);
            }
            found.sort_unstable();
            let mut lines: Vec<u32> = expected.values().copied().collect();
            lines.sort_unstable();
            assert_eq!(found, lines);
        }
    }

    /// Returns the term of a number. Every third is a long one.
    fn bytes(number: u32) -> Vec<u8> {
        let text = format!("{number}");
        if number.is_multiple_of(3) { text.repeat(20).into_bytes() } else { text.into_bytes() }
    }

    pub(crate) fn hash(number: u32) -> u64 {
        Term::new(FieldId::TEXT, &bytes(number)).unwrap().key.hash()
    }

    #[test]
    fn a_record_that_a_start_takes_out_leads_on_until_its_readers_have_left() {
        let sample = Sample::new();
        let mut before = sample.writer();
        let merged = sample.merged();
        // Two terms of one bucket. The first in the chain is removed.
        let bucket = |number: &u32| merged.bucket(hash(*number));
        let other = (2..).find(|number| bucket(number) == bucket(&1)).unwrap();
        let mut numbers = [1, other];
        numbers.sort_unstable_by_key(|number| hash(*number) as u32);
        let gone = sample.enter(&mut before, numbers[0], 4).unwrap();
        let young = sample.enter(&mut before, numbers[1], 9).unwrap();

        let reader = sample.pins.acquire().unwrap();
        sample.pins.pin(&reader);
        let mut writer = sample.open(5);
        sample.check(&BTreeMap::from([(numbers[1], young)]), true);
        let lead_on = || {
            let word = Span::<AtomicU64>::new(merged.place(gone), 1);
            sample.region.view(word)[0].load(Relaxed)
        };
        let mut others = other + 1..;
        while sample.enter(&mut writer, others.next().unwrap(), 9).is_some() {}
        assert_eq!(lead_on(), chain_word(young), "a reader that stands there goes on as before");

        sample.pins.unpin(&reader);
        sample.collect(&mut writer);
        assert_eq!(sample.enter(&mut writer, numbers[0], 9), Some(gone), "its line is free");
    }

    #[test]
    fn a_dictionary_that_grows_and_shrinks_finds_what_is_in_it() {
        for seed in 0..6 {
            let sample = Sample::new();
            let (mut writer, mut expected) = (sample.writer(), BTreeMap::new());
            let mut random = 0x9E37_79B9_7F4A_7C15_u64 ^ seed;
            let mut draw = |below: u32| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                ((random >> 33) % u64::from(below)) as u32
            };
            // Crowded chains at first.
            for step in 0..6000 {
                let number = draw(4000);
                match expected.remove(&number) {
                    Some(line) if draw(3) == 0 => {
                        sample.remove(&mut writer, number, line);
                    }
                    Some(line) => drop(expected.insert(number, line)),
                    None => {
                        let line = sample.enter(&mut writer, number, 9).expect("there is room");
                        expected.insert(number, line);
                    }
                }
                match draw(400) {
                    0 => sample.grow(&mut writer, u64::from(draw(6000)) + 1),
                    1 => sample.collect(&mut writer),
                    2 => drop(writer.settle(&sample.pins, &sample.region, &sample.nvm)),
                    3 => writer = sample.open(5),
                    _ => {}
                }
                if step % 500 == 0 {
                    sample.check(&expected, false);
                }
            }
            writer = sample.open(5);
            sample.check(&expected, true);
            sample.grow(&mut writer, u64::MAX >> 1);
            assert_eq!(sample.merged().bits(), sample.nvm.layout().bucket_bits.1);
            sample.check(&expected, false);
            sample.grow(&mut writer, 0);
            sample.check(&expected, true);
            let lines = expected.keys().map(|number| {
                let bytes = bytes(*number);
                let key = Term::new(FieldId::TEXT, &bytes).unwrap().key;
                1 + if key.is_long() { u64::from(long_lines(bytes.len())) } else { 0 }
            });
            assert_eq!(sample.open(5).used(), lines.sum::<u64>());
        }
    }

    /// All of the first lines that the disk backs after a start are taken.
    #[test]
    fn a_dictionary_that_a_start_found_takes_the_next_term() {
        let sample = Sample::of(16 * BYTES);
        // Short terms take one line each, so no line between them stays free.
        let mut numbers = (0..).filter(|number: &u32| !number.is_multiple_of(3));
        let mut writer = sample.writer();
        sample.grow(&mut writer, 4 * BACKED_LINES as u64);
        while writer.used() < 3 * BACKED_LINES as u64 {
            sample.enter(&mut writer, numbers.next().unwrap(), 9).unwrap();
        }
        let mut found = sample.open(5);
        assert!(sample.enter(&mut found, numbers.next().unwrap(), 9).is_some());
    }

    /// A reader from before the growth finds all earlier terms until it has left.
    #[test]
    fn readers_of_the_old_buckets_are_waited_for() {
        let sample = Sample::new();
        let (mut writer, mut expected) = sample.filled(2000);
        let old = sample.merged();
        let reader = sample.grow_beside_a_reader(&mut writer, 4000);
        assert_eq!(sample.merged().buckets(), 4096);
        for number in 0..1000 {
            sample.remove(&mut writer, number, expected.remove(&number).unwrap());
        }
        sample.collect(&mut writer);
        // No removed line may be reused: a chain that is not cut may lead there.
        for number in 2000..2400 {
            expected.insert(number, sample.enter(&mut writer, number, 9).unwrap());
        }
        for (number, line) in expected.range(..2000) {
            assert_eq!(sample.find(&old, *number), Some(*line), "{number}");
        }
        sample.check(&expected, false);
        sample.pins.unpin(&reader);
        sample.grow(&mut writer, 0);
        sample.check(&expected, true);
    }

    #[test]
    fn a_larger_array_that_was_given_up_is_filled_anew() {
        let sample = Sample::new();
        let (mut writer, mut expected) = sample.filled(500);
        let bits = sample.merged().bits() + 2;
        let larger = Merged::of_buckets(&sample.region, sample.nvm.layout(), bits);
        for bucket in 0..sample.merged().buckets() {
            divide(&sample.merged(), &larger, &sample.region, sample.nvm.door(), bucket);
        }
        for number in 0..250 {
            sample.remove(&mut writer, number, expected.remove(&number).unwrap());
        }
        sample.grow(&mut writer, 1 << bits);
        sample.check(&expected, false);
    }
}
