//! The bugs in bulk loads. What [`bugs`](super::bugs) says holds here too.

use super::bug::{Bug, Tests};
use super::bugs::tests;

/// More loads than CI has: when a segment is engraved is up to the machine.
const CUTS: Tests = Tests {
    environment: &[("SPIRIT_LOADS", "12")],
    of: "-p spirit --test crash",
    named: "a_bulk_load_goes_on_after_every_cut",
};
const LOAD: &str = "-p spirit --test files";

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "rows-not-reserved",
        what: "documents of a load stamp deaths with rows that a later run gives to others",
        file: "crates/spirit/src/write/journal.rs",
        old: "        if end <= reserved {\n",
        new: "        if end <= reserved.max(u64::MAX) {\n",
        found_by: CUTS,
    },
    Bug {
        name: "rows-reserved-once",
        what: "the rows of a load's second segment are reserved in a part of the log that its first one trims",
        file: "crates/spirit/src/write/journal.rs",
        old: "            *reserved = 0;\n",
        new: "            *reserved += 0;\n",
        found_by: CUTS,
    },
    Bug {
        name: "reserved-rows-kill-nobody",
        what: "a start does not expect deaths by documents of a load that a crash has forgotten",
        file: "crates/index/src/log/log_reader.rs",
        old: "            || self.reserves_rows()\n",
        new: "            || self.reserves_rows() && false\n",
        found_by: CUTS,
    },
    Bug {
        name: "forgotten-deaths-come-later",
        what: "deaths by forgotten documents become visible with the next document, not with the start",
        file: "crates/spirit/src/write/ingest.rs",
        old: "        if self.row_end() > self.shared.memory.visible() {\n",
        new: "        if self.row_end() < self.shared.memory.visible() {\n",
        found_by: CUTS,
    },
    Bug {
        name: "place-of-the-fastest",
        what: "the place of a load is kept once one executor has engraved what comes before it",
        file: "crates/spirit/src/engine/bulk.rs",
        old: "let engraved = ends.min().unwrap_or(0);",
        new: "let engraved = ends.max().unwrap_or(0);",
        found_by: CUTS,
    },
    Bug {
        name: "engraved-to-the-end",
        what: "a load takes its last engraved document for one that is missing",
        file: "crates/spirit/src/engine/bulk/collection.rs",
        old: "let is_missing = sequence >= self.ends[executor];",
        new: "let is_missing = sequence + 1 >= self.ends[executor];",
        found_by: tests(LOAD, "a_load_is_what"),
    },
    Bug {
        name: "others-while-loading",
        what: "other documents go in while a load is unfinished, and take its numbers",
        file: "crates/spirit/src/write/ingest.rs",
        old: "        if self.is_loading { Err(WriteError::BulkUnfinished) } else { Ok(()) }",
        new: "        if self.is_loading && self.is_closing { Err(WriteError::BulkUnfinished) } else { Ok(()) }",
        found_by: tests(LOAD, "nothing_else_is_accepted"),
    },
    Bug {
        name: "refused-number-again",
        what: "the number of a refused document is given to the next one",
        file: "crates/spirit/src/engine/bulk.rs",
        old: "    pub fn leave_out(&mut self) {\n        self.mark.next += 1;",
        new: "    pub fn leave_out(&mut self) {\n        self.mark.next += 0;",
        found_by: tests(LOAD, "a_refused_document"),
    },
    Bug {
        name: "numbers-of-others",
        what: "a load gives numbers that documents have as their keys",
        file: "crates/spirit/src/engine/bulk.rs",
        old: "numbers.documents.load(Relaxed).max(numbers.explicit_end.load(Relaxed));",
        new: "numbers.documents.load(Relaxed).max(numbers.explicit_end.load(Relaxed) & 0);",
        found_by: tests(LOAD, "automatic_keys_are_above"),
    },
];
