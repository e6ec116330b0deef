//! The bugs in caches: which answers still count, what is kept, policies, allocators, and reading without a lock.
//! What [`bugs`](super::bugs) says holds here too.

use super::bug::{Bug, Tests};
use super::bugs::tests;

const IN_MEMORY: Tests = tests("-p spirit --test answers", "cached::in_memory");
const REWRITTEN: Tests = tests("-p spirit --test answers", "cached::while_segments_are_rewritten");
const DROPPED: Tests =
    tests("-p spirit --test answers", "cached::while_the_oldest_segments_are_dropped");
const CLAUSES: Tests = tests("-p spirit --test answers", "cached::clauses");
const IN_ORDER: Tests =
    tests("-p spirit --test answers", "cached::a_list_in_order_that_lost_a_match");
const SUM: Tests = tests("-p spirit --test answers", "cached::the_sum_of_facets_is_that");
const OWN: Tests = tests("-p spirit --test answers", "cached::each_of_two_readers_has_a_cache");
const REFUSED: Tests = tests("-p spirit --test files", "verified::a_zeroed_page");
const SHORTER: Tests = tests("-p spirit --test answers", "cached::a_list_that_");
const OF_OR: Tests = tests("-p spirit --test answers", "matching::a_term_is_answered_from");
const CUT: Tests = tests("-p spirit --test answers", "matching::a_term_is_right_where");
const MARKED: Tests = tests("-p spirit --test answers", "matching::approximate_answers_say_so");
const ROUGHLY: Tests = tests("-p spirit --test answers", "matching::approximate_hits_match");
const KEYS: Tests = tests("-p spirit-query --lib", "packed_key");
const STAMP: Tests = tests("-p spirit-cache --test stamp_loom", "all_of_an_entry_or_nothing");
const CACHE: Tests = tests("-p spirit-cache --test cache", "what_is_found_was_filled_in_last");
const TLSF: Tests = tests("-p spirit-cache --lib", "tlsf");
const DLIRS: Tests = tests("-p spirit-cache --lib", "dlirs_agrees");
const COSTS: Tests = tests("-p spirit-cache --lib", "worth");

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "cache-counts-the-dead",
        what: "a part of a kept count stays though a document died in it",
        file: "crates/spirit/src/cached/gather.rs",
        old: "self.snapshot.has_unchanged(part.segments, seen)",
        new: "self.snapshot.has_unchanged(part.segments, u64::MAX - seen % 2)",
        found_by: IN_MEMORY,
    },
    Bug {
        name: "cache-lists-the-dead",
        what: "a kept list has documents that died since",
        file: "crates/spirit/src/cached/newest.rs",
        old: "run.filter(|local| !found.is_dead(*local))",
        new: "run.filter(|local| !found.is_dead(*local) || *local < u32::MAX)",
        found_by: IN_MEMORY,
    },
    Bug {
        name: "cache-list-is-whole",
        what: "a list that was cut is taken for all matches after one of them died",
        file: "crates/spirit/src/cached/newest.rs",
        old: "Listed { is_cut: known.is_cut }",
        new: "Listed { is_cut: known.is_cut && matches.is_empty() }",
        found_by: SHORTER,
    },
    Bug {
        name: "cache-rewritten-as-dropped",
        what: "matches in segments that were rewritten are taken for dropped ones",
        file: "crates/spirit/src/cached/footing.rs",
        old: "let from = if switches as u32 == self.switches { 0 } else { self.unwritten };",
        new: "let from = if switches as u32 == self.switches { 0 } else { self.unwritten / 2 };",
        found_by: REWRITTEN,
    },
    Bug {
        name: "cache-tail-twice",
        what: "the rows of a tail are evaluated again, and counted twice",
        file: "crates/spirit/src/cached/gather.rs",
        old: "let from_row = tail.as_ref().map_or(0, |tail| tail.rows_end);",
        new: "let from_row = tail.as_ref().map_or(0, |tail| tail.rows_end / 2);",
        found_by: IN_MEMORY,
    },
    Bug {
        name: "cache-keeps-the-refused",
        what: "a count of which a damaged page was read is refused, but kept for the next question",
        file: "crates/spirit/src/search/answer.rs",
        old: "    })?;\n    candidate.keep(recall);\n    Ok(count)",
        new: "    });\n    candidate.keep(recall);\n    count",
        found_by: REFUSED,
    },
    Bug {
        name: "cache-best-of-before",
        what: "the best matches count though documents came since",
        file: "crates/spirit/src/cached/best.rs",
        old: "u64::from(oldest) << 32 | u64::from(switches), snapshot.visible()",
        new: "u64::from(oldest) << 32 | u64::from(switches), snapshot.visible() / 64",
        found_by: IN_MEMORY,
    },
    Bug {
        name: "cache-keeps-the-dropped",
        what: "a part counts whole though its oldest segments were dropped",
        file: "crates/spirit/src/cached/gather.rs",
        old: "if oldest == self.next && self.is_unchanged(part) {",
        new: "if oldest <= self.next && self.is_unchanged(part) {",
        found_by: DROPPED,
    },
    Bug {
        name: "cache-key-without-field",
        what: "two fields have one key",
        file: "crates/query/src/packed_key.rs",
        old: "self.named(node, operator, term.field(), query.bytes_of(term));",
        new: "self.named(node, operator, FieldId::TEXT, query.bytes_of(term));",
        found_by: KEYS,
    },
    Bug {
        name: "cache-key-of-any-order",
        what: "a ranking's key does not have the order in which scores are added up",
        file: "crates/query/src/packed_key.rs",
        old: "if !self.scored && all <= SORTED_MAX {",
        new: "if all <= SORTED_MAX {",
        found_by: KEYS,
    },
    Bug {
        name: "cache-stamp-stays-even",
        what: "an entry's stamp is not changed before its block is given to another one",
        file: "crates/cache/src/stamp.rs",
        old: "stamp.store(stamp.load(Relaxed) | CHANGING, Relaxed);",
        new: "stamp.store(stamp.load(Relaxed), Relaxed);",
        found_by: STAMP,
    },
    Bug {
        name: "cache-stamp-opened-relaxed",
        what: "an entry is opened without release",
        file: "crates/cache/src/stamp.rs",
        old: "stamp.store((stamp.load(Relaxed) | CHANGING) + 1, Release);",
        new: "stamp.store((stamp.load(Relaxed) | CHANGING) + 1, Relaxed);",
        found_by: STAMP,
    },
    Bug {
        name: "cache-chain-is-cut",
        what: "an entry that leaves takes those behind it in its chain along",
        file: "crates/cache/src/table.rs",
        old: "link.store(block | u64::from(next) << 32, Release);",
        new: "link.store(block, Release);",
        found_by: CACHE,
    },
    Bug {
        name: "cache-list-is-enough",
        what: "a list that was kept with fewer matches than are wanted is taken for all of them",
        file: "crates/spirit/src/cached/newest_own.rs",
        old: "!head.is_cut || hits.len() == end;",
        new: "!head.is_cut || hits.len() <= end;",
        found_by: SHORTER,
    },
    Bug {
        name: "cache-of-its-own-for-totals",
        what: "a reader takes two caches in turn, so that all readers have the same one",
        file: "crates/spirit/src/search/workspace.rs",
        old: "Recall::new(cache, number, executors, 0, rows_max)",
        new: "Recall::new(cache, cache.map_or(0, ResultCache::assign), executors, 0, rows_max)",
        found_by: OWN,
    },
    Bug {
        name: "clauses-without-their-scores",
        what: "clauses within a clause whose bitmap is known are scored by an earlier window",
        file: "crates/query/src/evaluate/kept.rs",
        old: "C::SCORES && node.occur",
        new: "C::SCORES && node.at == 7 && node.occur",
        found_by: CLAUSES,
    },
    Bug {
        name: "clause-of-another-executor",
        what: "a bitmap of one executor's segment is used for another one's",
        file: "crates/spirit/src/cached/clauses.rs",
        old: "at.segment.id().0) << 32, executor]",
        new: "at.segment.id().0) << 32, executor & 7]",
        found_by: CLAUSES,
    },
    Bug {
        name: "clause-list-loses-its-last",
        what: "a list of an odd number of documents ends with the newest document",
        file: "crates/spirit/src/cached/clauses.rs",
        old: "listed.next().unwrap_or(first)",
        new: "listed.next().unwrap_or(0)",
        found_by: CLAUSES,
    },
    Bug {
        name: "clause-keeps-the-damaged",
        what: "a bitmap that was made of a damaged page is kept",
        file: "crates/spirit/src/cached/clauses.rs",
        old: "!is_costly || damage::is_any()",
        new: "!is_costly",
        found_by: REFUSED,
    },
    Bug {
        name: "first-ties-go-to-the-older",
        what: "of equal values, one in a registered segment comes before a newer one in a fresh segment",
        file: "crates/spirit/src/cached/first.rs",
        old: "            first.expect_newer();\n",
        new: "",
        found_by: IN_MEMORY,
    },
    Bug {
        name: "first-list-is-whole",
        what: "matches that a kept list does not have are left out after one of its own died",
        file: "crates/spirit/src/cached/first.rs",
        old: "if !is_cut || first.is_full_before(end) {",
        new: "if !is_cut || first.is_full_before(None) || end.is_none() {",
        found_by: IN_ORDER,
    },
    Bug {
        name: "first-of-a-rewritten-segment",
        what: "a kept list counts though its segments were rewritten",
        file: "crates/spirit/src/cached/first.rs",
        old: "(segments.oldest >= from).then_some",
        new: "(segments.end >= from).then_some",
        found_by: REWRITTEN,
    },
    Bug {
        name: "total-counts-the-dead",
        what: "a kept number stays though documents died in registered segments",
        file: "crates/spirit/src/cached/total.rs",
        old: "snapshot.has_unchanged(segments, self.seen)\n    }\n\n    /// True if the matches in fresh",
        new: "snapshot.has_unchanged(segments, u64::MAX - self.seen % 2)\n    }\n\n    /// True if the matches in fresh",
        found_by: IN_MEMORY,
    },
    Bug {
        name: "total-counts-the-dead-of-fresh",
        what: "a kept number stays though documents died in fresh segments",
        file: "crates/spirit/src/cached/total.rs",
        old: "is_fresh && snapshot.has_unchanged(segments, self.seen)",
        new: "is_fresh",
        found_by: IN_MEMORY,
    },
    Bug {
        name: "sum-of-dropped-parts",
        what: "the sum of facets has parts whose segments were dropped",
        file: "crates/spirit/src/cached/parts.rs",
        old: "filter(|sum| Some(sum.segments) == segments)",
        new: "filter(|sum| segments.is_some_and(|all| sum.segments.end == all.end))",
        found_by: SUM,
    },
    Bug {
        name: "sum-of-parts-before",
        what: "the sum of facets stays though a part was evaluated anew",
        file: "crates/spirit/src/cached/gather.rs",
        old: "        if is_changed {\n            parts.add_up",
        new: "        if is_changed && !is_found {\n            parts.add_up",
        found_by: SUM,
    },
    Bug {
        name: "cache-alias-of-another-term",
        what: "a term is answered from the other list of an OR's entry",
        file: "crates/spirit/src/cached/matching.rs",
        old: "a.len() == b.len() && a.eq(b)",
        new: "a.len() == b.len()",
        found_by: OF_OR,
    },
    Bug {
        name: "cache-first-list-is-whole",
        what: "the first list of an OR's entry was cut, but is taken for all matches",
        file: "crates/spirit/src/cached/known.rs",
        old: "number & bit != 0 || is_reached",
        new: "number & bit > 1 || is_reached",
        found_by: CUT,
    },
    Bug {
        name: "cache-approximate-unmarked",
        what: "an approximate answer does not say so",
        file: "crates/spirit/src/cached/newest.rs",
        old: "self.note(Outcome::Approximate, recall);",
        new: "self.note(Outcome::Hit, recall);",
        found_by: MARKED,
    },
    Bug {
        name: "cache-approximate-is-counted",
        what: "the hits of an approximate answer are taken for all matches",
        file: "crates/spirit/src/search/answer.rs",
        old: "settings.before.is_none() && !is_approximate;",
        new: "settings.before.is_none() && (!is_approximate || search.k > 0);",
        found_by: MARKED,
    },
    Bug {
        name: "cache-or-kept-as-one-list",
        what: "an OR whose approximate answer was of no use is kept without the lists of its terms",
        file: "crates/spirit/src/cached/newest.rs",
        old: "match recall.asks_for_either() {",
        new: "match recall.asks_for_either() && segments.is_none() {",
        found_by: ROUGHLY,
    },
    Bug {
        name: "cache-aliases-lose-their-order",
        what: "the node behind an alias that leaves does not learn which one is before it",
        file: "crates/cache/src/aliases.rs",
        old: "if next > 0 {\n            self.set_before",
        new: "if next > 0 && before == FIRST {\n            self.set_before",
        found_by: CACHE,
    },
    Bug {
        name: "tlsf-takes-a-smaller-block",
        what: "a size is not rounded up to the next list, whose blocks all fit",
        file: "crates/cache/src/allocator/tlsf.rs",
        old: "let list_words = (1u32 << size.ilog2()) >> SECOND_BITS;",
        new: "let list_words = (1u32 << size.ilog2()) >> (SECOND_BITS + 1);",
        found_by: TLSF,
    },
    Bug {
        name: "costs-are-forgotten",
        what: "a question that was asked is taken for a new one",
        file: "crates/cache/src/worth.rs",
        old: "word.store(tag | ASKED, Relaxed);\n                Worth::New",
        new: "word.store(tag, Relaxed);\n                Worth::New",
        found_by: COSTS,
    },
    Bug {
        name: "dlirs-without-demotion",
        what: "the demoted entries do not change the share of others",
        file: "crates/cache/src/policy/dlirs.rs",
        old: "let by = rounded(self.counts.demoted, self.counts.ghosts);",
        new: "let by = rounded(self.counts.demoted / 2, self.counts.ghosts);",
        found_by: DLIRS,
    },
];
