//! What lies where in a file of one executor, read from its bytes as `docs/format.md` says, and by nothing of the engine; and
//! what is promised of a byte that is not what was stored there.

use std::ops::Range;

/// What is promised of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Promise {
    /// A start refuses the file, or uses something that says the same; `check` finds it.
    Refused,
    /// `check` finds it. Answers may be wrong.
    Found,
    /// `check` finds it, or answers are what they were.
    FoundOrHarmless,
    /// Nobody reads it: answers are what they were.
    Harmless,
    /// Nothing covers it: answers may be wrong.
    Uncovered,
}

/// A run of bytes of which the same is promised.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) what: &'static str,
    pub(crate) at: u64,
    pub(crate) len: u64,
    pub(crate) promise: Promise,
}

/// A segment that lives: what its checksums go over.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) slot: u64,
    pub(crate) table: u64,
    /// Kind, start and bytes of each section.
    pub(crate) sections: Vec<(u64, u64, u64)>,
    /// Start and bytes of its blocks.
    pub(crate) blocks: [(u64, u64); 2],
    /// Where the keys of its terms are, if it is not merged.
    pub(crate) keys: Option<u64>,
    /// Where the lines of the merged dictionary begin.
    pub(crate) lines: u64,
}

/// A record of the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogRecord {
    pub(crate) at: u64,
    pub(crate) bytes: u64,
}

/// A file's places.
pub(crate) struct Atlas<'a> {
    bytes: &'a [u8],
    pub(crate) places: Vec<Place>,
    /// The segments that live.
    pub(crate) segments: Vec<Segment>,
    /// Words that lead to records of the merged dictionary.
    pub(crate) chain_words: Vec<u64>,
    /// Those records.
    pub(crate) records: Vec<u64>,
    /// The log's records.
    pub(crate) log_records: Vec<LogRecord>,
    /// What their checksums begin with.
    pub(crate) salt: u32,
    /// Where the executor's part begins.
    part: u64,
    part_bytes: u64,
    log_bytes: u64,
    closed: bool,
}

const PAGE: u64 = 4096;
const ROOT: u64 = 8192;
/// A slot of the list of fields.
const LIST: u64 = 24 * PAGE;
const SLOTS: u64 = 64;
const SLOT: u64 = 256;
const RETIRED: u64 = 6;
const MERGED: u64 = 5;
/// Sections, from kind 1 on.
const SECTIONS: [&str; 19] = [
    "row directory",
    "vector directory",
    "rows",
    "vectors",
    "postings",
    "nodes",
    "term keys",
    "long terms",
    "term hashes",
    "key hashes",
    "lengths",
    "order of terms",
    "columns",
    "death stamps",
    "text index",
    "texts",
    "packed lists",
    "packed terms",
    "page checks",
];

/// A segment's slot.
struct Slot {
    merged: bool,
    at: u64,
}

/// Where the parts of the merged dictionary lie: offsets in the file.
struct DictionaryPlaces {
    count: u64,
    /// All arrays of buckets.
    arrays: Range<u64>,
    /// The array in use.
    buckets: Range<u64>,
    lines: u64,
}

impl<'a> Atlas<'a> {
    /// The places of a file whose executor has the fewest slots there are.
    pub(crate) fn of(bytes: &'a [u8]) -> Atlas<'a> {
        let mut atlas = Atlas {
            bytes,
            places: Vec::new(),
            segments: Vec::new(),
            chain_words: Vec::new(),
            records: Vec::new(),
            log_records: Vec::new(),
            salt: 0,
            part: ROOT + 2 * LIST,
            part_bytes: 0,
            log_bytes: 0,
            closed: false,
        };
        atlas.roots();
        atlas.fields();
        let slots = atlas.slots();
        slots.iter().for_each(|slot| atlas.segment(slot));
        atlas.dictionary();
        atlas.log(slots.iter().map(|slot| atlas.word(slot.at + 8 + 5 * 8)).max().unwrap_or(0));
        atlas
    }

    fn word(&self, at: u64) -> u64 {
        u64::from_le_bytes(self.bytes[at as usize..at as usize + 8].try_into().unwrap())
    }

    fn add(&mut self, what: &'static str, at: u64, len: u64, promise: Promise) {
        if len > 0 {
            self.places.push(Place { what, at, len, promise });
        }
    }

    fn roots(&mut self) {
        // Until an index is opened again, or closed, it has one root.
        let is_first = self.word(PAGE) == 0 || self.word(16) > self.word(PAGE + 16);
        let newest = if is_first { 0 } else { PAGE };
        // Words 2 and on are: generation, incarnation, state, salt, executors, segment, part, log.
        self.closed = self.word(newest + 4 * 8) == 2;
        self.salt = self.word(newest + 5 * 8) as u32;
        self.part_bytes = self.word(newest + 8 * 8);
        self.log_bytes = self.word(newest + 9 * 8);
        for slot in [0, PAGE] {
            self.add("root", slot, 512, Promise::Refused);
            self.add("behind a root", slot + 512, PAGE - 512, Promise::Harmless);
        }
    }

    /// The newest list is that which the root knows of, or comes after it.
    fn fields(&mut self) {
        for slot in [ROOT, ROOT + LIST] {
            let bytes = self.word(slot) & 0xFFFF_FFFF;
            let words = if self.word(slot + 8) > 0 { 2 + bytes.div_ceil(8) } else { 0 };
            self.add("list of fields", slot, words * 8, Promise::Found);
            self.add(
                "behind a list",
                slot + words.max(2) * 8,
                LIST - words.max(2) * 8,
                Promise::Harmless,
            );
        }
    }

    fn slots(&mut self) -> Vec<Slot> {
        let (mut found, mut merged_end) = (Vec::new(), 0);
        for index in 0..SLOTS {
            let at = self.part + index * SLOT;
            let mark = self.word(at);
            self.add("mark", at, 8, Promise::Refused);
            if mark == 0 || mark & 7 == RETIRED {
                continue;
            }
            self.add("slot", at + 8, 29 * 8, Promise::Refused);
            self.add("behind a slot", at + 31 * 8, 8, Promise::Harmless);
            let position = mark >> 3 & 0x7FFF_FFFF;
            if mark & 7 == MERGED {
                merged_end = merged_end.max(position + 1);
            }
            found.push((position, at));
        }
        // A mark that says merged says so of all older segments.
        let slot = |(position, at)| Slot { merged: position < merged_end, at };
        found.into_iter().map(slot).collect()
    }

    fn segment(&mut self, slot: &Slot) {
        let entry = |index: u64| slot.at + 8 + index * 8;
        let [long, sections] = [16, 20].map(|index| self.word(entry(index)));
        let table = self.part + long;
        self.add("section table", table, sections * 24, Promise::Refused);
        let end = table + sections * 24;
        let behind = end.next_multiple_of(64) - end;
        self.add("behind a section table", end, behind, Promise::Harmless);
        let mut found = Vec::new();
        // Of kind 18.
        let are_packed = self.word(table + 17 * 24 + 16) > 0;
        for index in 0..sections {
            let [kind, start, bytes] = [0, 8, 16].map(|at| self.word(table + index * 24 + at));
            let what = SECTIONS[(kind & 0xFFFF_FFFF) as usize - 1];
            let start = self.part + start;
            found.push((kind & 0xFFFF_FFFF, start, bytes));
            match what {
                "term keys" | "long terms" | "term hashes" if slot.merged => {}
                "term keys" | "long terms" | "term hashes" | "row directory"
                | "vector directory" | "page checks" => {
                    self.add(what, start, bytes, Promise::Refused);
                }
                "rows" if are_packed => self.add("packed rows", start, bytes, Promise::Found),
                "rows" => self.rows(start, bytes),
                "death stamps" => self.add(what, start, bytes, Promise::Uncovered),
                "text index" => {
                    self.add("head of a text index", start, bytes.min(24), Promise::Refused);
                    self.add(what, start + 24, bytes.saturating_sub(24), Promise::Found);
                }
                "order of terms" => {
                    self.add("head of an order of terms", start, bytes.min(32), Promise::Refused);
                    self.add(what, start + 32, bytes.saturating_sub(32), Promise::Found);
                }
                "nodes" => self.nodes(start, bytes, slot.merged),
                _ => self.add(what, start, bytes, Promise::Found),
            }
        }
        let blocks = [(16, 17), (18, 19)]
            .map(|(start, bytes)| (self.part + self.word(entry(start)), self.word(entry(bytes))));
        let keys = found.iter().find(|(kind, ..)| *kind == 7 && !slot.merged);
        self.segments.push(Segment {
            slot: slot.at,
            table,
            blocks,
            keys: keys.map(|(_, start, _)| *start),
            lines: self.dictionary_places().lines,
            sections: found,
        });
    }

    /// Where the parts of the merged dictionary lie.
    fn dictionary_places(&self) -> DictionaryPlaces {
        let count = self.part + SLOTS * SLOT + self.log_bytes;
        let rest = self.part_bytes - SLOTS * SLOT - self.log_bytes;
        let most = ((rest / 8 / PAGE * PAGE - 64) / 80).ilog2().min(32);
        let first = most.min(4);
        let array = |bits: u32| count + 64 + ((1 << bits) - (1 << first)) * 8;
        let bits = match self.word(count) as u32 {
            0 => first,
            bits => bits,
        };
        let buckets = array(bits)..array(bits + 1);
        DictionaryPlaces {
            count,
            arrays: array(first)..array(most + 1),
            buckets,
            lines: array(most + 1),
        }
    }

    fn rows(&mut self, start: u64, bytes: u64) {
        for row in (start..start + bytes).step_by(24) {
            self.add("row", row, 12, Promise::Found);
            self.add("death stamp", row + 12, 4, Promise::Uncovered);
            self.add("row", row + 16, 8, Promise::Found);
        }
    }

    fn nodes(&mut self, start: u64, bytes: u64, merged: bool) {
        let fixed = if merged { Promise::Found } else { Promise::Refused };
        for node in (start..start + bytes).step_by(32) {
            let registered = self.word(node + 8) >> 32 > 0;
            let linked = merged && registered;
            // Links and records of a segment that is not merged are written anew before anything relies on them.
            let moving = |yes| if linked { yes } else { Promise::Harmless };
            self.add("link", node, 8, moving(Promise::FoundOrHarmless));
            self.add("node", node + 8, 20, fixed);
            self.add("record of a node", node + 28, 4, moving(Promise::Found));
        }
    }

    fn dictionary(&mut self) {
        let DictionaryPlaces { count, arrays, buckets, lines } = self.dictionary_places();
        let line_at = |line: u64| lines + line * 64;
        self.add("count of buckets", count, 8, Promise::Refused);
        // Zeros are no seal.
        let seal = self.closed && self.word(count + 8) | self.word(count + 16) > 0;
        let sealed = if seal { Promise::Refused } else { Promise::Uncovered };
        self.add("seal", count + 8, 16, sealed);
        self.add("behind the seal", count + 24, 40, Promise::Harmless);
        self.add("smaller arrays", arrays.start, buckets.start - arrays.start, Promise::Harmless);
        // Before the first merge there are no buckets.
        let bucket = if self.word(count) > 0 { Promise::Found } else { Promise::Harmless };
        self.add("bucket", buckets.start, buckets.end - buckets.start, bucket);
        self.add("larger arrays", buckets.end, arrays.end - buckets.end, Promise::Harmless);
        for bucket in buckets.step_by(8) {
            let mut at = bucket;
            // Before the first merge no bucket was ever written.
            while self.word(at) & 0xFFFF_FFFF != 0 {
                self.chain_words.push(at);
                at = line_at((self.word(at) & 0xFFFF_FFFF) - 1);
                // A chain that was not cut goes on with the next bucket's.
                if self.records.contains(&at) {
                    break;
                }
                self.records.push(at);
            }
        }
        for at in self.records.clone() {
            self.add("chain word", at, 8, Promise::Found);
            self.add("head", at + 8, 8, Promise::FoundOrHarmless);
            self.add("record", at + 16, 24, Promise::Found);
            self.add("behind a record", at + 40, 24, Promise::Harmless);
            let high = self.word(at + 24);
            if high >> 60 == 15 {
                let first = line_at(self.word(at + 32) & 0xFFFF_FFFF);
                let len = high & 0xFFFF;
                self.add("long term", first, len, Promise::Found);
                self.add(
                    "behind a long term",
                    first + len,
                    len.next_multiple_of(64) - len,
                    Promise::Harmless,
                );
            }
        }
    }

    /// The records from `position` on. The engine takes one that is not valid for the end, if none comes behind it.
    fn log(&mut self, mut position: u64) {
        let start = self.part + SLOTS * SLOT;
        loop {
            let left = self.log_bytes - position % self.log_bytes;
            if left < 48 {
                position += left;
            }
            let at = start + position % self.log_bytes;
            if self.word(at + 8) != position || self.word(at) == 0 {
                break;
            }
            let bytes = (self.word(at) & 0xFFFF_FFFF) * 8;
            self.log_records.push(LogRecord { at, bytes });
            position += if self.word(at + 16) >> 32 & 0xFF == 4 { left } else { bytes };
        }
        let mut records = self.log_records.clone();
        let last = records.pop();
        for LogRecord { at, bytes } in records {
            self.add("log record", at, bytes, Promise::Refused);
        }
        if let Some(LogRecord { at, bytes }) = last {
            // The seal says where the log ended.
            let known = if self.closed { Promise::Refused } else { Promise::Uncovered };
            self.add("last log record", at, bytes, known);
        }
    }
}
