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
        Answers(answers.iter().zip(queries).map(|(answer, query)| {
            assert_eq!(answer["query"], **query);
            let keys: Vec<_> = keys(answer).into_iter().map(str::to_owned).collect();
            assert_eq!(answer["count"], keys.len(), "{answer}");
            (query.clone(), keys)
        }).collect())
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
    all.extend(model.live().map(|(key, _)| key_query(key)));
    all.extend(model.gone.iter().cloned());
    all.extend(model.deleted_keys().map(|key| key_query(key)));
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
    let expected = |wanted: &dyn Fn(&super::document::Document) -> bool| -> Vec<&str> {
        model.live().filter(|(_, document)| wanted(document)).map(|(key, _)| key.as_str()).collect()
    };
    assert_eq!(answers.of("*"), expected(&|_| true), "every document");
    for number in 0..COMMON {
        let word = common_word(number);
        assert_eq!(answers.of(&word), expected(&|d| d.common.contains(&number)), "{word}");
    }
    for (key, document) in model.live() {
        assert_eq!(answers.of(&document.unique), [key.as_str()], "{document:?}");
        if let Some(found) = answers.0.get(&key_query(key)) {
            assert_eq!(found, std::slice::from_ref(key), "by its key: {document:?}");
        }
    }
    for unique in &model.gone {
        let none: [&str; 0] = [];
        assert_eq!(answers.of(unique), none, "{unique} is gone");
    }
}
