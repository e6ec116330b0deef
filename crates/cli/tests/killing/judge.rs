//! Asks an index for every word and every key that there ever was, and compares with what must be left.

use super::answers::Answers;
use super::document::{COMMON, common_word};
use super::model::Model;
use crate::common::Folder;

/// Judges the index in `directory`. What was unsure is known then. Only an index that `drops` its oldest documents may be
/// without them.
pub(crate) fn judge(
    model: &mut Model,
    folder: &Folder,
    directory: &str,
    options: &[&str],
    drops: bool,
) {
    let answers = Answers::to(&questions(model), folder, directory, options, drops);
    while let Some(unsure) = model.unsure.first() {
        let found = answers.get(&unsure.document.unique).unwrap();
        assert!(found.len() <= 1, "{:?} is found {found:?}", unsure.document);
        model.settle(found.first().cloned());
    }
    settle_deletion(model, answers.to_all());
    if drops {
        model.keep_newest(answers.to_all().len());
    }
    compare(model, &answers);
}

fn questions(model: &Model) -> Vec<String> {
    let common = (0..COMMON).map(common_word);
    let unsure = model.unsure.iter().map(|unsure| unsure.document.unique.clone());
    let live = model.live().map(|(_, document)| document.unique.clone());
    let gone = model.gone.iter().cloned();
    let keys = model.keys.iter().map(|key| key_query(key));
    common.chain(unsure).chain(live).chain(gone).chain(keys).collect()
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
    same("every document", answers.to_all(), model.live().map(|(key, _)| key));
    let found = |word: &str| answers.get(word).unwrap();
    for number in 0..COMMON {
        let word = common_word(number);
        let having = model.live().filter(|(_, document)| document.common.contains(&number));
        same(&word, found(&word), having.map(|(key, _)| key));
    }
    for (key, document) in model.live() {
        same(&document.unique, found(&document.unique), [key]);
    }
    for unique in &model.gone {
        same(unique, found(unique), []);
    }
    for key in &model.keys {
        let query = key_query(key);
        // What was settled just now may have a key that was not asked for.
        if let Some(found) = answers.get(&query) {
            same(&query, found, model.is_live(key).then_some(key));
        }
    }
}

/// What was `found` are these keys, in this order.
fn same<'a>(query: &str, found: &[String], expected: impl IntoIterator<Item = &'a String>) {
    let expected: Vec<_> = expected.into_iter().collect();
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
