//! What a process answers to many queries.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::Value;

use crate::common::{Folder, keys, spirit};

/// The most hits that a query can have.
const HITS: &str = "10000";
/// Every document: asked first and last.
const ALL: &str = "*";

/// The keys found, newest first, by query.
pub(crate) struct Answers(HashMap<String, Vec<String>>);

impl Answers {
    /// Of a process that opens the index in `directory` with these `options`, and of another one if meanwhile documents
    /// were dropped, which only an index that `drops` any may do.
    pub(crate) fn to(
        queries: &[String],
        folder: &Folder,
        directory: &str,
        options: &[&str],
        drops: bool,
    ) -> Answers {
        let mut lines = format!("{ALL}\n");
        queries.iter().for_each(|query| writeln!(lines, "{query}").unwrap());
        let file = folder.file("queries.txt", format!("{lines}{ALL}\n"));
        let args = ["search", "-d", directory, "--queries", &file, "--json", "-k", HITS];
        let args = [&args[..], options].concat();
        loop {
            let run = spirit(&args);
            // A private copy replays the log, and reports progress if that takes long.
            let is_progress = |line: &str| line.contains(": recovering, ");
            assert!(run.err.lines().all(is_progress), "{}", run.err);
            let answers = run.json();
            assert_eq!(answers.len(), queries.len() + 2);
            let found =
                |answer: Option<&Value>| answer.map(|a| (a["count"].clone(), a["hits"].clone()));
            let same = found(answers.first()) == found(answers.last());
            assert!(same || drops, "documents came or went while queries were answered");
            if same {
                return Answers(answers.iter().map(by_query).collect());
            }
        }
    }

    pub(crate) fn to_all(&self) -> &[String] {
        &self.0[ALL]
    }

    pub(crate) fn get(&self, query: &str) -> Option<&[String]> {
        self.0.get(query).map(Vec::as_slice)
    }
}

fn by_query(answer: &Value) -> (String, Vec<String>) {
    let keys: Vec<_> = keys(answer).into_iter().map(str::to_owned).collect();
    assert_eq!(answer["count"], keys.len(), "{answer}");
    (answer["query"].as_str().unwrap().to_owned(), keys)
}
