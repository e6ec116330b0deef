//! The bugs in what ranks: scores, bounds, and what is passed over because of them.
//! What [`bugs`](super::bugs) says holds here too.

use super::bug::{Bug, Tests};
use super::bugs::tests;
use super::query_bugs::of_query;

const RANK: Tests = of_query("rank");
const TOP: Tests = of_query("top");
const BEST_OF_PACKED: Tests = tests("-p spirit --test best", "of_packed_lists");
const BEST: Tests = tests("-p spirit --test best", "of_all_that_is_added");
const LIST_ENDS: Tests = tests("-p spirit --test packed", "lists_that_end_with_a_block");

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "repeated-once",
        what: "a term that a query says twice is worth as much as one that it says once",
        file: "crates/query/src/repeated.rs",
        old: "node.boost = (node.boost + boost).min(f32::MAX);",
        new: "node.boost = node.boost.max(boost);",
        found_by: tests("-p spirit --test oracle", "one_executor_is_the_naive_index"),
    },
    Bug {
        name: "repeated-counted",
        what: "of clauses that are counted those that say the same count once",
        file: "crates/query/src/repeated.rs",
        old: "Kind::Clauses { minimum: 0 | 1 }",
        new: "Kind::Clauses { .. }",
        found_by: of_query("a_repeated_term_stands_once"),
    },
    Bug {
        name: "required-too-soon",
        what: "a term is required without which others are enough",
        file: "crates/query/src/evaluate/rank/any.rs",
        old: "without(*own) * MORE <= limit",
        new: "without(*own) * 0.7 <= limit",
        found_by: BEST,
    },
    Bug {
        name: "met-lost-between",
        what: "of documents that have all terms one is lost where there is no room for more",
        file: "crates/query/src/evaluate/rank/met.rs",
        old: "for ((to, sum), rank) in self.ranks.iter_mut().zip(&mut self.sums).zip(ranks) {",
        new: "for (rank, (to, sum)) in ranks.zip(self.ranks.iter_mut().zip(&mut self.sums)) {",
        found_by: BEST,
    },
    Bug {
        name: "met-parts-left",
        what: "what one list adds to a score is another document's",
        file: "crates/query/src/evaluate/rank/met.rs",
        old: "part.0[kept] = part.0[at];",
        new: "let _ = part;",
        found_by: BEST,
    },
    Bug {
        name: "looked-up-from",
        what: "postings before where a list is are not counted",
        file: "crates/kernel/src/look_up.rs",
        old: "from.wrapping_sub(before.count_ones() as usize)",
        new: "from",
        found_by: tests("-p spirit-kernel --test bitmap", "looked_up"),
    },
    Bug {
        name: "lengths-too-close",
        what: "blocks are passed over by lengths that differ by less than rounding",
        file: "crates/query/src/rank.rs",
        old: "const SLACK: f32 = 1e-5;",
        new: "const SLACK: f32 = 0.0;",
        found_by: tests("-p spirit-query --lib", "rank"),
    },
    Bug {
        name: "bound-rounded",
        what: "a block's bound may be one bit below a score in it",
        file: "crates/query/src/rank.rs",
        old: "if is_apart { score } else { (score * ROUNDED).min(bm25.weight) }",
        new: "score",
        found_by: RANK,
    },
    Bug {
        name: "weight-endless",
        what: "what is boosted beyond all numbers is no number",
        file: "crates/query/src/rank.rs",
        old: "((f64::from(boost) * idf) as f32).min(f32::MAX)",
        new: "(f64::from(boost) * idf) as f32",
        found_by: tests("-p spirit --test ends", "scores_that_are_too_large"),
    },
    Bug {
        name: "floor-of-most",
        what: "what was joined of two postings passes for a document",
        file: "crates/query/src/evaluate/rank/floor.rs",
        old: "maxima.are_postings() && self.gate.is_open(word)",
        new: "self.gate.is_open(word)",
        found_by: of_query("floor"),
    },
    Bug {
        name: "ties-of-executors",
        what: "of two that score the same in two executors the newer is left out",
        file: "crates/query/src/top.rs",
        old: "Some((worst, true)) => worst.score.next_down()",
        new: "Some((worst, true)) => worst.score",
        found_by: TOP,
    },
    Bug {
        name: "last-hit-again",
        what: "a page begins with the last hit of the page before",
        file: "crates/query/src/top.rs",
        old: "found.place() >= after)",
        new: "found.place() > after)",
        found_by: TOP,
    },
    Bug {
        name: "packed-seek",
        what: "a search goes on in the next block where it was in the one before",
        file: "crates/query/src/evaluate/rank/lists.rs",
        old: "if block == first { from } else { 0 }",
        new: "from",
        found_by: BEST_OF_PACKED,
    },
    Bug {
        name: "floor-of-page",
        what: "what the best of all score at least is asked of the next page too",
        file: "crates/query/src/top.rs",
        old: "self.after.is_none().then_some(self.k)",
        new: "Some(self.k)",
        found_by: BEST,
    },
    Bug {
        name: "floor-itself",
        what: "documents are left out that score as much as is promised, and no more",
        file: "crates/query/src/evaluate/rank/floor.rs",
        old: "(self.highest[self.lowest] / MORE).next_down()",
        new: "self.highest[self.lowest] * MORE",
        found_by: LIST_ENDS,
    },
    Bug {
        name: "faded-oldest",
        what: "a segment is passed over by the age of its oldest document",
        file: "crates/query/src/evaluate/rank/fade.rs",
        old: "column.map(|column| column.max())",
        new: "column.map(|column| column.min())",
        found_by: tests("-p spirit --test ranges", "pages_fade"),
    },
    Bug {
        name: "required-missing",
        what: "among the best are documents without a term that is required",
        file: "crates/query/src/evaluate/rank/lists_in_turn.rs",
        old: "*left &= of_group.fold(0, |has, list| has | shared[*list][number]);",
        new: "*left &= of_group.fold(u64::MAX, |has, list| has | shared[*list][number]);",
        found_by: BEST,
    },
    Bug {
        name: "turn-twice",
        what: "a document is among the best once for each of its terms",
        file: "crates/query/src/evaluate/rank/lists_in_turn.rs",
        old: "*left &= if number < turn.number { !bits } else { u64::MAX };",
        new: "*left &= if number + 1 < turn.number { !bits } else { u64::MAX };",
        found_by: BEST,
    },
    Bug {
        name: "several-beside",
        what: "what has several essential terms is held to what the heaviest of them is worth alone",
        file: "crates/query/src/evaluate/rank/any.rs",
        old: "        [highest + next, all]",
        new: "        [highest, all]",
        found_by: BEST,
    },
    Bug {
        name: "bar-undivided",
        what: "of 16 postings none is looked at whose score is a little above the bar",
        file: "crates/kernel/src/bm25.rs",
        old: "if needed > 0.0 { self.weight / needed * (1.0 + SLACK) }",
        new: "if needed > 0.0 { self.weight / needed * (1.0 - 0.01) }",
        found_by: tests("-p spirit-kernel --test score", ""),
    },
];
