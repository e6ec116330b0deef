//! Operations that take effect only if their condition holds, beside a model that is a map.

use std::collections::HashMap;

use proptest::prelude::*;
use spirit::{Applied, Builder, Clause, Document, Index, Operation, Search, WriteError};

use crate::support::directory::Directory;

/// Keys: inline, stored, and numbers, which automatic keys meet.
const KEYS: [&str; 6] = ["a", "b", "c", "akeythatisstoredapart", "3", "8"];

#[derive(Clone, Copy, Debug)]
enum Condition {
    Always,
    Absent,
    /// The sequence number that the key has, or had this many states ago.
    Seen(usize),
}

/// A key, the words of a document or none, and a condition.
type Step = (usize, Option<u8>, Condition);

fn step() -> impl Strategy<Value = Step> {
    let condition = prop_oneof![
        2 => Just(Condition::Always),
        2 => Just(Condition::Absent),
        4 => (0usize..3).prop_map(Condition::Seen),
    ];
    (0..KEYS.len(), prop::option::weighted(0.7, any::<u8>()), condition)
}

/// A call: operations, documents without a key before them, and whether segments are flushed behind.
type Call = (Vec<Step>, u8, bool);

fn call() -> impl Strategy<Value = Call> {
    (prop::collection::vec(step(), 0..20), 0u8..3, any::<bool>())
}

/// What each key has had: sequence numbers, and the text that it has now.
#[derive(Default)]
struct Model {
    seen: HashMap<&'static str, Vec<u64>>,
    now: HashMap<String, (u64, String)>,
}

impl Model {
    fn expected(&self, key: &'static str, condition: Condition) -> Option<Option<u64>> {
        match condition {
            Condition::Always => None,
            Condition::Absent => Some(None),
            Condition::Seen(ago) => {
                let seen = self.seen.get(key).map_or(&[][..], Vec::as_slice);
                Some(Some(seen.iter().rev().nth(ago).copied().unwrap_or(u64::MAX)))
            }
        }
    }

    fn check(&self, index: &Index) {
        let mut reader = index.reader().unwrap();
        for (key, (sequence, text)) in &self.now {
            let hits = reader.search(Clause::key(key), Search::newest(2)).unwrap();
            assert_eq!(hits.len(), 1, "{key}");
            let hit = hits.get(0).unwrap();
            assert_eq!(
                (hit.sequence().unwrap(), hit.text().unwrap()),
                (*sequence, &**text),
                "{key}"
            );
        }
        assert_eq!(reader.count("*").unwrap(), self.now.len() as u64);
    }
}

fn words(number: u8) -> String {
    format!("w{} w{}", number % 5, number % 11)
}

fn run(builder: impl Fn() -> Builder, calls: &[Call], is_kept: bool) {
    let mut model = Model::default();
    let mut index = builder().open().unwrap();
    for (steps, others, is_flushed) in calls {
        for number in 0..*others {
            let text = words(number);
            let number = index.add(&text).unwrap().to_string();
            let hits = index.searcher();
            let hits = hits.search(Clause::key(&number), Search::newest(1)).unwrap();
            model.now.insert(number, (hits.get(0).unwrap().sequence().unwrap(), text));
        }
        // A number that is in the model under an automatic key is a key like any other.
        let texts: Vec<_> = steps.iter().map(|(_, number, _)| number.map(words)).collect();
        let expected: Vec<_> = steps
            .iter()
            .map(|(key, _, condition)| model.expected(KEYS[*key], *condition))
            .collect();
        let operations: Vec<_> = (steps.iter().zip(&texts).zip(&expected))
            .map(|(((key, ..), text), expected)| {
                let operation = match text {
                    Some(text) => Operation::put(KEYS[*key], Document::from(text)),
                    None => Operation::delete(KEYS[*key]),
                };
                match expected {
                    None => operation,
                    Some(None) => operation.if_absent(),
                    Some(Some(sequence)) => operation.if_sequence(*sequence),
                }
            })
            .collect();
        let results = index.apply(&operations);
        assert_eq!(results.len(), steps.len());
        let sequences = results.iter().flatten().map(|applied| applied.sequence);
        assert!(index.settings().executors > 1 || sequences.is_sorted(), "{results:?}");
        for (number, result) in results.into_iter().enumerate() {
            let key = KEYS[steps[number].0];
            let current = model.now.get(key).map(|(sequence, _)| *sequence);
            if expected[number].is_some_and(|expected| expected != current) {
                assert_eq!(result, Err(WriteError::Conflict { current }), "{number} of {steps:?}");
                continue;
            }
            let Applied { sequence, replaced, .. } = result.unwrap();
            assert_eq!(replaced, current, "{number} of {steps:?}");
            match &texts[number] {
                Some(text) => {
                    model.seen.entry(key).or_default().push(sequence);
                    model.now.insert(key.to_owned(), (sequence, text.clone()));
                }
                None => _ = model.now.remove(key),
            }
        }
        if *is_flushed {
            index.flush().unwrap();
        }
        model.check(&index);
        if is_kept && *is_flushed {
            drop(index);
            index = builder().open().unwrap();
            model.check(&index);
        }
    }
}

fn small() -> Builder {
    Index::builder().dram_bytes(4 << 20).segment_bytes(64 << 10).store(true)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn in_memory(calls in prop::collection::vec(call(), 1..8), executors in 1usize..4) {
        run(|| small().dram_bytes(12 << 20).executors(executors), &calls, false);
    }

    #[test]
    fn in_a_directory(calls in prop::collection::vec(call(), 1..6), executors in 1usize..3) {
        let directory = Directory::new();
        let builder = || small().dram_bytes(8 << 20).executors(executors).directory(directory.path());
        run(builder, &calls, true);
    }
}

/// Each of several threads counts a document's text up. No step is lost, since each replaces the state
/// that it read.
#[test]
fn no_update_is_lost() {
    const THREADS: usize = 4;
    const STEPS: usize = 300;
    let index = small().executors(2).dram_bytes(8 << 20).open().unwrap();
    index.put("count", "0").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..STEPS).for_each(|_| count_up(&index)));
        }
        scope.spawn(|| (0..20).for_each(|_| index.flush().unwrap()));
    });
    let searcher = index.searcher();
    let hits = searcher.search(Clause::key("count"), Search::newest(1)).unwrap();
    assert_eq!(hits.texts().unwrap(), [(THREADS * STEPS).to_string()]);
}

fn count_up(index: &Index) {
    let searcher = index.searcher();
    loop {
        let hits = searcher.search(Clause::key("count"), Search::newest(1)).unwrap();
        let (sequence, now) = {
            let hit = hits.get(0).unwrap();
            (hit.sequence().unwrap(), hit.text().unwrap().parse::<u64>().unwrap())
        };
        drop(hits);
        let next = (now + 1).to_string();
        let operation = Operation::put("count", &next).if_sequence(sequence);
        match index.apply(&[operation]).remove(0) {
            Ok(applied) => return assert_eq!(applied.replaced, Some(sequence)),
            Err(WriteError::Conflict { current }) => assert_ne!(current, Some(sequence)),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Of threads that make the same document, one does.
#[test]
fn a_document_is_made_once() {
    let index = small().open().unwrap();
    for round in 0..50 {
        let key = format!("k{round}");
        let make = || index.apply(&[Operation::put(&key, "made").if_absent()]).remove(0).is_ok();
        let made = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(make));
            threads.map(|thread| usize::from(thread.join().unwrap())).iter().sum::<usize>()
        });
        assert_eq!(made, 1, "{key}");
    }
}

/// What is refused does not stop what follows.
#[test]
fn each_operation_has_its_own_result() {
    let index = small().field("n", spirit::FieldKind::Integer).open().unwrap();
    let long = "k".repeat(513);
    let misfit = Document::from("a").field("n", "no number");
    let results = index.apply(&[
        Operation::put("a", "one"),
        Operation::put("b", misfit),
        Operation::put(&long, "two"),
        Operation::delete(""),
        Operation::delete("none"),
        Operation::put("c", "three"),
        Operation::delete("a"),
    ]);
    let replaced = |number: usize| results[number].as_ref().map(|applied| applied.replaced);
    assert_eq!((replaced(0), replaced(4), replaced(5)), (Ok(None), Ok(None), Ok(None)));
    assert!(matches!(results[1], Err(WriteError::Field(_))), "{:?}", results[1]);
    assert_eq!(results[2], Err(WriteError::Key { bytes: 513 }));
    assert_eq!(results[3], Err(WriteError::Key { bytes: 0 }));
    assert_eq!(replaced(6), Ok(Some(results[0].as_ref().unwrap().sequence)));
    assert_eq!(index.searcher().count("*").unwrap(), 1);
}

/// A full index says so of each document that found no room.
#[test]
fn a_full_index_refuses_one_by_one() {
    let index = Index::builder().dram_bytes(2 << 20).segment_bytes(64 << 10).open().unwrap();
    let keys: Vec<_> = (0..60_000).map(|number| format!("key {number}")).collect();
    let operations: Vec<_> = keys.iter().map(|key| Operation::put(key, &**key)).collect();
    let results = index.apply(&operations);
    let added = results.iter().filter(|result| result.is_ok()).count();
    assert!(added > 1000 && added < keys.len(), "{added}");
    let refused = |result: &Result<Applied, WriteError>| {
        matches!(result, Err(WriteError::HeapFull | WriteError::KeysFull))
    };
    assert!(results.iter().all(|result| result.is_ok() || refused(result)));
    assert_eq!(index.searcher().count("*").unwrap(), added as u64);
}

/// Documents without a key get numbers, as those that are added one by one.
#[test]
fn documents_without_a_key_have_their_number() {
    for executors in [1, 3] {
        let index = small().executors(executors).dram_bytes(12 << 20).open().unwrap();
        let texts: Vec<_> = (0..600).map(|number| format!("text {number}")).collect();
        let mut operations: Vec<_> = texts.iter().map(|text| Operation::add(&**text)).collect();
        operations.insert(7, Operation::put("3", "in place of the fourth"));
        let results = index.apply(&operations);
        let mut reader = index.reader().unwrap();
        for (number, result) in results.iter().enumerate() {
            let applied = result.as_ref().unwrap();
            let key = if number == 7 { 3 } else { applied.number.unwrap() }.to_string();
            let hits = reader.search(Clause::key(&key), Search::newest(1)).unwrap();
            if number != 3 && executors == 1 {
                assert_eq!(hits.get(0).unwrap().sequence().unwrap(), applied.sequence, "{number}");
            }
        }
        let replaced = results[7].as_ref().unwrap().replaced;
        assert!(replaced.is_some());
        assert_eq!(reader.count("text").unwrap(), 599);
    }
}
