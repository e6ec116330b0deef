//! `--store yes`: texts go in, and come out with what is found.

mod common;

use common::{Folder, ingest, ingest_into, spirit};
use serde_json::Value;

/// The texts of an answer.
fn texts(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["text"].as_str().unwrap()).collect()
}

const DOCUMENTS: &str = "a\tThe old man and the sea\nb\tThe \"whale\"\u{1F433} and the sea\nc\t\n";

#[test]
fn texts_are_stored_in_a_directory_and_printed() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let made = ["--store", "yes", "--format", "tsv", "--dram", "64MiB", "--nvm", "128MiB"];
    ingest_into(&directory, &made, DOCUMENTS).done();
    // Replaced by a later start, which knows that texts are stored.
    ingest_into(&directory, &["--format", "tsv", "--dram", "64MiB"], "a\tno more sea, see?\n")
        .done();
    let search =
        |more: &[&str]| spirit(&[&["search", "-d", &directory, "--dram", "64MiB"], more].concat());
    let answers = search(&["--json", "sea"]).json();
    assert_eq!(texts(&answers[0]), ["no more sea, see?", "The \"whale\"\u{1F433} and the sea"]);
    let answers = search(&["--json", "key:c"]).json();
    assert_eq!(texts(&answers[0]), [""]);
    let out = search(&["whale"]).done();
    assert_eq!(out, "b\tThe \"whale\"\u{1F433} and the sea\n");
    let stats = spirit(&["stats", "-d", &directory, "--json"]).json();
    // The first version of `a` is dead, and still there.
    let given = DOCUMENTS.lines().map(|line| line.len() as u64 - 2).sum::<u64>() + 17;
    assert_eq!(stats[0]["bytes"]["texts_raw"], given);
    assert!(stats[0]["bytes"]["texts"].as_u64().unwrap() > 0);
    let line = ingest_into(&directory, &["--store", "no"], "").failed(2);
    assert!(line.contains("--store no: the index in") && line.contains("made with yes"), "{line}");
    spirit(&["check", "-d", &directory]).done();
}

#[test]
fn texts_are_stored_in_memory_too_by_a_search_or_if_asked_for() {
    let folder = Folder::new();
    let file = folder.file("a.tsv", DOCUMENTS);
    let queries = folder.file("queries.txt", "sea AND man\n");
    let out = ingest(&["--store", "yes", "--queries", &queries, "--json", &file]).json();
    assert_eq!(texts(&out[1]), ["The old man and the sea"]);
    let out = ingest(&["--queries", &queries, "--json", &file]).json();
    assert_eq!(out[1]["hits"][0].get("text"), None);
    let out = spirit(&["search", "--in", &file, "--json", "old"]).json();
    assert_eq!(texts(&out[0]), ["The old man and the sea"]);
    let config = folder.file("a.toml", "mode = \"volatile\"\nstore = true\n");
    let typed = ["ingest", "--config", &config, "--queries", &queries, "--json", &file];
    assert_eq!(texts(&spirit(&typed).json()[1]), ["The old man and the sea"]);
}

#[test]
fn a_damaged_text_is_said_to_be_damaged() {
    let folder = Folder::new();
    let directory = folder.path("index");
    // As it is written here it is in texts alone: a term is lower-cased. Behind the log is the segment's copy.
    let word = "QUITEUNIQUE";
    let others = (0..40_000).map(|n| format!("{}{n}\n", "sea ".repeat(20)));
    let documents: String = [format!("{word}\n")].into_iter().chain(others).collect();
    let sizes = ["--store", "yes", "--dram", "16MiB", "--segment", "256KiB", "--nvm", "64MiB"];
    ingest_into(&directory, &sizes, &documents).done();
    let heap = std::path::Path::new(&directory).join("heap");
    let mut bytes = std::fs::read(&heap).unwrap();
    let found = bytes.windows(word.len()).rposition(|bytes| bytes == word.as_bytes());
    bytes[found.unwrap()] = b'q';
    std::fs::write(&heap, bytes).unwrap();
    let run = spirit(&["search", "-d", &directory, "--dram", "16MiB", "quiteunique"]);
    let line = run.failed(1);
    assert!(line.contains("a hit cannot be read; executor 0: block of texts at 0x"), "{line}");
    assert!(spirit(&["check", "-d", &directory]).out.contains("block of texts"));
}
