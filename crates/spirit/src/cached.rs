//! The result cache: what queries found in registered segments is kept for the next ones.
//!
//! An entry answers a question about the registered segments of one executor up to a position. A
//! query that finds it evaluates newer segments and the fresh one alone, and joins both (paper
//! §4.11). `docs/caches.md` says why the joined answer is the one that an evaluation would give.
//!
//! A question passes three checks, from the cheapest on: its shape, [what it cost
//! lately](spirit_cache::Costs), and its entry.

mod aggregates;
mod best;
mod clause_memory;
mod clauses;
mod counts;
mod first;
mod footing;
mod gather;
mod known;
mod matching;
mod newest;
mod newest_of_either;
mod newest_own;
mod outcome;
mod pair;
mod parts;
mod question;
mod recall;
mod runs;
mod total;

use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use spirit_cache::{CacheConfig, CacheStats, Costs, Fill, Key, Worth};
use spirit_index::memory::Window;
use spirit_index::snapshot::Snapshot;
use spirit_mem::HeapFile;
use spirit_query::{Facet, Query, Scratch, Settings};
use spirit_query::{asks_for_keys, has_quick_count, has_quick_newest};

use crate::config::cache::{Cache, Matching};
use crate::config::error::OpenError;
use crate::config::options::Options;

pub use outcome::{Bypass, Outcome};
pub(crate) use question::{Question, Wanted};
pub(crate) use recall::Recall;

/// What fails on a full disk.
const NO_ROOM: &str = "reserve the result cache there (ask for fewer bytes, or for DRAM)";
/// Newest matches that are found without the cache, if the query is simple. None if partial matching
/// and a cost of zero are asked for.
const NEWEST_MIN: usize = 100;

/// The caches of an index, and what decides which answers they keep.
#[derive(Debug)]
pub(crate) struct ResultCache {
    caches: Box<[spirit_cache::Cache]>,
    costs: Costs,
    settings: Cache,
    /// Newest matches that are found without the cache, if the query is simple.
    newest_min: usize,
    /// Desks so far: each gets the next cache.
    desks: AtomicU64,
    joined: AtomicU64,
    reuse: Reuse,
}

/// Registered segments of questions that had an entry.
#[derive(Debug, Default)]
struct Reuse {
    taken: AtomicU64,
    evaluated: AtomicU64,
}

/// A question that may have an entry.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'c> {
    cache: &'c ResultCache,
    hash: u64,
    worth: Worth,
    /// The begin of an answer that is timed.
    since: Option<Instant>,
}

/// A question to one executor.
pub(crate) struct Caller<'a> {
    /// The number of the view.
    pub(crate) view: u64,
    pub(crate) executor: usize,
    pub(crate) snapshot: &'a Snapshot<'a>,
    pub(crate) query: &'a Query,
    pub(crate) settings: Settings<'a>,
    pub(crate) scratch: &'a mut Scratch,
}

impl ResultCache {
    /// Reserves the caches that the options ask for.
    pub(crate) fn new(options: &Options) -> Result<Option<ResultCache>, OpenError> {
        let Some(settings) = &options.cache else { return Ok(None) };
        let directory = options.directory.as_deref().filter(|_| settings.is_in_second_tier);
        if settings.is_in_second_tier && directory.is_none() {
            return Err(OpenError::NoSecondTier);
        }
        let config = settings.each(options.residency);
        let caches = (0..settings.caches).map(|number| reserve(&config, directory, number));
        Ok(Some(ResultCache {
            caches: caches.collect::<Result<_, _>>()?,
            costs: Costs::default(),
            settings: settings.clone(),
            newest_min: if settings.keeps_all_terms() { 0 } else { NEWEST_MIN },
            desks: AtomicU64::new(0),
            joined: AtomicU64::new(0),
            reuse: Reuse::default(),
        }))
    }

    /// Returns the number of the cache for a new desk.
    pub(crate) fn assign(&self) -> usize {
        self.desks.fetch_add(1, Relaxed) as usize % self.caches.len()
    }

    /// True if entries of other questions may answer one.
    pub(crate) fn is_partial(&self) -> bool {
        self.settings.matching != Matching::Isomorphic
    }

    /// Returns the sizes and counts of all caches.
    pub(crate) fn stats(&self) -> CacheStats {
        let each = self.caches.iter().map(spirit_cache::Cache::stats);
        let mut all = each.fold(CacheStats::default(), |a, b| a + b);
        all.bytes += self.costs.bytes();
        all
    }

    /// Returns the number of answers that were joined from an entry and newer segments.
    pub(crate) fn joined(&self) -> u64 {
        self.joined.load(Relaxed)
    }

    /// Returns the numbers of registered segments that answers took from entries, and that questions
    /// with an entry evaluated.
    pub(crate) fn reuse(&self) -> (u64, u64) {
        (self.reuse.taken.load(Relaxed), self.reuse.evaluated.load(Relaxed))
    }

    /// Returns the question as one that may have an entry, or notes why it has none. Inlined, since
    /// the newest matches are found within a hundred nanoseconds.
    #[inline(always)]
    pub(crate) fn consider(
        &self,
        question: Question,
        query: &Query,
        recall: &mut Recall,
    ) -> Option<Candidate<'_>> {
        let bypass = match question {
            Question::Newest(k) if k <= self.newest_min && has_quick_newest(query) => {
                Bypass::Newest
            }
            Question::Count | Question::Total(_) if has_quick_count(query) => Bypass::OneTerm,
            _ => return self.look_closer(question, query, recall),
        };
        recall.outcome = Outcome::Bypassed(bypass);
        None
    }

    #[inline(never)]
    fn look_closer(
        &self,
        question: Question,
        query: &Query,
        recall: &mut Recall,
    ) -> Option<Candidate<'_>> {
        if asks_for_keys(query) {
            recall.outcome = Outcome::Bypassed(Bypass::Keys);
            return None;
        }
        let hash = recall.write_key(question, query);
        if self.is_partial() && matches!(question, Question::Newest(_)) {
            recall.find_terms();
        }
        self.weigh(hash, recall)
    }

    /// Returns the question of facets as one that may have an entry, or notes why it has none.
    pub(crate) fn consider_facets(
        &self,
        query: &Query,
        facets: &[Facet],
        filters: &[Query],
        recall: &mut Recall,
    ) -> Option<Candidate<'_>> {
        if asks_for_keys(query) || filters.iter().any(asks_for_keys) {
            recall.outcome = Outcome::Bypassed(Bypass::Keys);
            return None;
        }
        // The debug form has all that they ask for.
        let hash = recall.write_key(Question::Facets, query);
        let hash = hash.and_then(|_| recall.add_text_to_key(&format!("{facets:?}")));
        let hash =
            filters.iter().fold(hash, |hash, filter| hash.and_then(|_| recall.add_to_key(filter)));
        self.weigh(hash, recall)
    }

    fn weigh(&self, hash: Option<u64>, recall: &mut Recall) -> Option<Candidate<'_>> {
        let bypass = |why| Err(Outcome::Bypassed(why));
        let weighed = match hash {
            None => bypass(Bypass::Large),
            Some(hash) => match self.worth(hash) {
                Worth::New => bypass(Bypass::New),
                Worth::Cheap => bypass(Bypass::Cheap),
                worth => Ok(Candidate { cache: self, hash, worth, since: None }),
            },
        };
        weighed.inspect_err(|outcome| recall.outcome = *outcome).ok()
    }

    /// Keeps a value of the question with this hash in one of the caches, with its aliases.
    fn fill(
        &self,
        cache: &spirit_cache::Cache,
        key: Key<'_>,
        (value, aliases): (&[u64], &[u64]),
        hash: u64,
    ) {
        if matches!(cache.fill_as(key, value, aliases), Fill::TooLarge | Fill::NoRoom) {
            // It would be made again and again.
            self.costs.note(hash, false);
        }
    }

    fn worth(&self, hash: u64) -> Worth {
        if self.settings.cost_min.is_zero() { Worth::Worth } else { self.costs.ask(hash) }
    }
}

impl Candidate<'_> {
    /// Begins the answer. Returns true if the question is worth an entry. Otherwise the answer is
    /// timed until its [end](Self::end).
    pub(crate) fn begin(&mut self, recall: &mut Recall) -> bool {
        let is_worth = self.worth == Worth::Worth;
        recall.outcome = match is_worth {
            true => Outcome::Hit,
            false => Outcome::Bypassed(Bypass::Timed),
        };
        self.since = (!is_worth).then(Instant::now);
        recall.forget_waiting();
        is_worth
    }

    /// Ends an answer, and notes whether it took long enough for an entry.
    pub(crate) fn end(&self) {
        if let Some(since) = self.since {
            self.cache.costs.note(self.hash, since.elapsed() >= self.cache.settings.cost_min);
        }
    }

    /// Keeps what waits for it. The caller knows by now that the answer is right: no damaged page was
    /// read, and no memory that a writer in another process has reused.
    pub(crate) fn keep(&self, recall: &mut Recall) {
        let (cache, terms) = (&self.cache.caches[recall.cache], recall.terms);
        let matching = self.cache.settings.matching;
        recall.take_waiting(|key, value| {
            let aliases = terms.map(|terms| matching::aliases(key.words, terms, matching));
            let (aliases, count) = aliases.unwrap_or_default();
            self.cache.fill(cache, key, (value, &aliases[..count]), self.hash);
        });
    }

    /// Notes how many registered segments a question took from an entry of these, by what became of
    /// it. The others were evaluated.
    fn note_taken(&self, segments: Window, snapshot: &Snapshot<'_>, outcome: Outcome) {
        let Window { oldest, end } = snapshot.window();
        let taken = match outcome {
            Outcome::Missed => 0,
            _ => segments.end.saturating_sub(oldest),
        };
        self.note_segments(taken, (end - oldest).saturating_sub(taken));
    }

    /// Notes how many registered segments a question with an entry took from it, and evaluated.
    fn note_segments(&self, taken: u32, evaluated: u32) {
        let Reuse { taken: all_taken, evaluated: all_evaluated } = &self.cache.reuse;
        all_taken.fetch_add(u64::from(taken), Relaxed);
        all_evaluated.fetch_add(u64::from(evaluated), Relaxed);
    }

    /// Notes what became of the question.
    fn note(&self, outcome: Outcome, recall: &mut Recall) {
        // Of several executors, the one whose part took most counts.
        recall.outcome = match (recall.outcome, outcome) {
            (Outcome::Approximate, _) | (_, Outcome::Approximate) => Outcome::Approximate,
            (Outcome::Missed, _) | (_, Outcome::Missed) => Outcome::Missed,
            (Outcome::Joined, _) | (_, Outcome::Joined) => Outcome::Joined,
            _ => outcome,
        };
        if outcome == Outcome::Joined {
            self.cache.joined.fetch_add(1, Relaxed);
        }
    }
}

/// Reserves one cache, in DRAM or in a file. The file has no name any more when this returns, so
/// that nothing of it is left after a crash. A crash before that leaves the name to the next start.
fn reserve(
    config: &CacheConfig,
    directory: Option<&Path>,
    number: usize,
) -> Result<spirit_cache::Cache, OpenError> {
    let Some(directory) = directory else { return Ok(spirit_cache::Cache::new(config, None)?) };
    let bytes = config.file_bytes()?;
    let path = directory.join(format!("cache-{number}"));
    remove(&path)?;
    let file = HeapFile::create(&path, bytes)?;
    // A store to a page without a disk block would kill the process.
    let made = file.reserve(0, bytes).map_err(|error| match OpenError::from(error) {
        OpenError::File { path, reason, .. } => OpenError::File { path, action: NO_ROOM, reason },
        error => error,
    });
    let made = made.and_then(|()| Ok(spirit_cache::Cache::new(config, Some(&file))?));
    remove(&path)?;
    made
}

/// Removes a name, unless another process has done so: its own file of that name stays.
fn remove(path: &Path) -> Result<(), OpenError> {
    match std::fs::remove_file(path) {
        Err(reason) if reason.kind() != ErrorKind::NotFound => {
            Err(OpenError::File { path: path.to_owned(), action: "remove it", reason })
        }
        _ => Ok(()),
    }
}

/// Returns the registered segments of a snapshot from a position on.
fn registered_from(snapshot: &Snapshot<'_>, oldest: u32) -> Window {
    Window { oldest, ..snapshot.window() }
}
