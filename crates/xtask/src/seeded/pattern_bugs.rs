//! The bugs in what finds terms by a pattern: fuzzy words, wildcards, prefixes, and those of phrases.
//! What [`bugs`](super::bugs) says holds here too.

use super::bug::{Bug, Tests};
use super::bugs::tests;
use super::query_bugs::of_query;

const FUZZY: Tests = of_query("fuzzy");
const OUTLINE: Tests = of_query("prefix_filter");
const PREFIXES: Tests = tests("-p spirit --test answers", "queries::phrase_prefixes_take_all");

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "first-field-only",
        what: "a pattern without a field's name is looked for in the text, and in no other field",
        file: "crates/query/src/evaluate/pattern.rs",
        old: "self.query.patterns_of(first).for_each(|pattern| self.expand_one(place, pattern));",
        new: "self.expand_one(place, first);",
        found_by: tests("-p spirit --test answers", "queries::expressions_find_what"),
    },
    Bug {
        name: "last-of-packed-block",
        what: "a pattern passes over the last term of each block of packed terms",
        file: "crates/query/src/evaluate/expansion.rs",
        old: "let (start, end) = (number * TERMS_OF_BLOCK, (number + 1) * TERMS_OF_BLOCK);",
        new: "let (start, end) = (number * TERMS_OF_BLOCK, (number + 1) * TERMS_OF_BLOCK - 1);",
        found_by: tests("-p spirit --test answers", "packed::answer_and_score_as_raw"),
    },
    Bug {
        name: "block-of-its-first-term",
        what: "a pattern judges a block of packed terms by its first term alone",
        file: "crates/query/src/evaluate/expansion.rs",
        old: "let common_bytes = (first ^ last).leading_zeros() / u8::BITS;",
        new: "let common_bytes = (first ^ first.max(last & 0)).leading_zeros() / u8::BITS;",
        found_by: tests("-p spirit --test answers", "packed::answer_and_score_as_raw"),
    },
    Bug {
        name: "pages-of-new-fields",
        what: "a later page looks for words in fields that the first one did not know",
        file: "crates/spirit/src/search/desk.rs",
        old: "self.parser.within_fields(after.and_then(|cursor| cursor.fields));",
        new: "self.parser.within_fields(after.and(None));",
        found_by: tests("-p spirit --test answers", "fielded::pages_keep_the_fields"),
    },
    Bug {
        name: "errors-of-each-field",
        what: "a lenient parser names an error once for each field of text",
        file: "crates/query/src/parse/grammar.rs",
        old: "if warnings.len() < WARNINGS_MAX && !self.is_repeating {",
        new: "if warnings.len() < WARNINGS_MAX {",
        found_by: of_query("each_field"),
    },
    Bug {
        name: "fresh-last-term",
        what: "readers go through the terms of a fresh segment but for its newest",
        file: "crates/index/src/fresh.rs",
        old: "descriptor.set_terms(self.terms as u64);",
        new: "descriptor.set_terms(self.terms.saturating_sub(1) as u64);",
        found_by: tests("-p spirit --test answers", "queries::patterns_find_a_term"),
    },
    Bug {
        name: "fuzzy-zeros",
        what: "what is filled up with zeros passes for a whole term, whatever the word is",
        file: "crates/query/src/fuzzy.rs",
        old: "            if self.distance() <= self.fuzzy.distance {\n                return None;\n            }\n",
        new: "",
        found_by: FUZZY,
    },
    Bug {
        name: "fuzzy-bytes",
        what: "words are too far apart by their bytes that are not by their characters",
        file: "crates/query/src/fuzzy.rs",
        old: "Characters { count: found.count + first as u32, which }",
        new: "Characters { count: found.count + 1, which }",
        found_by: FUZZY,
    },
    Bug {
        name: "fuzzy-prefix",
        what: "a prefix as long as the word does not count",
        file: "crates/query/src/fuzzy.rs",
        old: "behind.map_or(word.len(), |(at, _)| at)",
        new: "behind.map_or(0, |(at, _)| at)",
        found_by: FUZZY,
    },
    Bug {
        name: "fuzzy-swapped",
        what: "two characters that change places count as two edits",
        file: "crates/query/src/fuzzy.rs",
        old: "nearest.min(self.rows[i - 2][entry] + 1)",
        new: "nearest.min(self.rows[i - 2][entry] + 2)",
        found_by: FUZZY,
    },
    Bug {
        name: "wildcard-bytes",
        what: "a question mark stands for a byte",
        file: "crates/query/src/pattern.rs",
        old: "Some((1, character(text, t)))",
        new: "Some((1, 1))",
        found_by: of_query("pattern"),
    },
    Bug {
        name: "phrase-prefix-first",
        what: "a phrase prefix finds only the first of the terms that begin so",
        file: "crates/query/src/evaluate/phrase/prefix.rs",
        old: "        self.phrase.truncate(self.last.others);\n",
        new: "",
        found_by: PREFIXES,
    },
    Bug {
        name: "phrase-prefix-anywhere",
        what: "a phrase prefix finds documents in which the last term stands elsewhere",
        file: "crates/query/src/evaluate/phrase/prefix.rs",
        old: "if occurs > 0.0 {",
        new: "if occurs >= 0.0 {",
        found_by: PREFIXES,
    },
    Bug {
        name: "outline-end",
        what: "a term that ends where its fuzzy word does has a place less than it",
        file: "crates/query/src/fuzzy.rs",
        old: "if place < word.len() { NONE }",
        new: "if place <= word.len() { NONE }",
        found_by: OUTLINE,
    },
    Bug {
        name: "outline-escape",
        what: "what an escape stands for is taken for two places of a wildcard",
        file: "crates/query/src/prefix_filter.rs",
        old: "Some(b'\\\\') => *rest.next().unwrap_or(&b'\\\\'),",
        new: "Some(b'\\\\') => b'\\\\',",
        found_by: OUTLINE,
    },
    Bug {
        name: "spelling-high",
        what: "a term with a character of several bytes is held to places that are those of bytes",
        file: "crates/kernel/src/spelling.rs",
        old: "misses & !behind, spelling.misses",
        new: "misses, spelling.misses",
        found_by: tests("-p spirit-kernel --test spelling", ""),
    },
    Bug {
        name: "regex-first-way",
        what: "an expression takes the first of two ways, though only the other one ends where the term does",
        file: "crates/query/src/automaton.rs",
        old: ".match_kind(MatchKind::All)",
        new: ".match_kind(MatchKind::LeftmostFirst)",
        found_by: of_query("expressions_match_whole_terms"),
    },
    Bug {
        name: "regex-ended",
        what: "terms that end early are filtered out of a fresh segment, though an expression matches them",
        file: "crates/query/src/automaton.rs",
        old: "            if may_have_ended {\n                allowed.insert(0);\n            }\n",
        new: "",
        found_by: of_query("no_match_is_ruled_out"),
    },
];
