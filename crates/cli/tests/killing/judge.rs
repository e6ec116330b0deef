//! Asks an index for every word and every key that there ever was, and compares with what must be left.

use std::collections::HashMap;
use std::fmt::Write;

use super::document::{COMMON, common_word};
use super::model::Model;
use crate::common::{Folder, keys, spirit};

/// The most hits that a query can have.
const HITS: &str = "10000";

/// Answers by query: the keys, newest first.
struct Answers(HashMap<String, Vec<String>>);

impl Answers {
    /// Of a process of its own, opened with these options besides the directory.
    fn to(queries: &[String], folder: &Folder, directory: &str, options: &[&str]) -> Answers {
        let mut file = String::new();
        for query in queries {
            writeln!(file, "{query}").unwrap();
        }
        let file = folder.file("queries.txt", file);
        let args = ["search", "-d", directory, "--queries", &file, "--json", "-k", HITS];
        let run = spirit(&[&args[..], options].concat());
        assert_eq!(run.err, "");
        let answers = run.json();
        assert_eq!(answers.len(), queries.len());
        Answers(
            answers
                .iter()
                .zip(queries)
                .map(|(answer, query)| {
                    assert_eq!(answer["query"], **query);
                    let keys: Vec<_> = keys(answer).into_iter().map(str::to_owned).collect();
                    assert_eq!(answer["count"], keys.len(), "{answer}");
                    (query.clone(), keys)
                })
                .collect(),
        )
    }

    fn of(&self, query: &str) -> &[String] {
        &self.0[query]
    }
}

/// Judges the index in `directory`. What was unsure is known then. Only an index that `drops` its oldest documents may be
/// without them.
pub(crate) fn judge(
    model: &mut Model,
    folder: &Folder,
    directory: &str,
    options: &[&str],
    drops: bool,
) {
    let answers = Answers::to(&questions(model), folder, directory, options);
    while let Some(unsure) = model.unsure.first() {
        let found = answers.of(&unsure.document.unique);
        assert!(found.len() <= 1, "{:?} is found {found:?}", unsure.document);
        model.settle(found.first().cloned());
    }
    settle_deletion(model, answers.of("*"));
    if drops {
        model.keep_newest(answers.of("*").len());
    }
    compare(model, &answers);
}

fn questions(model: &Model) -> Vec<String> {
    let mut all = vec!["*".to_owned()];
    all.extend((0..COMMON).map(common_word));
    all.extend(model.unsure.iter().map(|unsure| unsure.document.unique.clone()));
    all.extend(model.live().map(|(_, document)| document.unique.clone()));
    all.extend(model.gone.iter().cloned());
    all.extend(model.keys.iter().map(|key| key_query(key)));
    all
}

fn key_query(key: &str) -> String {
    format!("key:{key}")
}

/// Keys are deleted in order, so those that are gone come first.
fn settle_deletion(model: &mut Model, all: &[String]) {
    for key in std::mem::take(&mut model.deleting) {
        if all.contains(&key) {
            return;
        }
        model.delete(&key);
    }
}

fn compare(model: &Model, answers: &Answers) {
    same(answers, "*", model.live().map(|(key, _)| key));
    for number in 0..COMMON {
        let having = model.live().filter(|(_, document)| document.common.contains(&number));
        same(answers, &common_word(number), having.map(|(key, _)| key));
    }
    for (key, document) in model.live() {
        same(answers, &document.unique, [key]);
    }
    for unique in &model.gone {
        same(answers, unique, []);
    }
    for key in &model.keys {
        // What was settled just now may have a key that nothing had before.
        if answers.0.contains_key(&key_query(key)) {
            same(answers, &key_query(key), model.is_live(key).then_some(key));
        }
    }
}

/// The answer to `query` is these keys, in this order.
fn same<'a>(answers: &Answers, query: &str, expected: impl IntoIterator<Item = &'a String>) {
    let (found, expected) = (answers.of(query), expected.into_iter().collect::<Vec<_>>());
    if found.iter().eq(expected.iter().copied()) {
        return;
    }
    let missing: Vec<_> = expected.iter().filter(|key| !found.contains(key)).collect();
    let surplus: Vec<_> = found.iter().filter(|key| !expected.contains(key)).collect();
    panic!(
        "{query}: {} found of {}; missing {missing:?}, not expected {surplus:?}; else the order is another",
        found.len(),
        expected.len()
    );
}
