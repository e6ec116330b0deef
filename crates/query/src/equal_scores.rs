//! Queries whose matches all score equally: patterns, ranges, and all that has a constant score.
//! Of equals the newest are the best. So one pass finds them, and counts on up to a limit.

use spirit_index::ground::SegmentId;
use spirit_index::snapshot::Snapshot;

use crate::collect::{Address, Collector, Limit};
use crate::plan::Plan;
use crate::query::{Kind, NONE, NodeId, Occur, Query};
use crate::top::{Scored, Top};
use crate::total::Tally;

/// The newest matches, with their score, and the number of all matches up to a limit.
pub(crate) struct EqualScores<'r> {
    pub(crate) top: &'r mut Top,
    pub(crate) tally: Tally,
    pub(crate) snapshot: &'r Snapshot<'r>,
    pub(crate) executor: u32,
    pub(crate) score: f32,
    /// The number of matches that still go to `top`.
    pub(crate) left: usize,
}

impl Limit for EqualScores<'_> {
    fn wanted(&self) -> usize {
        self.left.max(self.tally.wanted())
    }
}

impl Collector for EqualScores<'_> {
    const COUNTS: bool = true;

    fn counts(&self) -> bool {
        self.left == 0
    }

    fn take(&mut self, segment: SegmentId, local: u32) {
        self.tally.take(segment, local);
        if self.left > 0 {
            self.left -= 1;
            let sequence = self.snapshot.of(segment).sequence(local);
            let hit = Address { executor: self.executor, segment, local };
            self.top.offer(Scored { score: self.score, sequence, hit });
        }
    }

    fn skip(&mut self, count: u64) {
        self.tally.skip(count);
    }
}

/// True if all matches of `query` score equally, and windows find them. Then
/// [`newest_of_equals`](crate::newest_of_equals) finds the best.
pub fn has_equal_scores(query: &Query) -> bool {
    let finds_by_windows = || matches!(Plan::of(query, false), Plan::Tree { .. });
    query.root != NONE && scores_equally(query, query.root) && finds_by_windows()
}

fn scores_equally(query: &Query, id: NodeId) -> bool {
    let node = &query.nodes[id as usize];
    match node.kind {
        _ if node.constant => true,
        Kind::Nothing
        | Kind::Blank
        | Kind::Everything
        | Kind::Key(_)
        | Kind::Pattern(_)
        | Kind::PhrasePrefix(_)
        | Kind::Range(_) => true,
        Kind::Term(term) => !query.terms[term as usize].is_word,
        Kind::Phrase { .. } => false,
        // An optional clause adds to the scores of some matches.
        Kind::Clauses { .. } => {
            let is_equal =
                |child: NodeId| query.counts(child, Occur::Must) && scores_equally(query, child);
            node.tie.is_none() && query.scored(id).all(is_equal)
        }
    }
}
