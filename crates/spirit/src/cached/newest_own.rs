//! The newest matches of a question that is answered by its own entry alone. The words of the value
//! are those of [`newest`](super::newest).
//!
//! If all matches of the entry count, they go from there to the hits, behind those of newer segments.
//! Otherwise they are copied first, and looked at one by one.

use std::ops::ControlFlow;

use spirit_cache::Value;
use spirit_index::ground::Position;
use spirit_index::memory::Window;
use spirit_query::{Address, Stop};

use super::footing::{Footing, Stand};
use super::known::Known;
use super::newest::is_renewed;
use super::runs;
use super::{Caller, Candidate, Outcome, Recall, registered_from};

/// What the question's own entry gave.
enum Own {
    /// All matches, which are among the hits. The entry is of these segments.
    Appended(Window),
    /// An entry, whose matches are not read yet.
    There(Head),
}

/// What an entry says of its list.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Head {
    segments: Window,
    /// The number of rows that the snapshot saw.
    seen: u64,
    /// Segments from here on were not rewritten since.
    from: Position,
    /// True if there were more matches than were kept.
    is_cut: bool,
}

impl Candidate<'_> {
    /// Adds the newest matches in registered segments to `hits`, with the question's own entry, until
    /// there are `end`. Those from `first` on are in registered segments.
    pub(super) fn newest_own(
        self,
        (mut caller, footing): (Caller<'_>, Footing),
        (first, end): (usize, usize),
        k: usize,
        hits: &mut Vec<Address>,
        recall: &mut Recall,
    ) -> Result<(), Stop> {
        let window = caller.snapshot.window();
        let mut known = None;
        match self.read_own(&caller, footing, end, hits, recall) {
            None => {}
            Some(Own::Appended(segments)) => {
                self.note_taken(segments, caller.snapshot, Outcome::Hit);
                self.note(Outcome::Hit, recall);
                return Ok(());
            }
            Some(Own::There(head)) if head.segments.end > window.end => {
                return self.newest_anew(caller, (first, end), k, hits, recall);
            }
            Some(Own::There(head)) if caller.counts_whole(head) => {
                let place = (first, end);
                if self.join_own((&mut caller, footing), head, place, k, hits, recall)? {
                    return Ok(());
                }
            }
            Some(Own::There(_)) => {
                let cache = &self.cache.caches[recall.cache];
                let (key, out) = recall.key_and_value(caller.executor);
                known = cache.look_up_again(key, |value| Known::read(footing, value, out));
                known = known.filter(|known| known.segments.end <= window.end);
            }
        }
        self.newest_with(known, (caller, footing), (first, end), k, hits, recall)
    }

    /// Reads the question's own entry. If all of its matches count, no segment is newer, and they are
    /// enough, they are added to `hits`.
    fn read_own(
        self,
        caller: &Caller<'_>,
        footing: Footing,
        end: usize,
        hits: &mut Vec<Address>,
        recall: &mut Recall,
    ) -> Option<Own> {
        let (first, window) = (hits.len(), caller.snapshot.window());
        let cache = &self.cache.caches[recall.cache];
        let key = recall.key(caller.executor);
        let found = cache.look_up(key, |value| {
            let (head, matches) = Head::read(footing, value)?;
            if head.segments.end != window.end || !caller.counts_whole(head) {
                return Some(Own::There(head));
            }
            append_all(matches, caller.executor, end, hits);
            let is_enough = !head.is_cut || hits.len() == end;
            Some(if is_enough { Own::Appended(head.segments) } else { Own::There(head) })
        });
        if !matches!(found, Some(Own::Appended(_))) {
            // Too few, or the entry changed while it was read.
            hits.truncate(first);
        }
        found
    }

    /// Adds the newest matches to `hits`: those of newer segments, and all of the question's own
    /// entry. Returns false if these are too few, or the entry has changed. Then nothing is added.
    fn join_own(
        self,
        (caller, footing): (&mut Caller<'_>, Footing),
        head: Head,
        (first, end): (usize, usize),
        k: usize,
        hits: &mut Vec<Address>,
        recall: &mut Recall,
    ) -> Result<bool, Stop> {
        let window = caller.snapshot.window();
        let newer = registered_from(caller.snapshot, head.segments.end);
        if newer.oldest < newer.end {
            caller.newest_in(&caller.snapshot.within(newer), k, hits)?;
        }
        let cache = &self.cache.caches[recall.cache];
        let is_read = cache.look_up_again(recall.key(caller.executor), |value| {
            let (found, matches) = Head::read(footing, value)?;
            (found == head).then(|| append_all(matches, caller.executor, first + k, hits))
        });
        let is_cut = head.is_cut || hits.len() == first + k;
        if is_read.is_none() || (is_cut && hits.len() < end) {
            hits.truncate(first);
            return Ok(false);
        }
        if is_renewed(hits.len() - first, head.segments, window) {
            self.keep_newest(footing, &hits[first..], is_cut, caller, recall);
        }
        hits.truncate(end);
        self.note_taken(head.segments, caller.snapshot, Outcome::Joined);
        self.note(Outcome::Joined, recall);
        Ok(true)
    }
}

impl Caller<'_> {
    /// True if all matches of an entry count: nothing died, was dropped or was rewritten.
    fn counts_whole(&self, head: Head) -> bool {
        let (Head { segments, seen, from, .. }, window) = (head, self.snapshot.window());
        segments.end <= window.end
            && segments.oldest >= from.max(window.oldest)
            && self.snapshot.has_unchanged(segments, seen.min(self.snapshot.visible()))
    }
}

impl Head {
    /// Reads what an entry says, and its matches.
    fn read<'v>(footing: Footing, value: Value<'v>) -> Option<(Head, Value<'v>)> {
        let Stand { number, from, words } = footing.read(value)?;
        let (segments, seen) = (Window::from_word(words.get(0)?), words.get(1)?);
        Some((Head { segments, seen, from, is_cut: number != 0 }, words.split_at(2).1))
    }
}

/// Adds the matches of an entry to `hits`, until there are `end`.
fn append_all(matches: Value<'_>, executor: usize, end: usize, hits: &mut Vec<Address>) {
    runs::each(matches.iter(), |run| {
        run.append(executor as u32, end.saturating_sub(hits.len()), hits);
        if hits.len() < end { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
}
