//! `spirit get` and `spirit fields`: stored documents by key, and which fields there are.

mod common;

use common::{Folder, ingest_into, spirit};
use serde_json::json;

const SMALL: [&str; 4] = ["--dram", "64MiB", "--nvm", "128MiB"];
const POSTS: &str = r#"{"key": "a", "text": "red\n  sea", "views": 3, "ts": "2026-11-22T19:00:00Z", "tags": ["x", "y"]}
{"key": "b", "text": "", "level": "error"}
{"key": "-c", "text": "blue", "views": 5}
"#;

/// An index of the posts.
fn made(folder: &Folder, more: &[&str]) -> String {
    let directory = folder.path("index");
    let schema = ["--format", "jsonl", "--schema", "level:keyword,views:integer"];
    ingest_into(&directory, &[&SMALL[..], &schema, more].concat(), POSTS);
    directory
}

#[test]
fn documents_are_printed_as_they_were_given() {
    let folder = Folder::new();
    let directory = made(&folder, &["--store", "yes"]);
    let get =
        |more: &[&str]| spirit(&[&["get", "-d", &directory, "--dram", "64MiB"], more].concat());
    let a = "key: a\nviews: 3\nts: 2026-11-22T19:00:00Z\ntags: x, y\n\nred\n  sea\n";
    assert_eq!(get(&["a"]).done(), a);
    assert_eq!(get(&["a", "b"]).done(), format!("{a}\nkey: b\nlevel: error\n\n\n"));
    let both = get(&["--json", "a", "--", "-c"]).json();
    let fields = json!({ "views": 3, "ts": "2026-11-22T19:00:00Z", "tags": ["x", "y"] });
    assert_eq!(both[0], json!({ "key": "a", "text": "red\n  sea", "fields": fields }));
    assert_eq!(both[1], json!({ "key": "-c", "text": "blue", "fields": { "views": 5 } }));
    // The newest version, and none of what was deleted.
    let again = "{\"key\": \"a\", \"text\": \"green\"}\n";
    ingest_into(&directory, &["--format", "jsonl", "--dram", "64MiB"], again).done();
    assert_eq!(get(&["a"]).done(), "key: a\n\ngreen\n");
    spirit(&["delete", "-d", &directory, "--dram", "64MiB", "b"]).done();
    assert_eq!(get(&["b"]).failed(1), "spirit: no document has the key b");
}

#[test]
fn keys_that_no_document_has_are_named() {
    let folder = Folder::new();
    let directory = made(&folder, &["--store", "yes"]);
    let get = |keys: &[&str]| {
        spirit(&[&["get", "-d", &directory, "--dram", "64MiB", "--json"], keys].concat())
    };
    let run = get(&["none"]);
    assert_eq!(run.out, "");
    assert_eq!(run.failed(1), "spirit: no document has the key none");
    let run = get(&["x", "b", "key:a"]);
    assert_eq!(run.out, "{\"key\":\"b\",\"text\":\"\",\"fields\":{\"level\":\"error\"}}\n");
    assert_eq!(run.failed(1), "spirit: no document has these keys: x, key:a");
}

#[test]
fn an_index_without_documents_to_print_says_so() {
    let folder = Folder::new();
    let directory = made(&folder, &[]);
    let line = spirit(&["get", "-d", &directory, "--dram", "64MiB", "a"]).failed(1);
    assert!(line.contains("does not store the documents"), "{line}");
    let line = spirit(&["get", "-d", &folder.path("none"), "a"]).failed(1);
    assert!(line.contains("there is no index"), "{line}");
}

#[test]
fn fields_are_listed_with_their_documents() {
    let folder = Folder::new();
    let directory = made(&folder, &["--strict-schema"]);
    let fields =
        |more: &[&str]| spirit(&[&["fields", "-d", &directory, "--dram", "64MiB"], more].concat());
    // The first post has other fields, and was refused.
    let lines = [("text", "text(standard)", 2), ("level", "keyword", 1), ("views", "integer", 1)];
    let lines = lines.map(|(name, kind, count)| format!("{name:<5}  {kind:<14}  {count:>11}"));
    assert_eq!(fields(&[]).done().lines().collect::<Vec<_>>(), lines);
    let listed = fields(&["--json"]).json().remove(0);
    assert_eq!(listed["strict"], true);
    let level = json!({ "name": "level", "kind": "keyword", "documents": 1 });
    assert_eq!(listed["fields"][1], level);
}
