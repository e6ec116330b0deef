//! The bugs, in the order of what they are in; those of one crate follow each other, so that less is compiled.
//!
//! A new one is small, could be anybody's, and is found by the narrowest tests that there are for it. When the text that it
//! replaces changes, say here what it is now.

use super::bug::{Bug, Tests};

/// Every cut of every short history.
const SHORT_HISTORIES: Tests = Tests {
    environment: &[],
    of: "-p spirit --test crash",
    named: "every_short_history_is_safe_at_every_cut",
};
/// Random cuts of all kinds of histories, as many as find what they are to find.
const HISTORIES: Tests = histories(&[("SPIRIT_CUTS", "1000")]);
/// Those of one history that was thought of: see `crates/spirit/tests/crash/scenario.rs`.
const REPLACED: Tests = histories(&[("SPIRIT_SIM_SEED", "0")]);
const DELETED: Tests = histories(&[("SPIRIT_SIM_SEED", "1")]);
const LAPS: Tests = histories(&[("SPIRIT_SIM_SEED", "4")]);
const MANY_WORDS: Tests = histories(&[("SPIRIT_SIM_SEED", "5")]);
const MANY_WORDS_IN_RUNS: Tests = histories(&[("SPIRIT_SIM_SEED", "11")]);
const RUNS: Tests = histories(&[("SPIRIT_SIM_SEED", "10")]);
const KEPT_IN_VIEW: Tests = histories(&[("SPIRIT_SIM_SEED", "6")]);
const GROUPS_IN_BOTH: Tests = histories(&[("SPIRIT_SIM_SEED", "8")]);
const NEW_FIELDS: Tests = histories(&[("SPIRIT_SIM_SEED", "13")]);

const fn histories(environment: &'static [(&'static str, &'static str)]) -> Tests {
    let named = "what_was_acknowledged_is_there_after_every_cut";
    Tests { environment, of: "-p spirit --test crash", named }
}

const fn tests(of: &'static str, named: &'static str) -> Tests {
    Tests { environment: &[], of, named }
}

pub(super) const BUGS: &[Bug] = &[
    Bug {
        name: "ranges-shrink",
        what: "of two ranges to be synced, one inside the other, the end of the larger one is not",
        file: "crates/door/src/unsynced.rs",
        old: "*last = (*last).max(end)",
        new: "*last = end",
        found_by: tests("-p spirit-door --lib", "unsynced"),
    },
    Bug {
        name: "root-of-one-slot",
        what: "a root is written over the one before, so a cut may leave none",
        file: "crates/index/src/nvm/root.rs",
        old: "let at = root.generation % 2 * SLOT_BYTES;",
        new: "let at = 0;",
        found_by: tests("-p spirit-index --lib", "nvm::root"),
    },
    Bug {
        name: "log-salt",
        what: "checksums of the log do not begin with the index's salt",
        file: "crates/index/src/nvm/log.rs",
        old: "super::checksum(salt, &words)",
        new: "super::checksum(0, &words)",
        found_by: tests("-p spirit-index --lib", "nvm::log_reader"),
    },
    Bug {
        name: "log-gap",
        what: "the gap at the ring's end is not counted, so the log runs over its own oldest records",
        file: "crates/index/src/nvm/log.rs",
        old: "self.position + gap + wanted + spare <= head",
        new: "self.position + wanted + spare <= head",
        found_by: tests("-p spirit-index --lib", "nvm::log_reader"),
    },
    Bug {
        name: "log-position",
        what: "a record of an earlier lap is taken for the next one",
        file: "crates/index/src/nvm/log_reader.rs",
        old: "if words[1].load(Relaxed) != position {\n            return None;\n        }",
        new: "",
        found_by: tests("-p spirit-index --lib", "a_record_of_an_earlier_lap"),
    },
    Bug {
        name: "cancel-ends-log",
        what: "what is logged anew, under numbers that were taken back, ends the log",
        file: "crates/index/src/nvm/log_reader.rs",
        old: "RecordKind::Cancel => self.sequence = sequence,",
        new: "RecordKind::Cancel => {}",
        found_by: tests("-p spirit --test log_limits", "what_found_a_place_at_the_second_try"),
    },
    Bug {
        name: "log-fence",
        what: "operations are acknowledged before their record is durable",
        file: "crates/index/src/nvm/log.rs",
        old: "door.fence(Site::LogFence, region);",
        new: "",
        found_by: SHORT_HISTORIES,
    },
    Bug {
        name: "mark-before-copy",
        what: "a segment is marked before its copy is durable",
        file: "crates/index/src/nvm/engrave.rs",
        old: "nvm.door().fence(Site::BodyFence, memory.region());\n        slots.set_live(nvm.door(), position, State::Engraved);",
        new: "slots.set_live(nvm.door(), position, State::Engraved);\n        nvm.door().fence(Site::BodyFence, memory.region());",
        found_by: SHORT_HISTORIES,
    },
    Bug {
        name: "trim-before-mark",
        what: "the log is trimmed before the mark of the segment is durable that has its operations",
        file: "crates/index/src/nvm/slot.rs",
        old: "door.fence(Site::MarkFence, self.region);",
        new: "",
        found_by: LAPS,
    },
    Bug {
        name: "retire-mark",
        what: "the space of a dropped segment is used again before its mark is durable",
        file: "crates/index/src/nvm/slot.rs",
        old: "door.fence(Site::RetireFence, self.region);",
        new: "",
        found_by: KEPT_IN_VIEW,
    },
    Bug {
        name: "carried-deaths",
        what: "deaths between the copy of a segment and the switch to it are not carried over",
        file: "crates/index/src/nvm/engrave.rs",
        old: "self.carry_deaths(memory, nvm, segment, copy);",
        new: "",
        found_by: tests("-p spirit --test engraving", "documents_that_are_replaced"),
    },
    Bug {
        name: "dead-count",
        what: "a death is stamped in the second tier and not counted there",
        file: "crates/index/src/memory.rs",
        old: "slots.set_dead(nvm.door(), sites, segment.id().position(), descriptor.dead() as u32);",
        new: "",
        found_by: tests("-p spirit --test counted", ""),
    },
    Bug {
        name: "link-fence",
        what: "buckets lead to records of the merged dictionary before those are durable",
        file: "crates/index/src/nvm/merge.rs",
        old: "door.fence(Site::LinkFence, region);",
        new: "",
        found_by: MANY_WORDS,
    },
    Bug {
        name: "merge-twice",
        what: "a merge that is repeated links a term's node to itself, and older segments are lost",
        file: "crates/index/src/nvm/merge.rs",
        old: "let link = if is_linked { stored.link } else { older };",
        new: "let link = older;",
        found_by: MANY_WORDS,
    },
    Bug {
        name: "run-links",
        what: "of a term's nodes in a run of segments only the oldest and the newest are found",
        file: "crates/index/src/nvm/merge.rs",
        old: "older = if is_linked { head } else { here };",
        new: "",
        found_by: RUNS,
    },
    Bug {
        name: "run-recovered",
        what: "a start takes the segments of a run for not merged, but for the newest",
        file: "crates/index/src/nvm/recover.rs",
        old: "let merged = live.iter().rev().find(|(_, state)| *state == State::Merged);",
        new: "let merged = live.iter().take_while(|(_, state)| *state == State::Merged).last();",
        found_by: RUNS,
    },
    Bug {
        name: "run-checked",
        what: "a check takes records that lead into a run under way for damaged",
        file: "crates/index/src/nvm/check/merged.rs",
        old: "found.merged_end().saturating_add(RUN_MAX as Position)",
        new: "found.merged_end().saturating_add((RUN_MAX / 16) as Position)",
        found_by: RUNS,
    },
    Bug {
        name: "run-shortened",
        what: "a run that is too long for the dictionary leaves its records there",
        file: "crates/index/src/nvm/merge.rs",
        old: "self.new.added.drain(..).for_each(|line| writer.discard(&merged, line));",
        new: "",
        found_by: MANY_WORDS_IN_RUNS,
    },
    Bug {
        name: "long-terms-lines",
        what: "after a start the lines of long terms pass for free",
        file: "crates/index/src/nvm/merged_writer.rs",
        old: "writer.take(first, lines);",
        new: "",
        found_by: HISTORIES,
    },
    Bug {
        name: "swept-chain",
        what: "a term that leaves its chain takes along what is behind it",
        file: "crates/index/src/nvm/merged_writer.rs",
        old: "let word = after.map_or(0, |(_, next)| chain_word(next));",
        new: "let word = 0;",
        found_by: MANY_WORDS,
    },
    Bug {
        name: "retired-forgotten",
        what: "a start does not count the positions of dropped segments",
        file: "crates/index/src/nvm/recover.rs",
        old: "Mark::Retired(position) => position,",
        new: "Mark::Retired(_) => continue,",
        found_by: tests("-p spirit --test age", "what_has_all_gone_is_remembered"),
    },
    Bug {
        name: "short-blocks",
        what: "after a start the terms of segments that are not merged lie in space that passes for free",
        file: "crates/index/src/nvm/recover.rs",
        old: "take(if is_merged { 1 } else { 2 })",
        new: "take(1)",
        found_by: SHORT_HISTORIES,
    },
    Bug {
        name: "deaths-not-expected",
        what: "a segment whose death a cut left uncounted passes for one without",
        file: "crates/spirit/src/replay.rs",
        old: "found.kills |= record.may_kill(recovered.explicit_end);",
        new: "",
        found_by: tests("-p spirit --test check", "a_death_whose_count_a_cut_took_stays_a_death"),
    },
    Bug {
        name: "covered-replayed",
        what: "a start replays operations that a segment has",
        file: "crates/spirit/src/replay.rs",
        old: "let first = recovered.sequence_end.max(record.header.sequence);",
        new: "let first = record.header.sequence;",
        found_by: tests("-p spirit --test engraving", "a_segment_that_ends_within_a_record"),
    },
    Bug {
        name: "cancel-ignored",
        what: "a start replays operations that were refused",
        file: "crates/spirit/src/replay.rs",
        old: "end = cancel.header.sequence;",
        new: "",
        found_by: tests("-p spirit --test log_limits", "what_was_refused_stays_so"),
    },
    Bug {
        name: "numbers-not-raised",
        what: "after a start documents get automatic keys that others have",
        file: "crates/spirit/src/replay.rs",
        old: "shared.numbers.documents.fetch_max(role.documents_end(), Relaxed);",
        new: "",
        found_by: SHORT_HISTORIES,
    },
    Bug {
        name: "log-goes-on",
        what: "after a start the log goes on where it begins, over what was replayed",
        file: "crates/spirit/src/recovery.rs",
        old: "LogWriter::new(space, position, incarnation), sequence)",
        new: "LogWriter::new(space, from, incarnation), sequence)",
        found_by: tests("-p spirit --test engraving", "a_segment_that_ends_within_a_record"),
    },
    Bug {
        name: "offset-trimmed",
        what: "the record of the application's offset is trimmed with what a segment has",
        file: "crates/spirit/src/journal.rs",
        old: "self.offset.as_ref().map_or(self.end(), |offset| offset.at.min(self.end()))",
        new: "self.end()",
        found_by: tests("-p spirit --test groups", "the_offset_is_that_of_the_last_group"),
    },
    Bug {
        name: "part-believed",
        what: "a start takes the part of a group in one executor for done, though the first has no offset of it",
        file: "crates/spirit/src/replay.rs",
        old: "Some(GroupEnd { number, offset: None }) if number > self.group => {",
        new: "Some(GroupEnd { number, offset: None }) if number > self.group + (1 << 40) => {",
        found_by: GROUPS_IN_BOTH,
    },
    Bug {
        name: "part-behind-offset",
        what: "the first executor's part of a group, which has the offset, is logged before the others",
        file: "crates/spirit/src/group.rs",
        old: "for (executor, placed) in &parts {",
        new: "for (executor, placed) in parts.iter().rev() {",
        found_by: GROUPS_IN_BOTH,
    },
    Bug {
        name: "later-offset-copied",
        what: "a backup copies the offset of a group that came after its point",
        file: "crates/index/src/nvm/backup/source.rs",
        old: "0 => record.offset_number().is_some_and(|number| number > sequence_end),",
        new: "0 => false,",
        found_by: tests("-p spirit-index --lib", "a_group_is_copied_whole"),
    },
    Bug {
        name: "number-found-given-up",
        what: "a row that was given up is taken for the one that has its number",
        file: "crates/index/src/keys.rs",
        old: "KeyKind::Automatic(n) if table.row(local).has_lived(local) => Some((local, n)),",
        new: "KeyKind::Automatic(n) => Some((local, n)),",
        found_by: tests("-p spirit --test log_limits", "what_was_tried_twice"),
    },
    Bug {
        name: "text-unchecked",
        what: "another text is taken for the one that the log refers to",
        file: "crates/spirit/src/source.rs",
        old: "if !reference.is_to(text.as_bytes()) {",
        new: "if false {",
        found_by: tests("-p spirit --test references", "what_cannot_be_read_again"),
    },
    Bug {
        name: "unmerged-forgotten",
        what: "segments that were not merged before a start never are",
        file: "crates/spirit/src/merging.rs",
        old: "waiting: found.map(SegmentId::first).collect(),",
        new: "waiting: VecDeque::new(),",
        found_by: HISTORIES,
    },
    Bug {
        name: "replaced-unfenced",
        what: "a version dies in a segment, and its record may be trimmed before that is durable",
        file: "crates/spirit/src/ingest.rs",
        old: "if stamped {\n            shared.memory.fence_deaths();\n        }",
        new: "",
        found_by: REPLACED,
    },
    Bug {
        name: "deleted-unfenced",
        what: "a document is deleted in a segment, and its record may be trimmed before that is durable",
        file: "crates/spirit/src/ingest.rs",
        old: "if killed == Some(Stamped::Engraved) {\n            shared.memory.fence_deaths();\n        }",
        new: "",
        found_by: DELETED,
    },
    Bug {
        name: "incarnation",
        what: "a start does not raise the incarnation",
        file: "crates/spirit/src/store.rs",
        old: "incarnation: found.incarnation + 1,",
        new: "incarnation: found.incarnation,",
        found_by: tests("-p spirit --test hostile", "roots_that_are_older_or_elsewhere"),
    },
    Bug {
        name: "close-over-open",
        what: "the root that says closed is written over the one that says open",
        file: "crates/spirit/src/open_root.rs",
        old: "state.root.generation += u64::from(state.said);",
        new: "",
        found_by: HISTORIES,
    },
    Bug {
        name: "gate",
        what: "an index is changed while its root says that it is closed",
        file: "crates/spirit/src/open_root.rs",
        old: "if !state.said && state.failure.is_none() {",
        new: "if !state.said && state.failure.is_none() && !state.is_closed {",
        found_by: tests("-p spirit --test untouched", ""),
    },
    Bug {
        name: "arrivals",
        what: "a start does not know when the documents of its segments arrived, and keeps them",
        file: "crates/spirit/src/retention.rs",
        old: "(window.oldest..window.end).filter_map(arrived)",
        new: "(window.end..window.end).filter_map(arrived)",
        found_by: tests("-p spirit --test age", "what_is_over_when_an_index_is_opened"),
    },
    Bug {
        name: "cut-file",
        what: "a file that was cut short is opened",
        file: "crates/spirit/src/trust.rs",
        old: "if root.file_bytes() != Some(has) {",
        new: "if root.file_bytes().is_none() {",
        found_by: tests("-p spirit --test hostile", "every_length"),
    },
    Bug {
        name: "sync-failed",
        what: "an operation whose sync failed is acknowledged",
        file: "crates/spirit/src/journal.rs",
        old: "if nvm.door().failure().is_some() {\n            shared.poison();\n            return Err(AddError::SyncFailed);\n        }",
        new: "",
        found_by: tests("-p spirit --test failing_disk", ""),
    },
    Bug {
        name: "fields-forgotten",
        what: "a field that a document brings along is known, and not kept",
        file: "crates/spirit/src/fields.rs",
        old: "            here.write(&grown)?;",
        new: "            let _ = here;",
        found_by: tests("-p spirit --test fields", ""),
    },
    Bug {
        name: "fields-not-durable",
        what: "the log names fields of a list that is not durable",
        file: "crates/index/src/nvm/field_list.rs",
        old: "    door.fence(Site::FieldsFence, region);\n",
        new: "",
        found_by: NEW_FIELDS,
    },
    Bug {
        name: "other-boot",
        what: "at level process, an index of before the machine's last start is relied on",
        file: "crates/spirit/src/trust.rs",
        old: "same_file && [root.boot_low, root.boot_high] == boot_id()",
        new: "same_file",
        found_by: tests("-p spirit --test trust", ""),
    },
];
