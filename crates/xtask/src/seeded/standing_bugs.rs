//! Bugs of standing queries: of triggers, rounds, queues and replays.

use super::bug::Bug;
use super::bugs::tests;

const STANDING: &str = "-p spirit --test answers";

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "standing-late-list",
        what: "what is known of a segment's terms outlives the terms that have queries",
        file: "crates/spirit/src/standing/triggers.rs",
        old: "        self.by_key.insert(key, number);\n        self.forget_segments();",
        new: "        self.by_key.insert(key, number);",
        found_by: tests(STANDING, "a_query_that_comes_late"),
    },
    Bug {
        name: "standing-one-row-mark",
        what: "a row of one executor hides the same row of another",
        file: "crates/spirit/src/standing/round.rs",
        old: "if query.reached == (*look, matched.row) {",
        new: "if query.reached.1 == matched.row {",
        found_by: tests(STANDING, "tails_of_three_executors"),
    },
    Bug {
        name: "standing-optional-clause",
        what: "a clause that need not match is taken for a necessary one",
        file: "crates/query/src/necessary.rs",
        old: "let least = if has_must { minimum as usize } else { minimum.max(1) as usize };",
        new: "let least = minimum.max(1) as usize;",
        found_by: tests("-p spirit-query --lib", "a_match_has_one_of_the_terms"),
    },
    Bug {
        name: "standing-phrase-of-words",
        what: "a document with a phrase's words is taken for a match without their places",
        file: "crates/query/src/decide.rs",
        old: "if words != Some(true) {",
        new: "if words.is_some() {",
        found_by: tests(STANDING, "tails_of_any_query"),
    },
    Bug {
        name: "standing-undecided-is-no",
        what: "a query that terms do not decide is taken for one that does not match",
        file: "crates/query/src/decide.rs",
        old: "if matching + undecided < minimum",
        new: "if matching < minimum",
        found_by: tests(STANDING, "tails_of_any_query"),
    },
    Bug {
        name: "standing-forgets-behind",
        what: "a queue that was full goes on without what it left out",
        file: "crates/spirit/src/standing/listener.rs",
        old: "                if queue.is_behind {\n                    break;",
        new: "                if queue.matches.len() >= self.capacity {\n                    queue.is_behind = false;\n                    break;",
        found_by: tests(STANDING, "slow_listeners_lose_nothing"),
    },
    Bug {
        name: "standing-before-its-place",
        what: "a listener whose place the stream has not reached gets what is before it",
        file: "crates/spirit/src/standing/tail.rs",
        old: "matched.sequence >= self.seen[matched.executor as usize]",
        new: "matched.sequence < u64::MAX",
        found_by: tests(STANDING, "what_was_dropped_is_counted"),
    },
    Bug {
        name: "standing-no-ring",
        what: "who waits for the bell waits for ever beside a queue that is behind",
        file: "crates/spirit/src/standing/tail.rs",
        old: "self.is_gathering() || self.listener.queue().has_news()",
        new: "self.is_gathering()",
        found_by: tests(STANDING, "who_waits_for_the_bell_misses_nothing"),
    },
];
