//! Histories that were thought of, beside those that chance finds.

use std::time::Duration;

use spirit::lab::{EngravePolicy, PointerUpdate, Postings};

use crate::operation::{Condition, Conditioned, Kind, Operation, history};
use crate::setup::Setup;

type History = fn() -> Vec<Operation>;

/// An index and what is done to it, by number: first those that were thought of, then random ones.
pub(crate) fn numbered(seed: u64) -> (Setup, Vec<Operation>) {
    if let Some((setup, history)) = thought_of().get(seed as usize) {
        return (*setup, history());
    }
    let kind = [Kind::Short, Kind::Short, Kind::Long, Kind::Flushing][(seed / 16 % 4) as usize];
    (Setup::of(seed), history(kind, seed))
}

/// How many were thought of.
pub(crate) const THOUGHT_OF: usize = 27;

fn thought_of() -> [(Setup, History); THOUGHT_OF] {
    let plain = plain();
    [
        (plain, replaced_in_the_second_tier),
        (plain, deleted_in_the_second_tier),
        (plain, number_met),
        (plain, number_met_in_one_call),
        (plain, laps),
        (plain, many_words),
        (plain, kept_in_view),
        (plain, groups),
        (Setup { executors: 2, ..plain }, groups_in_both),
        (plain, conditions),
        (Setup { executors: 2, ..plain }, conditions),
        (Setup { merge_after: 2, ..plain }, runs),
        (Setup { merge_after: 4, ..plain }, runs),
        (Setup { merge_after: 3, ..plain }, many_words),
        (Setup { merge_after: 3, ..plain }, laps),
        (Setup { store: true, ..plain }, new_fields),
        (Setup { store: true, ..plain }, widened_fields),
        (Setup { postings: Postings::Packed, merge_after: 2, ..plain }, runs),
        (Setup { postings: Postings::Packed, merge_after: 3, ..plain }, many_words),
        (Setup { postings: Postings::Packed, store: true, ..plain }, new_fields),
        (Setup { postings: Postings::Packed, ..plain }, widened_fields),
        (Setup { keeps_raw: false, merge_after: 3, ..plain }, many_words),
        (Setup { keeps_raw: false, ..plain }, laps),
        (Setup { retain: true, ..plain }, laps),
        (Setup { stage_threads: 2, merge_after: 2, ..plain }, laps),
        (Setup { stage_threads: 2, has_parts: true, ..plain }, runs),
        (Setup { retain: true, executors: 2, ..plain }, groups_in_both),
    ]
}

/// One executor, all policies eager.
pub(crate) fn plain() -> Setup {
    Setup {
        executors: 1,
        engrave: EngravePolicy::Eager,
        pointer_update: PointerUpdate::Eager,
        merge_after: 1,
        reader_lease: Duration::from_millis(100),
        store: false,
        postings: Postings::Raw,
        keeps_raw: true,
        stage_threads: 1,
        has_parts: false,
        retain: false,
    }
}

fn add(text: &str) -> Operation {
    Operation::Add(text.into())
}

fn put(key: &str, text: &str) -> Operation {
    Operation::Put(key.into(), text.into())
}

/// A version dies in an engraved segment, and its record leaves the log at once.
fn replaced_in_the_second_tier() -> Vec<Operation> {
    use Operation::Flush;
    vec![put("k", "w0"), Flush, put("k", "w1"), Flush, put("k", "w2"), Flush, add("w3")]
}

fn deleted_in_the_second_tier() -> Vec<Operation> {
    use Operation::Flush;
    let delete = |key: &str| Operation::Delete(key.into());
    vec![put("k", "w0"), add("w1"), Flush, delete("k"), Flush, delete("1"), Flush, add("w2")]
}

/// A number that was given as a key, and that an automatic key comes to when its document is engraved.
fn number_met() -> Vec<Operation> {
    vec![put("3", "w0"), add("w1"), Operation::Flush, add("w2"), add("w3"), add("w4")]
}

/// The same within one record of the log.
fn number_met_in_one_call() -> Vec<Operation> {
    let key = |key: &str| Some(key.to_owned());
    let documents = [(key("1"), "w0"), (None, "w1"), (None, "w2")];
    vec![Operation::AddAll(documents.map(|(key, text)| (key, text.into(), 0)).into())]
}

/// Terms that are in some segments of a run, in all, or in one; and a start that finds half a run.
fn runs() -> Vec<Operation> {
    use Operation::{Flush, Reopen};
    let texts = ["w0 w1", "w0 w2", "w0 w1 w3", "w0 w2", "w0 w4", "w1 w4", "w0 w2 w5"];
    let mut history: Vec<Operation> = texts.iter().flat_map(|text| [add(text), Flush]).collect();
    history.insert(10, Reopen);
    history
}

/// The record that has the offset is trimmed, again and again, and once with nothing behind it.
fn groups() -> Vec<Operation> {
    use Operation::{Flush, Group};
    let group =
        |offset| Group(vec![(None, "w0".into(), 0), (Some("k0".into()), "w1".into(), 0)], offset);
    vec![group(1), Flush, add("w2"), Flush, Flush, group(2), Operation::Reopen, add("w3"), Flush]
}

/// The same of documents in two executors, or in the second alone.
fn groups_in_both() -> Vec<Operation> {
    use Operation::{Flush, Group, Reopen};
    let document = |key: &str, text: &str| (Some(key.to_owned()), text.to_owned(), 0);
    let both = |offset| Group(vec![document("6", "w0"), document("7", "w1 w2")], offset);
    let second = |offset| Group(vec![document("7", "w3"), document("9", "w4")], offset);
    vec![
        both(1),
        Flush,
        second(2),
        add("w2"),
        both(3),
        Reopen,
        second(4),
        both(5),
        Flush,
        add("w5"),
    ]
}

/// Operations of one call on the same keys and on others, some of which do not hold, before and behind an
/// engraving and a start.
fn conditions() -> Vec<Operation> {
    use Condition::{Absent, Always, Known};
    use Operation::{Apply, Flush, Reopen};
    let put = |key: &str, text: &str, condition| Conditioned::new(key, Some(text), condition);
    let delete = |key: &str, condition| Conditioned::new(key, None, condition);
    let all = || {
        let other = [put("7", "w3", Absent), put("k0", "w4", Known), delete("k1", Known)];
        let same = [put("k0", "w0", Absent), put("k0", "w1", Known), put("k1", "w2", Always)];
        Apply(same.into_iter().chain(other).collect())
    };
    vec![all(), all(), Flush, all(), Reopen, all(), Flush, add("w5")]
}

/// Documents bring fields along, the log of one start names those of another, and segments have them all.
fn new_fields() -> Vec<Operation> {
    use Operation::{Flush, Group, Reopen};
    let with = |text: &str, fields| Operation::Fielded(None, text.into(), fields);
    let both = Group(vec![(None, "w1".into(), 5), (Some("k0".into()), "w2".into(), 6)], 7);
    vec![
        with("w0", 1),
        with("w1", 2),
        add("w2"),
        Reopen,
        with("", 3),
        Flush,
        with("w3", 1),
        both,
        Reopen,
        Flush,
        with("w4", 9),
    ]
}

/// Numbers with a fraction come into fields of whole numbers, of which a segment and the log have some, and in one call with
/// them.
fn widened_fields() -> Vec<Operation> {
    use Operation::{AddAll, Flush, Reopen};
    let with = |text: &str, fields| Operation::Fielded(None, text.into(), fields);
    let both = AddAll(vec![(None, "w1".into(), 2), (Some("k0".into()), "w2".into(), 35)]);
    vec![
        with("w0", 1),
        Flush,
        with("w1", 12),
        with("w2", 23),
        Reopen,
        with("w3", 45),
        both,
        Flush,
        with("w4", 13),
        Reopen,
        add("w5"),
    ]
}

/// The log begins anew many times, and the oldest segments go, each with terms that nothing else has.
fn laps() -> Vec<Operation> {
    let text = |n: usize| vec![format!("w{} lap{n}", n % 6); 300 + 37 * (n % 9)].join(" ");
    (0..110).map(|n| put(&format!("k{}", n % 7), &text(n))).collect()
}

/// This many terms that they share buckets of the merged dictionary and have no place in it together: some are in every
/// segment, and those that are in one alone make way for others.
fn many_words() -> Vec<Operation> {
    let common: String = (0..50).map(|word| format!("c{word} ")).collect();
    let text = |n: u64| (0..60).map(|word| format!("n{n}w{word} ")).collect::<String>();
    (0..14).flat_map(|n| [add(&format!("{common}{}", text(n))), Operation::Flush]).collect()
}

/// A reader keeps what it found while the oldest segment goes, all slots being taken.
fn kept_in_view() -> Vec<Operation> {
    let mut history = vec![put("k", "w0"), Operation::Flush];
    for n in 0..63 {
        history.extend([put(&format!("k{}", n % 5), &format!("w{}", n % 6)), Operation::Flush]);
    }
    history.extend([Operation::Hold, put("k", "w1"), Operation::Flush, Operation::Release]);
    history.extend([add("w2"), Operation::Flush, add("w3")]);
    history
}

/// All histories of at most `length` operations.
pub(crate) fn all(length: usize) -> Vec<Vec<Operation>> {
    let alphabet =
        [add("w0 w1"), put("k0", "w1"), Operation::Delete("k0".into()), Operation::Flush];
    let mut histories: Vec<Vec<Operation>> = vec![Vec::new()];
    let mut first = 0;
    for _ in 0..length {
        let last = histories.len();
        for shorter in first..last {
            for operation in &alphabet {
                let mut longer = histories[shorter].clone();
                longer.push(operation.clone());
                histories.push(longer);
            }
        }
        first = last;
    }
    histories.split_off(1)
}
