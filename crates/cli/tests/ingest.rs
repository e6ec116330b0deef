//! Documents go in: formats, keys, bad lines, summaries, configuration files.

mod common;

use std::path::Path;

use common::{Folder, ingest, keys, spirit, spirit_fed};
use serde_json::Value;

fn counts(summary: &Value) -> (u64, u64, u64) {
    let number = |name: &str| summary[name].as_u64().expect(name);
    (number("documents"), number("refused"), number("bytes"))
}

#[test]
fn the_summary_is_one_json_line() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "red fox\n\nblue bird\n");
    let out = ingest(&[&file]).json();
    assert_eq!(out.len(), 1);
    assert_eq!(counts(&out[0]), (3, 0, 16));
    assert!(out[0]["seconds"].as_f64().unwrap() > 0.0);
    assert!(out[0]["documents_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(out[0]["dropped"], 0);
    assert_eq!(out[0].as_object().unwrap().len(), 7);
}

#[test]
fn an_empty_file_is_no_documents() {
    let folder = Folder::new();
    for name in ["a.txt", "a.tsv", "a.jsonl"] {
        let out = ingest(&[&folder.file(name, "")]).json();
        assert_eq!(counts(&out[0]), (0, 0, 0), "{name}");
    }
}

#[test]
fn standard_input_and_several_files_go_in_in_order() {
    let folder = Folder::new();
    let tsv = folder.file("a.tsv", "k\tred fox\n");
    let queries = folder.file("queries.txt", "red\n");
    let args =
        ["ingest", "--mode", "volatile", "-", &tsv, "-", "--queries", &queries, "--json", "--ack"];
    let out = spirit_fed(&args, b"red one\nred two").done();
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines[..3], ["ack 0", "ack 1", "ack k"]);
    assert_eq!(counts(&serde_json::from_str(lines[3]).unwrap()), (3, 0, 21));
    assert_eq!(keys(&serde_json::from_str(lines[4]).unwrap()), ["k", "1", "0"]);
}

#[test]
fn formats_go_by_ending_unless_set() {
    let folder = Folder::new();
    let jsonl = "{\"key\": \"a\", \"text\": \"red\", \"more\": [1]}\n{\"id\": 7, \"text\": \"red\"}\n{\"text\": \"red\"}\n";
    let queries = folder.file("queries.txt", "red\n");
    for (name, content, expected) in [
        ("a.txt", "red\nred\n", vec!["1", "0"]),
        ("a.tsv", "x\tred\ny\tred\n", vec!["y", "x"]),
        ("a.jsonl", jsonl, vec!["2", "7", "a"]),
        ("a.ndjson", jsonl, vec!["2", "7", "a"]),
        ("a.json", jsonl, vec!["2", "7", "a"]),
    ] {
        let out = ingest(&[&folder.file(name, content), "--queries", &queries, "--json"]).json();
        assert_eq!(keys(&out[1]), expected, "{name}");
    }
    let plain = folder.file("b.txt", "x\tred\n");
    let out = ingest(&["--format", "tsv", &plain, "--queries", &queries, "--json"]).json();
    assert_eq!(keys(&out[1]), ["x"]);
}

#[test]
fn compressed_files_are_read_as_what_they_hold() {
    let folder = Folder::new();
    let pack = |text: &str| zstd::encode_all(text.as_bytes(), 3).unwrap();
    let mut two_frames = pack("{\"text\": \"red\"}\n");
    two_frames.extend(pack("{\"text\": \"red\"}\n"));
    let file = folder.file("a.jsonl.zst", &two_frames);
    assert_eq!(spirit(&["count", "--in", &file, "red"]).done(), "2\n");
    let torn = folder.file("b.txt.zst", &pack(&"red fox\n".repeat(1000))[..20]);
    let line = spirit(&["count", "--in", &torn, "red"]).failed(1);
    assert!(line.starts_with(&format!("spirit: {torn}: ")), "{line}");
}

#[test]
fn bad_lines_are_placed_and_the_rest_goes_in() {
    let folder = Folder::new();
    let lines = folder.file("a.txt", b"red\n\xff\xfe\nblue \xc3\nred\n");
    let tsv = folder.file("a.tsv", "k\tred\nno tab\n\tno key\n\nnone\n");
    let jsonl = folder.file("a.jsonl", "{\"text\": \"red\"}\n{\"text\": \n[]\n{\"key\": \"k\"}\n");
    let run = ingest(&[&lines, &tsv, &jsonl]);
    let reasons: Vec<_> = run.err.lines().collect();
    assert_eq!(reasons[0], format!("{lines}:2: invalid UTF-8 at byte 1"));
    assert_eq!(reasons[1], format!("{lines}:3: invalid UTF-8 at byte 6"));
    assert_eq!(reasons[2], format!("{tsv}:2: expected KEY<TAB>TEXT, found no tab"));
    assert!(reasons[3].starts_with(&format!("{tsv}:3: a key of 0 bytes")), "{}", reasons[3]);
    assert_eq!(reasons[4], format!("{tsv}:5: expected KEY<TAB>TEXT, found no tab"));
    for (reason, line) in reasons[5..].iter().zip(2..) {
        assert!(reason.starts_with(&format!("{jsonl}:{line}: malformed JSON: ")), "{reason}");
    }
    assert_eq!(reasons.len(), 8);
    assert_eq!(counts(&run.refused()[0]), (4, 8, 12));
}

#[test]
fn strict_stops_at_the_first_bad_line() {
    let folder = Folder::new();
    let file = folder.file("a.txt", b"red\nblue\n\xff\nred\n\xff\n");
    let run = ingest(&["--strict", &file]);
    assert_eq!(
        (run.code, run.err.as_str()),
        (1, &*format!("spirit: {file}:3: invalid UTF-8 at byte 1\n"))
    );
    assert_eq!(counts(&serde_json::from_str(&run.out).unwrap()), (2, 1, 7));
    assert_eq!(
        spirit(&["count", "--in", &file, "--strict", "red"]).failed(1).matches(":3: ").count(),
        1
    );
    ingest(&["--strict", &folder.file("b.txt", "red\n")]).done();
}

#[test]
fn a_document_of_ten_megabytes_is_refused_and_the_next_goes_in() {
    let folder = Folder::new();
    let huge = "word ".repeat(2_000_000);
    let json = format!("{{\"text\": \"red\"}}\n{{\"text\": \"{huge}\"}}\n{{\"text\": \"red\"}}\n");
    for (name, content) in [
        ("a.txt", format!("red\n{huge}\nred\n")),
        ("a.tsv", format!("a\tred\nb\t{huge}\nc\tred\n")),
        ("a.jsonl", json),
    ] {
        let file = folder.file(name, content);
        let run = ingest(&[&file]);
        assert_eq!(run.err, format!("{file}:2: a document of more than 1048576 bytes; split it\n"));
        assert_eq!(counts(&run.refused()[0]), (2, 1, 6), "{name}");
    }
}

#[test]
fn a_document_that_is_too_long_only_for_the_engine_is_placed_too() {
    let folder = Folder::new();
    let long = "w ".repeat((1 << 19) + 1);
    let file = folder.file("a.tsv", format!("a\tred\nb\t{long}\nc\tred\n"));
    let run = ingest(&[&file]);
    assert!(run.err.starts_with(&format!("{file}:2: a document of 1048578 bytes")), "{}", run.err);
    assert_eq!(counts(&run.refused()[0]), (2, 1, 6));
}

#[test]
fn a_term_of_a_megabyte_is_passed_over_within_its_document() {
    let folder = Folder::new();
    let file = folder.file("a.txt", format!("before {} after\n", "x".repeat(1_000_000)));
    for query in ["before", "after", "before AND after"] {
        assert_eq!(spirit(&["count", "--in", &file, query]).done(), "1\n", "{query}");
    }
}

#[test]
fn the_same_key_again_replaces_the_document() {
    let folder = Folder::new();
    let file = folder.file("a.tsv", "a\told red\nb\told blue\na\tnew green\n");
    let queries = folder.file("queries.txt", "old\nnew\n*\nkey:a\n");
    let out = ingest(&[&file, "--queries", &queries, "--json"]).json();
    assert_eq!(counts(&out[0]), (3, 0, 24));
    assert_eq!(keys(&out[1]), ["b"]);
    assert_eq!(keys(&out[2]), ["a"]);
    assert_eq!(keys(&out[3]), ["a", "b"]);
    assert_eq!(out[4]["count"], 1);
}

#[test]
fn empty_documents_are_documents() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "\n\nred\n");
    assert_eq!(spirit(&["count", "--in", &file, "*"]).done(), "3\n");
}

/// More documents than fit in the smallest heaps.
fn many() -> String {
    (0..60_000).map(|n| format!("word{n} other{} red fox\n", n * 7)).collect()
}

const SMALL: [&str; 4] = ["--dram", "4MiB", "--segment", "128KiB"];

#[test]
fn a_full_heap_that_is_told_to_drop_says_how_many_went() {
    let folder = Folder::new();
    let file = folder.file("a.txt", many());
    let queries = folder.file("queries.txt", "*\nword59999\nword0\n");
    let drop = ["--on-full", "drop", &file, "--queries", &queries, "--json"];
    let run = ingest(&[&SMALL[..], &drop].concat());
    let said = run.err.clone();
    let out = run.json();
    assert_eq!(out[0]["documents"], 60_000);
    let live = out[1]["count"].as_u64().unwrap();
    assert!(0 < live && live < 60_000, "{live}");
    assert_eq!((&out[2]["count"], &out[3]["count"]), (&1.into(), &0.into()));
    assert_eq!(out[0]["dropped"], 60_000 - live);
    assert!(said.contains(" documents were dropped, as --on-full drop or --retain asks"), "{said}");
}

#[test]
fn a_full_heap_loses_nothing_unless_it_is_told_to() {
    let folder = Folder::new();
    let file = folder.file("a.txt", many());
    let run = ingest(&[&SMALL[..], &[&file]].concat());
    let summary: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    let taken = summary["documents"].as_u64().unwrap();
    assert!(0 < taken && taken < 60_000, "{taken}");
    assert_eq!(summary["dropped"], 0);
    let line = run.failed(1);
    let place = format!("a.txt:{}: all 4 MiB of DRAM are full: give more with --dram", taken + 1);
    assert!(line.contains(&place), "{line}");
    for command in [&["count"][..], &["search"]] {
        let line = spirit(&[command, &SMALL, &["--in", &file, "*"]].concat()).failed(1);
        assert!(line.contains("give more with --dram"), "{line}");
    }
}

/// Documents of which a file of 10 MiB has no room for all.
const ALL: u64 = 400_000;

#[test]
fn a_full_file_loses_nothing_unless_it_is_told_to_and_counts_what_went() {
    let folder = Folder::new();
    let line = |n| format!("line of text number {n} w{}\n", n / 7);
    let file = folder.file("a.txt", (0..ALL).map(line).collect::<String>());
    let small = [&SMALL[..], &["--nvm", "10MiB"]].concat();
    let (refuses, drops) = (folder.path("refuses"), folder.path("drops"));
    let run = spirit(&[&["ingest", "-d", &refuses, &file], &small[..]].concat());
    let summary: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    let line = run.failed(1);
    assert!(line.contains("--nvm") || line.contains("--dram"), "{line}");
    let count = |directory: &str| spirit(&["count", "-d", directory, "*"]).done();
    assert_eq!(count(&refuses), format!("{}\n", summary["documents"]));
    let drop = ["ingest", "-d", &drops, "--on-full", "drop", &file];
    let summary = &spirit(&[&drop[..], &small].concat()).json()[0];
    let live: u64 = count(&drops).trim().parse().unwrap();
    assert_eq!(summary["dropped"], ALL - live);
    let stats = &spirit(&["stats", "-d", &drops, "--json"]).json()[0];
    assert_eq!(stats["documents"]["dropped"], ALL - live);
}

/// With less DRAM than an index was made with it has smaller segments, and no slots for as many as would fill its file.
#[test]
fn an_index_without_slots_for_segments_says_so_and_loses_nothing() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let made = ["--segment", "512KiB", "--dram", "16MiB", "--nvm", "64MiB"];
    let first = folder.file("first.txt", "first\n");
    spirit(&[&["ingest", "-d", &directory, &first], &made[..]].concat()).done();
    let lines: String =
        (0..200_000).map(|n| format!("line of text number {n} w{}\n", n / 7)).collect();
    let file = folder.file("a.txt", lines);
    let run = spirit(&["ingest", "-d", &directory, "--dram", "1MiB", &file]);
    let least = run.failed(2);
    assert!(least.ends_with(" bytes"), "the segment size of an index stays: {least}");
    let bytes = least.split_whitespace().rev().nth(1).unwrap();
    let run = spirit(&["ingest", "-d", &directory, "--dram", bytes, &file]);
    let summary: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    let line = run.failed(1);
    assert!(line.contains("it has no slot for another segment"), "{line}");
    let kept = summary["documents"].as_u64().unwrap() + 1;
    assert_eq!(spirit(&["count", "-d", &directory, "*"]).done(), format!("{kept}\n"));
    let stats = &spirit(&["stats", "-d", &directory, "--json"]).json()[0];
    let partitions = stats["heap"]["persistent"]["partitions"].as_array().unwrap();
    let slots = partitions.iter().find(|partition| partition["name"] == "slots").unwrap();
    assert!(slots["used"].as_u64().unwrap() * 4 > slots["cap"].as_u64().unwrap() * 3, "{slots}");
    // With all of its DRAM, too.
    let line = spirit(&["ingest", "-d", &directory, &file]).failed(1);
    assert!(line.contains("it has no slot for another segment"), "{line}");
}

/// Many short documents of words that no other has fill the dictionary first.
#[test]
fn an_index_that_words_of_their_own_fill_says_so_and_loses_nothing() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let lines: String = (0..200_000).map(|n| format!("a{n} b{n} c{n}\n")).collect();
    let file = folder.file("a.txt", lines);
    let made = ["--segment", "256KiB", "--dram", "8MiB", "--nvm", "32MiB"];
    let run = spirit(&[&["ingest", "-d", &directory, &file], &made[..]].concat());
    let summary: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    let line = run.failed(1);
    assert!(line.contains("is full"), "{line}");
    let kept = format!("{}\n", summary["documents"]);
    assert_eq!(spirit(&["count", "-d", &directory, "*"]).done(), kept);
    // A start that takes the log has no more room.
    spirit(&["ingest", "-d", &directory, &folder.file("none", "")]).done();
    assert_eq!(spirit(&["count", "-d", &directory, "*"]).done(), kept);
}

/// Files that do not fit in the usual DRAM get more. Bad lines are still reported once.
#[test]
fn files_that_are_asked_are_asked_whole() {
    let folder = Folder::new();
    let lines: String = (0..2_400_000).map(|n| format!("line of text number {n}\n")).collect();
    let file = folder.file("a.txt", ["line\n", &lines].concat());
    let bad = folder.file("bad.txt", b"one\n\xff\xfe\nthree\n");
    let run = spirit(&["count", "--in", &bad, &file, "*"]);
    assert_eq!((run.code, run.err.lines().count()), (3, 1), "{}", run.err);
    assert_eq!(run.out, "2400003\n");
}

#[test]
fn progress_is_shown_when_forced() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "red\n");
    assert_eq!(ingest(&[&file]).err, "");
    let run = ingest(&["--progress", &file]);
    assert!(run.err.starts_with("1 documents, "), "{}", run.err);
    assert!(!run.err.contains('\u{1b}'));
}

#[test]
fn a_configuration_file_has_the_same_names_and_the_command_line_wins() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "k\tred foxes\nbad line\n");
    let queries = folder.file("queries.txt", "fox\n");
    let config = folder.file(
        "a.toml",
        "mode = \"volatile\"\nformat = \"tsv\"\nanalyzer = \"english\"\ndram = \"64MiB\"\n\
         segment = 1048576\nexecutors = 2\npositions = false\nstore = \"no\"\non-full = \"wait\"\n\
         strict = false\nack = true\n",
    );
    let run = spirit(&["ingest", "--config", &config, &file, "--queries", &queries]);
    let said = format!("{file}:2: expected KEY<TAB>TEXT, found no tab\n{queries}:1: 1 match in ");
    assert!(run.err.starts_with(&said), "{}", run.err);
    assert_eq!(run.code, 3);
    let out = run.out;
    assert!(out.starts_with("ack k\n{\"documents\":1,\"refused\":1,"), "{out}");
    assert!(out.ends_with("\nquery: fox\nk\n"), "{out}");
    let typed = ["ingest", "--config", &config, "--format", "lines", "--analyzer", "simple", &file];
    let run = spirit(&[&typed[..], &["--queries", &queries]].concat());
    assert!(run.err.contains(":1: 0 matches in "), "{}", run.err);
    let out = run.done();
    assert!(out.contains("{\"documents\":2,\"refused\":0,"), "{out}");
    assert!(out.ends_with("\nquery: fox\n"), "{out}");
}

#[test]
fn what_is_wrong_in_a_configuration_file_is_named() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "red\n");
    for (content, reason) in [
        ("analyser = \"simple\"\n", "unknown key `analyser`"),
        ("dram = \"10XB\"\n", "`dram`: `10XB` is not a size"),
        ("mode = \"eternal\"\n", "`mode`: `eternal`: choose one of volatile, graceful, crash"),
        ("executors = \"two\"\n", "`executors`: "),
        ("strict = \"maybe\"\n", "`strict`: "),
        ("dram = [1]\n", "`dram`: expected a string"),
        ("dram = \n", ""),
        ("mode = \"crash\"\n", "--mode crash: needs a directory; give -d DIR"),
    ] {
        let config = folder.file("a.toml", content);
        let line = spirit(&["ingest", "--config", &config, &file]).failed(2);
        assert!(line.contains(reason), "{line}");
        assert!(line.contains(&config) || content.contains("crash"), "{line}");
    }
    let line = spirit(&["ingest", "--config", "no/such.toml", &file]).failed(1);
    assert!(line.starts_with("spirit: no/such.toml: "), "{line}");
}

/// Two segments' worth of lines, and more.
fn many_lines() -> String {
    (0..30_000).map(|n| format!("word{} red{} line {n}\n", n % 5000, n % 7)).collect()
}

const PIPELINE: [&str; 6] = ["--dram", "16MiB", "--segment", "128KiB", "--nvm", "64MiB"];

#[test]
fn every_choice_of_the_pipeline_can_be_typed() {
    let folder = Folder::new();
    let (file, queries) = (folder.file("a.txt", many_lines()), folder.file("q.txt", "red3\n"));
    let expected = "\nquery: red3\n";
    for (number, choices) in [
        &["--engrave", "lazy", "--pointer-update", "eager", "--stage-threads", "2"][..],
        &["--engrave", "opportunistic", "--pointer-update", "lazy", "--blocks", "fixed"],
        &["--dram-short", "2MiB", "--dram-long", "6MiB", "--dram-dictionary", "4MiB"],
        &["--nvm-short", "6MiB", "--nvm-long", "20MiB", "--nvm-dictionary", "8MiB"],
    ]
    .into_iter()
    .enumerate()
    {
        let directory = folder.path(&format!("index{number}"));
        for mode in ["crash", "graceful", "volatile"] {
            let place = format!("{directory}-{mode}");
            let args = ["ingest", "-d", &place, "--mode", mode, &file, "--queries", &queries];
            let run = spirit(&[&args[..], &PIPELINE, choices].concat());
            assert!(run.err.contains("q.txt:1: 4,286 matches in "), "{mode}: {}", run.err);
            let out = run.done();
            assert!(out.contains(expected), "{out}");
            let summary: serde_json::Value =
                serde_json::from_str(out.lines().next().unwrap()).unwrap();
            let busy = &summary["busy_seconds"];
            assert!(busy["ingest"].as_f64() > Some(0.0), "{summary}");
            assert!(busy["flush"].as_f64() > Some(0.0), "{summary}");
            let left = std::fs::read_dir(&place).unwrap().count();
            assert_eq!(left > 0, mode != "volatile", "{mode}: {left} files");
        }
    }
    let stats = spirit(&["stats", "-d", &folder.path("index3-crash"), "--json"]).json().remove(0);
    let partitions = stats["heap"]["persistent"]["partitions"].as_array().unwrap();
    let bytes = |name: &str| {
        let named = partitions.iter().find(|partition| partition["name"] == name).unwrap();
        named["cap"].as_u64().unwrap() >> 20
    };
    assert_eq!((bytes("short-term"), bytes("long-term")), (6, 20), "{stats}");
}

#[test]
fn sizes_of_parts_that_cannot_be_are_wrong_usage() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "red\n");
    let directory = folder.path("index");
    let ingest = |more: &[&str]| {
        spirit(&[&["ingest", "-d", &directory, &file][..], &PIPELINE, more].concat())
    };
    for (option, size, reason) in [
        (
            "--dram-short",
            "1KiB",
            "--dram-short: 1024 bytes are too small for the segments: give at least ",
        ),
        ("--dram-long", "1KiB", "--dram-long: 1024 bytes are too small"),
        ("--dram-dictionary", "1KiB", "--dram-dictionary: 1024 bytes are too small"),
        ("--nvm-short", "1KiB", "--nvm-short: 4096 bytes are too small"),
        ("--nvm-long", "1KiB", "--nvm-long: 4096 bytes are too small"),
        ("--nvm-dictionary", "1KiB", "--nvm-dictionary: 4096 bytes are too small"),
        ("--dram-long", "1TiB", "--dram-long: 1099511627776 bytes are too many: give at most "),
        ("--nvm-short", "1TiB", "--nvm-short: 1099511627776 bytes are too many: give at most "),
        ("--dram-long", "40GiB", "--dram: a DRAM heap of 16777216 bytes is too small"),
        ("--dram-long", "1GiB", "--dram: a DRAM heap of 16777216 bytes is too small"),
        ("--nvm-long", "1GiB", "--nvm: a second tier of 67108864 bytes is too small"),
    ] {
        let line = ingest(&[option, size]).failed(2);
        assert!(line.starts_with(&format!("spirit: {reason}")), "{line}");
        assert!(!Path::new(&directory).join("heap").exists());
    }
    ingest(&["--nvm-short", "8MiB"]).done();
    let line = ingest(&["--nvm-short", "4MiB"]).failed(2);
    let made = "was made with 8 MiB, which cannot change; leave the option out";
    assert!(line.starts_with("spirit: --nvm-short 4 MiB: ") && line.ends_with(made), "{line}");
    // The parts of DRAM are those of one run.
    ingest(&["--dram-long", "6MiB"]).done();
    let line = spirit(&["ingest", "-d", &directory, "--mode", "volatile", &file]).failed(1);
    assert!(line.ends_with("a volatile index needs a directory without one"), "{line}");
    let resumed = ["ingest", "-d", &directory, "--mode", "volatile", "--resume", &file];
    assert!(spirit(&resumed).failed(2).starts_with("spirit: --resume: a volatile index"));
}
