//! The newest matches, with those that are known of registered segments.
//!
//! | words of the value | |
//! |---|---|
//! | 0, 1 | [footing](super::footing), with 1 if there were more matches than were kept |
//! | 2 | first position (high half) and end (low half) of the segments |
//! | 3 | number of rows that the snapshot saw |
//! | the rest | the matches, newest first, in [runs](super::runs) |
//!
//! A death takes a match out of the list, and a rewrite takes out those of its segments. Then the
//! list may have too few, though there are more: all is evaluated again. Dropped segments are the
//! oldest ones. So if the list reaches into one, it has all matches of the others.

use std::ops::ControlFlow;

use spirit_cache::Found;
use spirit_index::memory::Window;
use spirit_index::snapshot::Snapshot;
use spirit_query::{Address, Joint, Query, Stop};

use super::footing::Footing;
use super::known::{Known, KnownPair};
use super::matching::Sought;
use super::runs;
use super::{Caller, Candidate, Outcome, Recall, registered_from};

/// Matches of a list that is kept again for each new segment.
const SHORT_LIST: usize = 256;
/// A long one is kept again once it lacks this share of the segments.
const RENEWED_SHARE: u32 = 16;

/// What the cache gave. The words of the matches are in the desk's value.
enum Given {
    /// A list.
    List(Known),
    /// A list of each of two terms.
    Pair(KnownPair),
}

/// What an entry gave.
struct Listed {
    /// True if the segments that are left may have more matches.
    is_cut: bool,
}

impl Candidate<'_> {
    /// Adds the newest `k` matches of an executor to `hits`.
    pub(crate) fn newest(
        self,
        mut caller: Caller<'_>,
        k: usize,
        hits: &mut Vec<Address>,
        recall: &mut Recall,
    ) -> Result<(), Stop> {
        let footing = Footing::new(caller.view, caller.snapshot);
        let end = hits.len() + k;
        caller.newest_fresh(k, hits)?;
        let place = (hits.len(), end);
        if recall.terms.is_none() {
            return self.newest_own((caller, footing), place, k, hits, recall);
        }
        let given = self.read(caller.executor, footing, recall);
        let segments = given.as_ref().map(Given::segments);
        if segments.is_some_and(|segments| segments.end > caller.snapshot.window().end) {
            return self.newest_anew(caller, place, k, hits, recall);
        }
        let known = match given {
            Some(Given::Pair(known)) => {
                let known = Some(known);
                return self.newest_of_either(known, (caller, footing), place, k, hits, recall);
            }
            Some(Given::List(known)) if known.is_approximate => {
                if self.newest_roughly(known, &mut caller, place, k, hits, recall)? {
                    return Ok(());
                }
                None
            }
            Some(Given::List(known)) => Some(known),
            None => None,
        };
        match recall.asks_for_either() {
            true => self.newest_of_either(None, (caller, footing), place, k, hits, recall),
            false => self.newest_with(known, (caller, footing), place, k, hits, recall),
        }
    }

    /// Adds the newest matches in registered segments to `hits` without an entry: another thread's
    /// snapshot was newer than this one.
    pub(super) fn newest_anew(
        self,
        mut caller: Caller<'_>,
        (first, end): (usize, usize),
        k: usize,
        hits: &mut Vec<Address>,
        recall: &mut Recall,
    ) -> Result<(), Stop> {
        self.note(Outcome::Missed, recall);
        caller.newest_registered(None, end - first, k, hits)?;
        hits.truncate(end);
        Ok(())
    }

    /// Adds the newest matches in registered segments to `hits`, as far as another question's entry
    /// has them. Returns false if it has none. Then nothing is added.
    fn newest_roughly(
        self,
        known: Known,
        caller: &mut Caller<'_>,
        (first, end): (usize, usize),
        k: usize,
        hits: &mut Vec<Address>,
        recall: &mut Recall,
    ) -> Result<bool, Stop> {
        let newer = registered_from(caller.snapshot, known.segments.end);
        if newer.oldest < newer.end {
            caller.newest_in(&caller.snapshot.within(newer), k, hits)?;
        }
        let before = hits.len();
        if before >= end {
            // All are newer than the entry, so none is missing.
            hits.truncate(end);
            self.note(Outcome::Joined, recall);
            return Ok(true);
        }
        caller.append(known, &recall.value, first + k, hits);
        let has_any = hits.len() > before;
        hits.truncate(if has_any { end } else { first });
        if has_any {
            self.note(Outcome::Approximate, recall);
        }
        Ok(has_any)
    }

    /// Adds the newest matches in registered segments to `hits`, with what is known of them, until
    /// there are `end`. Those from `first` on are in registered segments.
    pub(super) fn newest_with(
        self,
        known: Option<Known>,
        (mut caller, footing): (Caller<'_>, Footing),
        (first, end): (usize, usize),
        k: usize,
        hits: &mut Vec<Address>,
        recall: &mut Recall,
    ) -> Result<(), Stop> {
        let with_words = known.map(|known| (known, &recall.value[..]));
        let (outcome, is_cut) = caller.newest_registered(with_words, end - first, k, hits)?;
        if let Some(known) = known {
            self.note_taken(known.segments, caller.snapshot, outcome);
        }
        let is_kept = match (outcome, known) {
            (Outcome::Joined, Some(known)) => {
                is_renewed(hits.len() - first, known.segments, caller.snapshot.window())
            }
            (outcome, _) => outcome != Outcome::Hit,
        };
        if is_kept {
            self.keep_newest(footing, &hits[first..], is_cut, &caller, recall);
        }
        hits.truncate(end);
        self.note(outcome, recall);
        Ok(())
    }

    /// Reads the matches of an entry: the question's, or that of another one that has its term. The
    /// question's terms are known.
    fn read(self, executor: usize, footing: Footing, recall: &mut Recall) -> Option<Given> {
        let cache = &self.cache.caches[recall.cache];
        let terms = recall.terms?;
        let (key, out) = recall.key_and_value(executor);
        let sought = Sought::by(key.words, terms, self.cache.settings.matching);
        cache.look_up_any(key, sought.aliases(), |found| match found {
            Found::Own(value) if terms.joint == Joint::Any => {
                KnownPair::read(footing, value, out).map(Given::Pair)
            }
            Found::Own(value) => Known::read(footing, value, out).map(Given::List),
            Found::Other { alias, key: other, value } => {
                let shared = sought.share(alias, (key.words, terms), other)?;
                Known::read_shared(shared, terms.joint, footing, value, out).map(Given::List)
            }
        })
    }

    /// Keeps the newest matches of all registered segments.
    pub(super) fn keep_newest(
        self,
        footing: Footing,
        found: &[Address],
        is_cut: bool,
        caller: &Caller<'_>,
        recall: &mut Recall,
    ) {
        if (found.len() as u64) < self.cache.settings.matches_min {
            return;
        }
        let out = &mut recall.value;
        out.clear();
        footing.write(u32::from(is_cut), out);
        out.extend([caller.snapshot.window().word(), caller.snapshot.visible()]);
        runs::write(found, out);
        recall.wait(caller.executor);
    }
}

/// True if an entry of these segments is kept again with all of the window. To write a long list
/// takes longer than to evaluate a few segments.
pub(super) fn is_renewed(matches: usize, segments: Window, window: Window) -> bool {
    let [all, newer] = [window.end - window.oldest, window.end - segments.end];
    matches <= SHORT_LIST || newer * RENEWED_SHARE >= all
}

impl Given {
    fn segments(&self) -> Window {
        match self {
            Given::List(known) => known.segments,
            Given::Pair(known) => known.segments(),
        }
    }
}

impl<'a> Caller<'a> {
    /// Returns the same caller with another query.
    pub(super) fn with<'b>(&'b mut self, query: &'b Query) -> Caller<'b>
    where
        'a: 'b,
    {
        let Caller { view, executor, snapshot, settings, .. } = *self;
        Caller { view, executor, snapshot, query, settings, scratch: self.scratch }
    }

    /// Adds the newest `k` matches in fresh segments.
    fn newest_fresh(&mut self, k: usize, hits: &mut Vec<Address>) -> Result<(), Stop> {
        match self.snapshot.fresh().next() {
            Some(_) => self.newest_in(&self.snapshot.since(self.snapshot.window().end), k, hits),
            None => Ok(()),
        }
    }

    /// Adds the newest matches in registered segments to `hits`: at least `wanted` and at most `k` if
    /// there are as many. What is known of them must not reach behind the snapshot's window. Returns
    /// what became of that, and whether there may be more.
    pub(super) fn newest_registered(
        &mut self,
        known: Option<(Known, &[u64])>,
        wanted: usize,
        k: usize,
        hits: &mut Vec<Address>,
    ) -> Result<(Outcome, bool), Stop> {
        let first = hits.len();
        if let Some((known, words)) = known {
            let newer = registered_from(self.snapshot, known.segments.end);
            let is_newer = newer.oldest < newer.end;
            if is_newer {
                self.newest_in(&self.snapshot.within(newer), k, hits)?;
            }
            let Listed { is_cut } = self.append(known, words, first + k, hits);
            if !is_cut || hits.len() - first >= wanted {
                return Ok((if is_newer { Outcome::Joined } else { Outcome::Hit }, is_cut));
            }
            hits.truncate(first);
        }
        self.newest_in(&self.snapshot.within(self.snapshot.window()), k, hits)?;
        Ok((Outcome::Missed, hits.len() - first == k))
    }

    pub(super) fn newest_in(
        &mut self,
        snapshot: &Snapshot<'_>,
        k: usize,
        hits: &mut Vec<Address>,
    ) -> Result<(), Stop> {
        let (query, settings, executor) = (self.query, self.settings, self.executor as u32);
        spirit_query::newest(snapshot, query, settings, self.scratch, executor, k, hits)
    }

    /// Adds the matches of an entry that live and whose segments are there, until there are `end`
    /// hits.
    fn append(&self, known: Known, matches: &[u64], end: usize, hits: &mut Vec<Address>) -> Listed {
        let (snapshot, executor) = (self.snapshot, self.executor as u32);
        let oldest = snapshot.window().oldest;
        let mut listed = Listed { is_cut: known.is_cut };
        runs::each(matches.iter().copied(), |run| {
            let segment = run.segment;
            if hits.len() >= end || segment.position() < known.from {
                listed.is_cut = true;
                return ControlFlow::Break(());
            }
            if segment.position() < oldest {
                listed.is_cut = false;
                return ControlFlow::Break(());
            }
            let (found, room) = (snapshot.of(segment), end - hits.len());
            if !found.has_dead() {
                run.append(executor, room, hits);
                return ControlFlow::Continue(());
            }
            let living = run.filter(|local| !found.is_dead(*local));
            hits.extend(living.map(|local| Address { executor, segment, local }).take(room));
            ControlFlow::Continue(())
        });
        // There may be more of the last run.
        listed.is_cut |= hits.len() == end;
        listed
    }
}
