//! `--highlight`: where in the texts what was asked for is.

mod common;

use common::{Folder, ingest, ingest_into, spirit};
use serde_json::Value;

const DOCUMENTS: &str = "a\tA grey heron.\nb\tThe <reed> & the Heron’s grey\u{1b}[31m nest\n";

/// The snippets of the first answer's hits.
fn snippets(answers: &[Value]) -> Vec<String> {
    let hits = answers[0]["hits"].as_array().unwrap().iter();
    hits.flat_map(|hit| hit["snippets"].as_array().unwrap())
        .map(|snippet| snippet.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn hits_of_a_directory_are_highlighted() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let made = ["--store", "yes", "--format", "tsv", "--dram", "64MiB", "--nvm", "128MiB"];
    ingest_into(&directory, &[&made[..], &["--analyzer", "english"]].concat(), DOCUMENTS).done();
    let search = |more: &[&str]| {
        spirit(&[&["search", "-d", &directory, "--dram", "64MiB", "--highlight"], more].concat())
    };
    // What the text has of markup and control characters does no harm.
    let expected = [
        "The &lt;reed&gt; &amp; the <em>Heron’s</em> <em>grey</em>\u{1b}[31m nest",
        "A <em>grey</em> <em>heron</em>.",
    ];
    let answers = search(&["--json", "heron AND grey"]).json();
    assert_eq!(snippets(&answers), expected);
    assert_eq!(answers[0]["hits"][1]["text"], "A grey heron.");
    let out = search(&["heron AND grey -nothing"]).done();
    let lines: Vec<&str> = out.lines().collect();
    let expected =
        ["b", "    The <reed> & the «Heron’s» «grey» [31m nest", "a", "    A «grey» «heron»."];
    assert_eq!(lines, expected);
}

#[test]
fn a_field_is_highlighted_if_it_is_named() {
    let folder = Folder::new();
    let documents = r#"{"text": "They stand.", "title": "Grey herons"}"#;
    let file = folder.file("a.jsonl", documents);
    let search = |more: &[&str]| spirit(&[&["search", "--in", &file, "--json"], more].concat());
    let asked = ["--highlight-field", "title", "title:herons"];
    assert_eq!(snippets(&search(&asked).json()), ["Grey <em>herons</em>"]);
    let text = ["--highlight", "title:herons"];
    assert_eq!(snippets(&search(&text).json()), ["They stand."]);
    let unknown = search(&["--highlight-field", "nobody", "herons"]);
    assert!(unknown.code != 0 && unknown.err.contains("nobody"), "{}", unknown.err);
}

#[test]
fn files_that_are_asked_are_highlighted_too() {
    let folder = Folder::new();
    let text = format!("{}One heron stands there. {}", "Water. ".repeat(90), "Reed. ".repeat(90));
    let file = folder.file("a.txt", text + "\n");
    let search = |more: &[&str]| spirit(&[&["search", "--in", &file], more].concat());
    let found = snippets(&search(&["--snippet", "40", "--json", "heron"]).json());
    let [snippet] = &found[..] else { panic!("{found:?}") };
    assert!(snippet.starts_with('…') && snippet.ends_with(".…"), "{snippet}");
    assert!(snippet.contains("One <em>heron</em> stands there."), "{snippet}");
    assert!(snippet.chars().count() <= 40 + "……<em></em>".chars().count(), "{snippet}");
    let out = search(&["--highlight", "heron"]).done();
    assert!(out.contains("One «heron» stands there. Reed."), "{out}");
    // Not asked for, not there.
    let answers = search(&["--json", "heron"]).json();
    assert_eq!(answers[0]["hits"][0].get("snippets"), None);
    assert!(answers[0]["hits"][0]["text"].as_str().unwrap().contains("One heron"));
}

#[test]
fn an_index_without_texts_is_wrong_usage() {
    let folder = Folder::new();
    let (file, directory) = (folder.file("a.tsv", DOCUMENTS), folder.path("index"));
    let reason = "the index does not store the documents' texts; index them anew with --store yes";
    ingest_into(&directory, &["--dram", "64MiB", "--nvm", "128MiB"], "a heron\n").done();
    for option in [&["--highlight"][..], &["--snippet", "80"]] {
        let name = option[0];
        let asked = ["search", "-d", &directory, "--dram", "64MiB", "heron"];
        let line = spirit(&[&asked[..], option].concat()).failed(2);
        assert_eq!(line, format!("spirit: {name}: {reason}"));
        let asked = ["search", "--in", &file, "--store", "no", "heron"];
        assert!(spirit(&[&asked[..], option].concat()).failed(2).ends_with(reason));
        // Before the first document is read.
        let queries = folder.file("queries.txt", "heron\n");
        let run = ingest(&[&["--queries", &queries, &file], option].concat());
        assert_eq!(run.out, "");
        assert!(run.failed(2).ends_with(reason));
    }
    assert_eq!(spirit(&["search", "--in", &file, "--snippet", "0", "a"]).code, 2);
}

#[test]
fn queries_after_an_ingest_are_highlighted() {
    let folder = Folder::new();
    let file = folder.file("a.tsv", DOCUMENTS);
    let queries = folder.file("queries.txt", "nothing\nreed OR nest\n");
    let asked = ["--store", "yes", "--queries", &queries, "--highlight", "--json", &file];
    let answers = ingest(&asked).json();
    assert_eq!(answers[1]["count"], 0);
    let html = "The &lt;<em>reed</em>&gt; &amp; the Heron’s grey\u{1b}[31m <em>nest</em>";
    assert_eq!(snippets(&answers[2..]), [html]);
}
