//! The time for which ingest worked counts, however documents come.

use spirit::{Index, Operation};

use crate::support::tiny;

const DOCUMENTS: usize = 2000;

/// Adds the texts.
type Way = fn(&Index, &[String]);

#[test]
fn ingest_is_busy_whatever_way_documents_come() {
    let texts: Vec<String> = (0..DOCUMENTS).map(|n| format!("the {n}th of these texts")).collect();
    let ways: [(&str, Way); 4] = [
        ("one by one", |index, texts| {
            assert!(texts.iter().all(|text| index.add(text.as_str()).is_ok()));
        }),
        ("one by one, with keys", |index, texts| {
            assert!(texts.iter().all(|text| index.put(text, text).is_ok()));
        }),
        ("all together", |index, texts| {
            index.add_all(texts.iter().map(|text| (None, text.as_str()))).unwrap();
        }),
        ("under conditions", |index, texts| {
            let operations = texts.iter().map(|text| Operation::put(text, text.as_str()));
            let applied = index.apply(&operations.collect::<Vec<_>>());
            assert!(applied.iter().all(Result::is_ok));
        }),
    ];
    for executors in [1, 3] {
        for (name, add) in ways {
            let index = tiny(executors, 4 << 20).open().unwrap();
            let busy = || {
                let stats = index.stats().unwrap();
                stats.busy.iter().find(|(stage, _)| *stage == "ingest").unwrap().1
            };
            assert_eq!(busy(), 0.0, "{name}");
            add(&index, &texts);
            assert!(busy() > 0.0, "{name}, {executors} executors");
        }
    }
}
