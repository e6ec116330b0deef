//! Clauses: the documents of a registered segment that a part of a query matches.
//!
//! A question that differs each time, such as one with a time that moves, has no entry. Its clauses
//! may have: each has an entry for each segment. So a dashboard pays for what moved. Questions that
//! have an entry of their own do not use the entries of their clauses, and make none.
//!
//! | words of the value | |
//! |---|---|
//! | 0, 1 | [footing](super::footing), with 1 if the documents are listed |
//! | 2 | number of rows of the segment (high half) and of matches (low half) |
//! | the rest | a bit for each row, the newest first; or the numbers of these bits, two a word, the first in the low half |
//!
//! Documents are listed if this takes less room. They may be dead: the evaluator looks at that.
//!
//! A process that only reads makes no entries, since the memory that it reads may be reused
//! meanwhile. It would know of that only at the end.

use std::cell::Cell;
use std::fmt;

use spirit_cache::{Key, Value, Worth};
use spirit_index::ground::damage;
use spirit_query::{ClauseAt, ClauseBits, ClauseStore, KEPT_CLAUSES_MAX, KeptClauses, Query};
use spirit_query::{Settings, asks_for_keys};

use super::clause_memory::ClauseMemory;
use super::footing::{Footing, Stand};
use super::{Outcome, Recall, ResultCache};
use crate::storage::view::View;

/// The first word of a clause's key. Those of questions have lower kinds.
const KIND: u64 = 255;
/// The entries of one question's clauses.
struct Clauses<'c> {
    cache: &'c ResultCache,
    /// The desk's cache.
    entries: &'c spirit_cache::Cache,
    view: u64,
    /// True if entries may be made.
    fills: bool,
    memory: &'c ClauseMemory,
    worth: [Worth; KEPT_CLAUSES_MAX],
    /// The clauses of which a bitmap was made, a bit each, and those that took long.
    made: Cell<u32>,
    costly: Cell<u32>,
    /// The number of bitmaps that were found.
    found: Cell<u32>,
}

impl ResultCache {
    /// Evaluates a question that has no entry of its own, with the entries of its clauses.
    pub(crate) fn with_clauses<T>(
        &self,
        view: &View,
        query: &Query,
        settings: Settings<'_>,
        recall: &mut Recall,
        evaluate: impl FnOnce(Settings<'_>) -> T,
    ) -> T {
        let Some(memory) = recall.clauses.as_mut().filter(|_| !asks_for_keys(query)) else {
            return evaluate(settings);
        };
        memory.clauses.fill(query);
        if memory.clauses.is_empty() {
            return evaluate(settings);
        }
        let mut clauses = Clauses {
            cache: self,
            entries: &self.caches[recall.cache],
            view: view.number,
            fills: !view.follows(),
            memory,
            worth: [Worth::New; KEPT_CLAUSES_MAX],
            made: Cell::new(0),
            costly: Cell::new(0),
            found: Cell::new(0),
        };
        clauses.weigh();
        let answer = evaluate(Settings { clauses: Some(&clauses), ..settings });
        clauses.note_cheap();
        if clauses.found.get() > 0 && matches!(recall.outcome, Outcome::Bypassed(_)) {
            recall.outcome = Outcome::Clauses;
        }
        answer
    }
}

impl Clauses<'_> {
    fn weigh(&mut self) {
        for number in 0..self.memory.clauses.len() {
            self.worth[number] = self.cache.worth(self.hash(number));
        }
    }

    /// Notes the clauses whose bitmaps are not worth entries.
    fn note_cheap(&self) {
        for number in 0..self.memory.clauses.len() {
            let is_cheap = self.made.get() & !self.costly.get() & 1 << number != 0;
            if is_cheap && self.worth[number] == Worth::Untimed {
                self.cache.costs.note(self.hash(number), false);
            }
        }
    }

    /// Returns the hash of a clause, whatever the segment.
    fn hash(&self, number: usize) -> u64 {
        Key::new(self.memory.clauses.key(number)).hash.wrapping_add(KIND)
    }

    /// Returns the key of a clause in a segment. `None` if it is too long.
    fn key<'r>(&self, at: &ClauseAt<'_>, key: &'r mut Vec<u64>) -> Option<Key<'r>> {
        let clause = self.memory.clauses.key(at.number);
        // The executor has its memory alone, which stays as long as the view.
        let executor = std::ptr::from_ref(at.snapshot.memory()).addr() as u64;
        key.clear();
        if clause.len() + 2 > key.capacity() {
            return None;
        }
        key.extend([KIND | u64::from(at.segment.id().0) << 32, executor]);
        key.extend(clause);
        Some(Key::new(key))
    }
}

impl ClauseStore for Clauses<'_> {
    fn clauses(&self) -> &KeptClauses {
        &self.memory.clauses
    }

    fn wants(&self, number: usize) -> bool {
        self.fills && matches!(self.worth[number], Worth::Worth | Worth::Untimed)
    }

    fn find(&self, at: ClauseAt<'_>, bits: &mut [u64]) -> Option<u32> {
        if self.worth[at.number] != Worth::Worth {
            return None;
        }
        let room = &mut *self.memory.room.borrow_mut();
        let footing = Footing::new(self.view, at.snapshot);
        let key = self.key(&at, &mut room.key)?;
        let count = self.entries.look_up(key, |value| {
            let Stand { number, from, words } = footing.read(value)?;
            let (sizes, words) = (words.get(0)?, words.split_at(1).1);
            let is_of_segment =
                at.segment.id().position() >= from && sizes >> 32 == u64::from(at.segment.rows());
            is_of_segment.then_some(())?;
            if number == 0 {
                copy(words, bits)
            } else {
                set_listed(words, bits)
            };
            Some(sizes as u32)
        });
        self.found.set(self.found.get() + u32::from(count.is_some()));
        count
    }

    fn keep(&self, at: ClauseAt<'_>, made: ClauseBits<'_>) {
        let (clause, is_costly) = (1 << at.number, made.took >= self.cache.settings.cost_min);
        self.made.set(self.made.get() | clause);
        // Bits of a damaged page are wrong.
        if !is_costly || damage::is_any() {
            return;
        }
        if self.costly.get() & clause == 0 && self.worth[at.number] == Worth::Untimed {
            self.cache.costs.note(self.hash(at.number), true);
        }
        self.costly.set(self.costly.get() | clause);
        let room = &mut *self.memory.room.borrow_mut();
        write(Footing::new(self.view, at.snapshot), &at, &made, &mut room.value);
        if let Some(key) = self.key(&at, &mut room.key) {
            self.cache.fill(self.entries, key, (&room.value, &[]), self.hash(at.number));
        }
    }
}

fn copy(words: Value<'_>, bits: &mut [u64]) {
    bits.fill(0);
    bits.iter_mut().zip(words.iter()).for_each(|(to, from)| *to = from);
}

/// Sets the bits that are listed. The words may be of any entry.
fn set_listed(words: Value<'_>, bits: &mut [u64]) {
    bits.fill(0);
    for word in words.iter() {
        for bit in [word as u32, (word >> 32) as u32] {
            if let Some(to) = bits.get_mut(bit as usize / 64) {
                *to |= 1 << (bit % 64);
            }
        }
    }
}

fn write(footing: Footing, at: &ClauseAt<'_>, made: &ClauseBits<'_>, out: &mut Vec<u64>) {
    let ClauseBits { bits, count, .. } = *made;
    let is_listed = (count as usize).div_ceil(2) < bits.len();
    out.clear();
    footing.write(u32::from(is_listed), out);
    out.push(u64::from(at.segment.rows()) << 32 | u64::from(count));
    if !is_listed {
        return out.extend(bits);
    }
    let mut listed = ones(bits);
    while let Some(first) = listed.next() {
        // An odd number of them ends with one twice.
        let second = listed.next().unwrap_or(first);
        out.push(u64::from(second) << 32 | u64::from(first));
    }
}

/// Yields the numbers of the set bits.
fn ones(bits: &[u64]) -> impl Iterator<Item = u32> + '_ {
    (0u32..).zip(bits).flat_map(|(at, word)| {
        let mut left = *word;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros();
            (left != 0).then(|| {
                left &= left - 1;
                at * 64 + bit
            })
        })
    })
}

impl fmt::Debug for Clauses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clauses").field("found", &self.found).finish_non_exhaustive()
    }
}
