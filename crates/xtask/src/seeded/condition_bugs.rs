//! Bugs in operations that take effect only if their condition holds.

use super::bug::{Bug, Tests};
use super::bugs::tests;

const ALONE: Tests = tests("-p spirit --test engine", "applied::in_memory");
const BESIDE: Tests = tests("-p spirit --test engine", "applied::no_update_is_lost");
const NUMBERED: Tests = tests("-p spirit --test engine", "applied::documents_without_a_key");

const APPLYING: &str = "crates/spirit/src/engine/applying.rs";

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "condition-holds-always",
        what: "a document is replaced whatever its sequence number is",
        file: "crates/spirit/src/config/operation.rs",
        old: "Condition::Sequence(expected) => current == Some(expected)",
        new: "Condition::Sequence(expected) => current >= Some(expected) && current.is_some()",
        found_by: BESIDE,
    },
    Bug {
        name: "condition-before-the-batch",
        what: "an operation is decided before others of its batch on the same key take effect",
        file: APPLYING,
        old: "self.keys.contains(&hash) || self.has_numbered",
        new: "self.keys.is_empty() && self.has_numbered",
        found_by: ALONE,
    },
    Bug {
        name: "condition-passes-over-numbers",
        what: "a key that is a number is decided before the batch's automatic keys are drawn",
        file: APPLYING,
        old: " || self.has_numbered && keys::as_number(key).is_some()",
        new: "",
        found_by: NUMBERED,
    },
    Bug {
        name: "condition-refused-takes-the-next-along",
        what: "documents behind a refused one of their batch are left out",
        file: APPLYING,
        old: "        Some(place + 1)",
        new: "        Some(self.part.len())",
        found_by: tests("-p spirit --test engine", "applied::a_full_index_refuses"),
    },
    Bug {
        name: "delete-before-the-batch",
        what: "a delete takes effect before documents that come before it",
        file: APPLYING,
        old: "            let waits = matches!(operation.change, Change::Delete(_))\n                ||",
        new: "            let waits =",
        found_by: ALONE,
    },
];
