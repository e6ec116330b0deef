//! The demonstration runs, ends on its own, and measures what it says.

mod common;

use std::process::Stdio;

use common::{Folder, Run, command, spirit};
use serde_json::Value;

fn demo(args: &[&str]) -> Value {
    let mut out = spirit(&[&["demo", "--json"], args].concat()).json();
    assert_eq!(out.len(), 1);
    out.remove(0)
}

#[test]
fn a_bounded_run_sums_up_as_json() {
    let summary = demo(&["--docs", "20000"]);
    assert_eq!(summary["documents"], 20_000);
    assert!(summary["source"].as_str().unwrap().starts_with("generated posts (seed 1)"));
    for name in ["seconds", "documents_per_second", "ns_per_token"] {
        assert!(summary[name].as_f64().unwrap() > 0.0, "{name}");
    }
    let tokens_per_document = summary["tokens"].as_f64().unwrap() / 20_000.0;
    assert!((10.0..11.5).contains(&tokens_per_document), "{tokens_per_document}");
    assert_eq!(summary["stats"]["documents"]["live"], 20_000);
    assert!(summary["stats"]["heap"]["dram"]["used"].as_u64().unwrap() > 0);
}

#[test]
fn visibility_is_measured_and_nothing_is_missed() {
    let summary = demo(&["--docs", "300000"]);
    assert_eq!(summary["missed"], 0);
    let visibility = &summary["visibility"];
    assert!(visibility["count"].as_u64().unwrap() > 0);
    let us = |name: &str| visibility[name].as_f64().expect(name);
    assert!(0.0 < us("p50_us") && us("p50_us") <= us("p95_us"));
    assert!(us("p95_us") <= us("p99_us") && us("p99_us") <= us("max_us"));
    for kind in ["just_added", "one_word", "two_words_and", "two_words_or"] {
        assert!(summary["queries"][kind]["count"].as_u64().unwrap() > 0, "{kind}");
    }
}

#[test]
fn the_seed_decides_what_is_streamed() {
    let streamed = |seed| {
        let summary = demo(&["--docs", "2000", "--seed", seed]);
        (summary["bytes"].clone(), summary["tokens"].clone())
    };
    assert_eq!(streamed("5"), streamed("5"));
    assert_ne!(streamed("5"), streamed("6"));
}

#[test]
fn real_text_is_streamed_from_a_file_or_from_all_files_below_a_folder() {
    let folder = Folder::new();
    folder.file("text/a.txt", "red fox\nblue bird\n");
    folder.file("text/deep/b.jsonl", "{\"text\": \"red\"}\nbroken\n");
    for left_out in
        ["text/.hidden/c.txt", "text/target/c.txt", "text/node_modules/c.txt", "text/.c"]
    {
        folder.file(left_out, "no\n");
    }
    folder.file("text/binary", b"a\0b\n");
    let summary = demo(&["--in", &folder.path("text"), "--docs", "4"]);
    assert_eq!((&summary["documents"], &summary["refused"]), (&4.into(), &1.into()));
    assert!(summary["source"].as_str().unwrap().ends_with(": 3 documents of 2 files"));
    let summary = demo(&["--in", &folder.path("text/a.txt"), "--docs", "2"]);
    assert_eq!((&summary["documents"], &summary["tokens"]), (&2.into(), &4.into()));
    assert_eq!(demo(&["--in", &folder.path("text"), "--docs", "1"])["documents"], 1);
    assert_eq!(demo(&["--in", &folder.file("empty.txt", "")])["documents"], 0);
}

/// A minute is far more than it takes, and ends the test if nothing else does.
#[test]
fn a_few_lines_are_repeated_until_percentiles_mean_something() {
    let folder = Folder::new();
    folder.file("text/a.txt", "red fox\nblue bird\n");
    let summary = demo(&["--in", &folder.path("text"), "--time", "1min"]);
    let count = |measured: &Value| measured["count"].as_u64().unwrap();
    assert!(count(&summary["visibility"]) >= 1000, "{summary}");
    for kind in ["just_added", "one_word", "two_words_and", "two_words_or"] {
        assert!(count(&summary["queries"][kind]) >= 1000, "{kind}: {summary}");
    }
    let (documents, rounds) = (&summary["documents"], summary["rounds"].as_u64().unwrap());
    assert!(rounds > 1 && documents.as_u64().unwrap() / 2 == rounds, "{summary}");
    assert_eq!(summary["tokens"], documents.as_u64().unwrap() * 2);
    assert_eq!(summary["missed"], 0);
    assert!(summary["seconds"].as_f64().unwrap() < 60.0, "{summary}");
}

#[test]
fn what_people_see_fits_80_columns() {
    let folder = Folder::new();
    folder.file("text/a.txt", format!("{}\nblue bird\n", "red fox ".repeat(40)));
    let mut demo = command(&["demo", "--in", "text", "--docs", "4000000", "--time", "3s"]);
    let run = Run::of(demo.current_dir(folder.path("")).stdin(Stdio::null()).output().unwrap());
    assert!(run.err.contains(" queries, p50 ") && run.err.contains("\n  heap "), "{}", run.err);
    let all = [&*run.err, &run.out].concat();
    for line in all.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(run.done().contains("\nadded "));
}

#[test]
fn people_get_a_table_and_no_prompt_without_a_terminal() {
    let run = spirit(&["demo", "--docs", "5000", "--time", "1min"]);
    assert!(run.err.starts_with("spirit: generating 5,000 posts\n"), "{}", run.err);
    let out = run.done();
    for text in
        ["5,000 documents in ", "found by another thread after", "query: just added", "heap, DRAM"]
    {
        assert!(out.contains(text), "{text} is not in {out}");
    }
    assert!(!out.contains("search> "));
}

#[test]
fn a_small_heap_keeps_the_newest() {
    let summary = demo(&["--docs", "300000", "--dram", "16MiB", "--segment", "256KiB"]);
    assert_eq!(summary["documents"], 300_000);
    assert_eq!(summary["missed"], 0);
    assert!(summary["stats"]["dropped_segments"].as_u64().unwrap() > 0);
    assert!(summary["stats"]["documents"]["live"].as_u64().unwrap() < 300_000);
}

#[test]
fn no_time_is_no_documents() {
    for time in [["--time", "0s"], ["--seconds", "0"]] {
        assert_eq!(demo(&[&["--docs", "1000"], &time[..]].concat())["documents"], 0);
    }
}
