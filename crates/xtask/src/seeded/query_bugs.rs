//! The bugs in what answers queries: lists, columns, ranges, counts, scores, facets. What [`bugs`](super::bugs) says holds here too.

use super::bug::{Bug, Tests};
use super::bugs::tests;

/// Random histories, of which any that fails will do.
const ORACLE: Tests = oracle("one_executor");
const ORACLE_OF_THREE: Tests = oracle("three_executors");

const fn oracle(named: &'static str) -> Tests {
    let environment = &[("PROPTEST_MAX_SHRINK_ITERS", "0")];
    Tests { environment, of: "-p spirit --test oracle", named }
}

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "packed-exceptions",
        what: "a number that is too wide for its block loses its low bits",
        file: "crates/kernel/src/packed/patched.rs",
        old: "out[index] |= reader.number()",
        new: "out[index] = reader.number()",
        found_by: tests("-p spirit-kernel --test packed", ""),
    },
    Bug {
        name: "packed-last-gap",
        what: "sums of gaps begin at the last id of the vector before, not behind it",
        file: "crates/kernel/src/packed/sums.rs",
        old: "        lowest = slot.wrapping_add(1);",
        new: "        lowest = *slot;",
        found_by: tests("-p spirit-kernel --test packed", "ids_come_back"),
    },
    Bug {
        name: "packed-first-rank",
        what: "a block of a packed list begins at the last rank of the one before",
        file: "crates/index/src/packed.rs",
        old: "rank(last.load(Relaxed)).wrapping_add(1))",
        new: "rank(last.load(Relaxed)))",
        found_by: tests("-p spirit-index --lib", "packed"),
    },
    Bug {
        name: "maxima-between",
        what: "a block's bound forgets that a term may be in a document thrice",
        file: "crates/index/src/maxima.rs",
        old: "(highest.min(3), two)",
        new: "(highest.min(2), two)",
        found_by: tests("-p spirit-index --lib", "maxima"),
    },
    Bug {
        name: "column-behind-rows",
        what: "a column's last word has values for rows that there are not",
        file: "crates/index/src/column.rs",
        old: "*word |= *found & ones(left.saturating_sub(number * 64));",
        new: "*word |= *found;",
        found_by: tests("-p spirit-index --lib", "column"),
    },
    Bug {
        name: "column-first-value",
        what: "of several values of a row only the first is found",
        file: "crates/index/src/column.rs",
        old: ".take_while(|row| row.load(Relaxed) == index)",
        new: ".take(1).filter(|row| row.load(Relaxed) == index)",
        found_by: tests("-p spirit-index --lib", "column"),
    },
    Bug {
        name: "ranges-joined",
        what: "of two values in one range, the end of the first is forgotten",
        file: "crates/query/src/range.rs",
        old: "before.1 = before.1.max(last)",
        new: "before.1 = last",
        found_by: tests("-p spirit-query --lib", "range"),
    },
    Bug {
        name: "bound-rounded",
        what: "a block's bound may be one bit below a score in it",
        file: "crates/query/src/rank.rs",
        old: "if bm25.c0 >= APART { best } else { (best * ROUNDED).min(bm25.weight) }",
        new: "best",
        found_by: tests("-p spirit-query --lib", "rank"),
    },
    Bug {
        name: "lengths-too-close",
        what: "blocks are passed over by lengths that differ by less than rounding",
        file: "crates/query/src/evaluate/rank/gate.rs",
        old: "const STEEP: f32 = 1e-4;",
        new: "const STEEP: f32 = 1e-9;",
        found_by: tests("-p spirit-query --lib", "rank"),
    },
    Bug {
        name: "packed-block-at-hand",
        what: "the block that is unpacked passes for every block of its list",
        file: "crates/query/src/packed.rs",
        old: "self.words[NUMBER].load(Relaxed) != number as u32 + 1",
        new: "self.words[NUMBER].load(Relaxed) == 0",
        found_by: tests("-p spirit --test packed", "packed_segments_answer"),
    },
    Bug {
        name: "range-least",
        what: "a segment is passed over whose least value is the last one of a range",
        file: "crates/query/src/evaluate/range.rs",
        old: "*last >= column.min()",
        new: "*last > column.min()",
        found_by: tests("-p spirit --test ranges", "values_are_found"),
    },
    Bug {
        name: "range-before-a-day",
        what: "a range that ends before a day has all of it but its last moment",
        file: "crates/query/src/range.rs",
        old: "valued(kind, text)?.start().checked_sub(1)",
        new: "valued(kind, text)?.end().checked_sub(1)",
        found_by: tests("-p spirit --test ranges", "values_are_found"),
    },
    Bug {
        name: "facets-of-the-dead",
        what: "facets count deleted documents of flushed segments",
        file: "crates/query/src/evaluate/aggregate.rs",
        old: "        if place.has_dead {",
        new: "        if place.has_dead && place.is_fresh() {",
        found_by: tests("-p spirit --test facets", "the_dead_are_left_out"),
    },
    Bug {
        name: "facets-twice",
        what: "a document with two values in a bucket counts twice",
        file: "crates/query/src/facet/gather.rs",
        old: "if last.replace(item) != Some(item) {",
        new: "if last.replace(item).is_none_or(|_| true) {",
        found_by: tests("-p spirit --test fields", "documents_with_fields"),
    },
    Bug {
        name: "explained-once",
        what: "a phrase is explained as if it were in the document once",
        file: "crates/query/src/evaluate/explain.rs",
        old: "(bm25, phrase.map_or(0.0, occurs))",
        new: "(bm25, phrase.map_or(0.0, occurs).min(1.0))",
        found_by: ORACLE,
    },
    Bug {
        name: "union-shared",
        what: "a count of either of two terms counts documents with both twice",
        file: "crates/query/src/evaluate/union.rs",
        old: "[a, b] => sum.saturating_sub(shared(level, base, a, b)),",
        new: "[a, b] => sum.saturating_sub(shared(level, base, a, b).min(0)),",
        found_by: ORACLE,
    },
    Bug {
        name: "union-bitmaps",
        what: "a count of any of several terms takes bitmaps from the wrong place",
        file: "crates/query/src/evaluate/union.rs",
        old: "kernel::or_bits(level, from, (start - base) as usize, &mut bits)",
        new: "kernel::or_bits(level, from, start as usize, &mut bits)",
        found_by: ORACLE,
    },
    Bug {
        name: "total-one-short",
        what: "as many matches as are counted exactly pass for more",
        file: "crates/query/src/total.rs",
        old: "if count <= up_to { Total::Exact",
        new: "if count < up_to { Total::Exact",
        found_by: ORACLE,
    },
    Bug {
        name: "ties-of-executors",
        what: "of two that score the same in two executors the newer is left out",
        file: "crates/query/src/top.rs",
        old: "Some((worst, true)) => worst.score.next_down()",
        new: "Some((worst, true)) => worst.score",
        found_by: ORACLE_OF_THREE,
    },
];
