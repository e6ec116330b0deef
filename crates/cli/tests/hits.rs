//! Hits have key, time, fields and text: on a line for people, whole for programs.

mod common;

use common::{Folder, ingest_into, spirit};
use serde_json::{Value, json};

const POSTS: &str = r#"{"key": "a", "text": "red\n sea", "views": 3, "ts": "2026-11-22T19:00:00Z", "tags": ["x", "y"]}
{"key": "b", "text": "red", "views": 40}
{"key": "c", "text": "blue", "ts": "2026-11-23T01:00:00Z"}
"#;

/// Returns the fields of each hit.
fn fields(answer: &Value) -> Vec<Option<&Value>> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit.get("fields")).collect()
}

#[test]
fn a_line_has_key_time_fields_and_text() {
    let folder = Folder::new();
    let file = folder.file("a.jsonl", POSTS);
    let shown = |more: &[&str]| spirit(&[&["search", "--in", &file, "red"], more].concat()).done();
    assert_eq!(shown(&[]), "b\t-\tred\na\t2026-11-22T19:00:00Z\tred sea\n");
    let asked = shown(&["--fields", "views,tags"]);
    assert_eq!(asked, "b\t-\t40\t-\tred\na\t2026-11-22T19:00:00Z\t3\tx, y\tred sea\n");
    // What was asked for stands where it was asked for, and once.
    let asked = shown(&["--fields", "views", "--fields", "ts,text,key"]);
    assert_eq!(asked, "b\t40\t-\tred\na\t3\t2026-11-22T19:00:00Z\tred sea\n");
    let sorted = shown(&["--order", "views"]);
    assert_eq!(sorted, "b\t40\t-\tred\na\t3\t2026-11-22T19:00:00Z\tred sea\n");
    let text = folder.file("a.txt", "red\n");
    assert_eq!(spirit(&["search", "--in", &text, "red"]).done(), "0\tred\n");
}

#[test]
fn programs_get_all_fields_or_those_that_they_name() {
    let folder = Folder::new();
    let file = folder.file("a.jsonl", POSTS);
    let asked = |more: &[&str]| {
        spirit(&[&["search", "--in", &file, "--json", "red"], more].concat()).json().remove(0)
    };
    let all = asked(&[]);
    let of_a = json!({ "views": 3, "ts": "2026-11-22T19:00:00Z", "tags": ["x", "y"] });
    assert_eq!(fields(&all), [Some(&json!({ "views": 40 })), Some(&of_a)]);
    assert_eq!(all["hits"][1]["text"], "red\n sea");
    let some = asked(&["--fields", "tags"]);
    assert_eq!(fields(&some), [None, Some(&json!({ "tags": ["x", "y"] }))]);
}

#[test]
fn fields_that_are_not_there_are_wrong_usage() {
    let folder = Folder::new();
    let (file, directory) = (folder.file("a.jsonl", POSTS), folder.path("index"));
    let line = spirit(&["search", "--in", &file, "--fields", "views,user", "red"]).failed(2);
    let known = "--fields user: the index has no such field; its fields are text, views, ts, tags";
    assert_eq!(line, format!("spirit: {known}"));
    ingest_into(&directory, &["--format", "jsonl", "--dram", "64MiB"], POSTS).done();
    let asked = ["search", "-d", &directory, "--dram", "64MiB", "red"];
    assert_eq!(spirit(&asked).done(), "b\na\n");
    let line = spirit(&[&asked[..], &["--fields", "views"]].concat()).failed(2);
    assert!(line.ends_with("index them anew with --store yes"), "{line}");
}
