//! The memory of a desk for the result cache, and what became of its last question.

use spirit_cache::Key;
use spirit_query::{CLAUSES_MAX, Joint, PackedTerms, Query, SortBy, write_key};

use super::ResultCache;
use super::clause_memory::ClauseMemory;
use super::outcome::Outcome;
use super::pair::Pair;
use super::question::{Question, Wanted};

/// Words of the longest key. A larger query is not kept: each look-up compares its key.
const KEY_WORDS: usize = CLAUSES_MAX;
/// Words of a match in a value, and of what comes before the matches, at most.
const MATCH_WORDS: usize = 3;
const EXTRA_WORDS: usize = 160;

/// The bits of a key's first word that name the executor. The lower ones name the kind of question,
/// the upper half the number of matches that are wanted.
const EXECUTOR_SHIFT: u32 = 8;
const EXECUTOR_MASK: u64 = 0xFF << EXECUTOR_SHIFT;

/// The memory of a desk for the result cache.
pub(crate) struct Recall {
    /// The number of the desk's cache.
    pub(super) cache: usize,
    key: Vec<u64>,
    /// The terms of the key, if entries of other questions with these terms may answer it.
    pub(super) terms: Option<PackedTerms>,
    /// The value that is being read or written.
    pub(super) value: Vec<u64>,
    /// The lists of two terms, with room if there is partial matching.
    pub(super) pair: Pair,
    /// Values that are kept once the answer is known to be right, one behind the other, with their
    /// executors and their ends.
    waiting: Vec<u64>,
    ends: Vec<(usize, usize)>,
    /// True if the question allocates anyway.
    may_grow: bool,
    /// Memory for clauses, if there is a cache.
    pub(super) clauses: Option<ClauseMemory>,
    pub(crate) outcome: Outcome,
}

impl Recall {
    /// Reserves the memory for answers of at most `hits_max` matches of some executors, and for
    /// clauses in segments of at most `rows_max` rows. The desk has the cache with this number.
    pub(crate) fn new(
        caches: Option<&ResultCache>,
        cache: usize,
        executors: usize,
        hits_max: usize,
        rows_max: u32,
    ) -> Recall {
        let room = |words| if caches.is_some() { words } else { 0 };
        let value_words = room(hits_max * MATCH_WORDS + EXTRA_WORDS);
        Recall {
            cache,
            terms: None,
            pair: Pair::new(if caches.is_some_and(ResultCache::is_partial) { hits_max } else { 0 }),
            key: Vec::with_capacity(room(KEY_WORDS)),
            value: Vec::with_capacity(value_words),
            waiting: Vec::with_capacity(value_words * executors),
            ends: Vec::with_capacity(room(executors)),
            may_grow: false,
            clauses: caches.map(|_| ClauseMemory::new(rows_max)),
            outcome: Outcome::Off,
        }
    }

    /// Writes the key of a question, and returns its hash. `None` if it is too long.
    pub(super) fn write_key(&mut self, question: Question, query: &Query) -> Option<u64> {
        let (kind, k) = match question {
            Question::Count => (0, 0),
            Question::Newest(k) => (1, k as u64),
            Question::Facets => (2, 0),
            Question::Best { k, proximity: false, .. } => (3, k as u64),
            Question::Best { k, proximity: true, .. } => (6, k as u64),
            Question::First(Wanted { k, .. }) => (4, k as u64),
            Question::Total(_) => (5, 0),
        };
        self.may_grow = question == Question::Facets;
        self.terms = None;
        self.key.clear();
        self.key.push(kind | k << 32);
        let is_scored = match question {
            Question::Best { parameters: [k1, b], .. } => {
                self.key.push(u64::from(k1) << 32 | u64::from(b));
                true
            }
            Question::First(Wanted { by: SortBy { field, kind, direction }, .. }) => {
                self.key.push(u64::from(field.0) | (kind as u64) << 32 | (direction as u64) << 48);
                false
            }
            Question::Total(up_to) => {
                self.key.push(up_to);
                false
            }
            Question::Count | Question::Newest(_) | Question::Facets => false,
        };
        write_key(query, is_scored, &mut self.key).then(|| Key::new(&self.key).hash)
    }

    /// Notes the terms of the key.
    pub(super) fn find_terms(&mut self) {
        self.terms = PackedTerms::find(|at| self.key.get(at + 1).copied());
    }

    /// True if the question is for either of two terms, and its entry is to have both.
    pub(super) fn asks_for_either(&self) -> bool {
        self.terms.is_some_and(|terms| terms.joint == Joint::Any)
    }

    /// Adds another query to the key, and returns the hash of all.
    pub(super) fn add_to_key(&mut self, query: &Query) -> Option<u64> {
        write_key(query, false, &mut self.key).then(|| Key::new(&self.key).hash)
    }

    /// Adds a text to the key, and returns the hash of all.
    pub(super) fn add_text_to_key(&mut self, text: &str) -> Option<u64> {
        let words = text.len().div_ceil(8);
        if self.key.len() + words >= self.key.capacity() {
            return None;
        }
        self.key.push(text.len() as u64);
        self.key.extend(text.as_bytes().chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        }));
        Some(Key::new(&self.key).hash)
    }

    /// Lets the value wait until the answer is known to be right.
    pub(super) fn wait(&mut self, executor: usize) {
        if self.ends.is_empty() && self.waiting.capacity() == self.value.capacity() {
            // A long list is not copied.
            std::mem::swap(&mut self.waiting, &mut self.value);
            return self.ends.push((executor, self.waiting.len()));
        }
        let has_room = self.value.len() <= self.waiting.capacity() - self.waiting.len();
        if has_room || self.may_grow {
            self.waiting.extend(&self.value);
            self.ends.push((executor, self.waiting.len()));
        }
    }

    /// Forgets what waits: the question is asked again, or another one is.
    pub(super) fn forget_waiting(&mut self) {
        self.waiting.clear();
        self.ends.clear();
    }

    /// Takes out all that waits.
    pub(super) fn take_waiting(&mut self, mut take: impl FnMut(Key<'_>, &[u64])) {
        let mut start = 0;
        for number in 0..self.ends.len() {
            let (executor, end) = self.ends[number];
            self.name_executor(executor);
            take(Key::new(&self.key), &self.waiting[start..end]);
            start = end;
        }
        self.forget_waiting();
    }

    fn name_executor(&mut self, executor: usize) {
        self.key[0] = self.key[0] & !EXECUTOR_MASK | (executor as u64) << EXECUTOR_SHIFT;
    }

    /// Returns the key for an executor.
    pub(super) fn key(&mut self, executor: usize) -> Key<'_> {
        self.key_and_value(executor).0
    }

    /// Returns the key for an executor, and the room for its value.
    pub(super) fn key_and_value(&mut self, executor: usize) -> (Key<'_>, &mut Vec<u64>) {
        self.name_executor(executor);
        let Recall { key, value, .. } = self;
        (Key::new(key), value)
    }
}
