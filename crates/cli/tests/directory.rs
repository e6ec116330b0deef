//! An index in a directory: what one process adds the next one finds, with the options that the index was made with.

mod common;

use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, Writer, command, ingest_into, keys, spirit};
use serde_json::Value;

/// Small, so that making it is quick.
const SMALL: [&str; 4] = ["--dram", "8MiB", "--nvm", "32MiB"];

/// A directory for an index, which is not there yet.
fn directory(folder: &Folder) -> String {
    folder.path("index")
}

/// Makes the index of `documents`, a line each.
fn made(folder: &Folder, more: &[&str], documents: &str) -> String {
    let directory = directory(folder);
    ingest_into(&directory, &[&SMALL[..], more].concat(), documents).done();
    directory
}

fn search(directory: &str, query: &str) -> Value {
    spirit(&["search", "-d", directory, "--json", query]).json().remove(0)
}

fn count(directory: &str, query: &str) -> String {
    spirit(&["count", "-d", directory, query]).done()
}

fn stats(directory: &str) -> Value {
    spirit(&["stats", "-d", directory, "--json"]).json().remove(0)
}

#[test]
fn what_one_process_adds_others_find() {
    let folder = Folder::new();
    let directory = made(&folder, &[], "the red fox\nthe blue bird\na red bird\n");
    assert_eq!(keys(&search(&directory, "red")), ["2", "0"]);
    assert_eq!(count(&directory, "red OR blue"), "3\n");
    let queries = folder.file("queries.txt", "red\nbird\n");
    let out = spirit(&["search", "-d", &directory, "--queries", &queries, "--json"]).json();
    assert_eq!(out.iter().map(keys).collect::<Vec<_>>(), [["2", "0"], ["2", "1"]]);
    let shown = spirit(&["search", "-d", &directory, "-k", "1", "red"]);
    assert!(shown.err.starts_with("2 matches in "), "{}", shown.err);
    assert!(shown.err.ends_with("\nnext page: --after 2\n"), "{}", shown.err);
    assert_eq!(shown.done(), "2\n");
    let next = spirit(&["search", "-d", &directory, "--after", "2", "--json", "red"]).json();
    assert_eq!(keys(&next[0]), ["0"]);
}

#[test]
fn the_summary_and_the_queries_of_ingest_are_as_without_a_directory() {
    let folder = Folder::new();
    let directory = directory(&folder);
    let queries = folder.file("queries.txt", "red\n");
    let more = ["--queries", &queries, "--json", "--ack"];
    let out = ingest_into(&directory, &[&SMALL[..], &more].concat(), "red fox\nred\n").done();
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines[..2], ["ack 0", "ack 1"]);
    let summary: Value = serde_json::from_str(lines[2]).unwrap();
    assert_eq!((&summary["documents"], &summary["bytes"]), (&2.into(), &10.into()));
    assert_eq!(keys(&serde_json::from_str(lines[3]).unwrap()), ["1", "0"]);
}

#[test]
fn an_empty_file_makes_an_index_of_no_documents() {
    let folder = Folder::new();
    let directory = made(&folder, &[], "");
    assert_eq!(count(&directory, "*"), "0\n");
    assert_eq!(stats(&directory)["documents"]["accepted"], 0);
    ingest_into(&directory, &[], "").done();
    ingest_into(&directory, &[], "red\n").done();
    assert_eq!(keys(&search(&directory, "*")), ["0"]);
}

/// A document that an executor refused had taken a number, and each later one was acknowledged under one less than its key.
#[test]
fn what_is_acknowledged_is_the_key_whatever_was_refused() {
    let folder = Folder::new();
    let directory = folder.path("index");
    let too_large: String = (0..20_000).map(|n| format!("large{n} ")).collect();
    let more = ["--ack", "--executors", "3"];
    let first = ingest_into(
        &directory,
        &[&SMALL[..], &more].concat(),
        &format!("red\n{too_large}\ngreen\n{too_large}\nblue\n"),
    );
    assert!(first.err.contains("-:2: ") && first.err.contains("-:4: "), "{}", first.err);
    assert_eq!(first.code, 3);
    assert!(first.out.starts_with("ack 0\nack 1\nack 2\n{"));
    assert!(ingest_into(&directory, &["--ack"], "white\n").done().starts_with("ack 3\n{"));
    for (key, color) in ["red", "green", "blue", "white"].into_iter().enumerate() {
        assert_eq!(keys(&search(&directory, color)), [key.to_string()]);
    }
}

#[test]
fn automatic_keys_go_on_counting() {
    let folder = Folder::new();
    for (number, executors) in ["1", "3"].into_iter().enumerate() {
        let directory = folder.path(&number.to_string());
        let more = ["--ack", "--executors", executors];
        let first = ingest_into(&directory, &[&SMALL[..], &more].concat(), "red\nred\n").done();
        assert!(first.starts_with("ack 0\nack 1\n{"), "{first}");
        // Explicit keys count as well: an automatic key is the number of documents before it.
        ingest_into(&directory, &["--format", "tsv"], "k\tred\n").done();
        spirit(&["delete", "-d", &directory, "1"]).done();
        let third = ingest_into(&directory, &["--ack"], "red\nred\n").done();
        assert!(third.starts_with("ack 3\nack 4\n{"), "{third}");
        assert_eq!(keys(&search(&directory, "red")), ["4", "3", "k", "0"]);
    }
}

#[test]
fn the_same_key_replaces_what_an_earlier_process_added() {
    let folder = Folder::new();
    let directory = made(&folder, &["--format", "tsv"], "a\told red\nb\told blue\n");
    ingest_into(&directory, &["--format", "tsv"], "a\tnew green\n").done();
    assert_eq!(keys(&search(&directory, "old")), ["b"]);
    assert_eq!(keys(&search(&directory, "new")), ["a"]);
    assert_eq!(keys(&search(&directory, "*")), ["a", "b"]);
    assert_eq!(count(&directory, "key:a"), "1\n");
    // An automatic document by its number, too.
    ingest_into(&directory, &[], "young\n").done();
    ingest_into(&directory, &["--format", "tsv"], "3\tnewer\n").done();
    assert_eq!(count(&directory, "young"), "0\n");
    assert_eq!(keys(&search(&directory, "newer")), ["3"]);
}

#[test]
fn deleted_documents_are_gone_for_all_later_processes() {
    let folder = Folder::new();
    let directory = made(&folder, &["--format", "tsv"], "a\tred\nb\tred\nc\tred\n");
    let delete = |more: &[&str]| spirit(&[&["delete", "-d", &directory], more].concat()).done();
    let shown = delete(&["a", "nobody", "a"]);
    let missing = "no document has the key nobody\nno document has the key a\n";
    assert_eq!(shown, format!("deleted 1 of 3\n{missing}"));
    assert_eq!(keys(&search(&directory, "red")), ["c", "b"]);
    let shown = delete(&["--dram", "16MiB", "--json", "b", "nobody"]);
    assert_eq!(shown, "{\"deleted\":1,\"missing\":[\"nobody\"]}\n");
    assert_eq!(delete(&["nobody"]), "deleted 0 of 1\nno document has the key nobody\n");
    assert_eq!(count(&directory, "*"), "1\n");
    ingest_into(&directory, &["--format", "tsv"], "a\tred again\n").done();
    assert_eq!(keys(&search(&directory, "red")), ["a", "c"]);
}

#[test]
fn statistics_are_of_what_is_kept() {
    let folder = Folder::new();
    let directory = made(&folder, &["--format", "tsv"], "a\tred fox\nb\tbird\na\tblue fox\n");
    let stats = stats(&directory);
    assert_eq!(stats["documents"]["live"], 2);
    assert_eq!(stats["documents"]["accepted"], 3);
    assert_eq!(stats["mode"], "crash");
    let kept = &stats["kept"];
    assert_eq!((&kept["durability"], &kept["medium"]), (&"process".into(), &"file".into()));
    assert_eq!(kept["file"], format!("{directory}/heap"));
    let cap = kept["cap"].as_u64().unwrap();
    assert!((32 << 20..33 << 20).contains(&cap), "{cap}");
    assert!(kept["reserved"].as_u64().unwrap() < cap);
    let heap = &stats["heap"];
    assert_eq!(heap["dram"]["partitions"].as_array().unwrap().len(), 4);
    assert_eq!(heap["persistent"]["cap"], 32 << 20);
    assert_eq!(heap["persistent"]["partitions"][0]["name"], "log");
    let shown = spirit(&["stats", "-d", &directory]).done();
    for (name, value) in
        [("mode", "crash"), ("file", &*format!("{directory}/heap")), ("  medium", "file")]
    {
        assert!(shown.contains(&format!("\n{name:<32}{value}\n")), "{shown}");
    }
}

#[test]
fn all_of_the_disk_is_taken_when_asked() {
    let folder = Folder::new();
    let directory = made(&folder, &["--reserve", "full"], "red\n");
    let kept = &stats(&directory)["kept"];
    assert!(kept["reserved"].as_u64() >= kept["cap"].as_u64(), "{kept}");
}

#[test]
fn the_options_of_an_index_are_kept() {
    let folder = Folder::new();
    let options = ["--analyzer", "english", "--executors", "2"];
    let directory = made(&folder, &options, "red foxes\n");
    ingest_into(&directory, &[], "the foxes\n").done();
    assert_eq!(keys(&search(&directory, "fox")), ["1", "0"]);
    assert_eq!(count(&directory, "the"), "0\n");
    let executors = |stats: &Value| {
        let partitions = stats["heap"]["dram"]["partitions"].as_array().unwrap();
        partitions.iter().map(|p| p["executor"].as_u64().unwrap()).max()
    };
    assert_eq!(executors(&stats(&directory)), Some(1));
}

#[test]
fn an_option_that_the_index_was_not_made_with_is_a_mistake() {
    let folder = Folder::new();
    let options = ["--executors", "3", "--segment", "64KiB", "--positions", "no"];
    let directory = made(&folder, &options[..], "red\n");
    for (option, asked, made) in [
        ("--executors", "2", "3"),
        ("--analyzer", "english", "standard"),
        ("--segment", "128KiB", "64 KiB"),
        ("--positions", "yes", "no"),
        ("--on-full", "wait", "refuse"),
        ("--mode", "graceful", "crash"),
        ("--durability", "os", "process"),
        ("--nvm", "60MiB", "32.0 MiB"),
    ] {
        let line = ingest_into(&directory, &[option, asked], "blue\n").failed(2);
        let asked = asked.replace("KiB", " KiB").replace("MiB", " MiB");
        let said =
            format!("spirit: {option} {asked}: the index in {directory} was made with {made},");
        assert!(line.starts_with(&said), "{line}");
    }
    let line = spirit(&["count", "-d", &directory, "--executors", "1", "red"]).failed(2);
    assert!(line.starts_with("spirit: --executors 1: "), "{line}");
    assert_eq!(count(&directory, "*"), "1\n");
    // As it was made, all of it may be said again; how the space was taken is of no matter then.
    let again = [&SMALL[..], &options, &["--reserve", "full", "--on-full", "refuse"]].concat();
    let run = ingest_into(&directory, &again, "blue\n");
    assert_eq!(
        run.err,
        format!("spirit: --reserve: ignored; the index in {directory} exists already\n")
    );
    run.done();
    assert_eq!(count(&directory, "*"), "2\n");
}

/// How many bytes segments have in a section of this name.
fn section(stats: &Value, name: &str) -> u64 {
    let sections = stats["sections"].as_array().unwrap();
    sections.iter().filter(|s| s["name"] == name).map(|s| s["bytes"].as_u64().unwrap()).sum()
}

#[test]
fn lists_are_packed_from_when_that_is_asked_for_and_phrases_go_through_both() {
    let folder = Folder::new();
    let directory = made(&folder, &["--mode", "graceful"], "red fox\na red fox\n");
    let raw = section(&stats(&directory), "posting arrays");
    assert!(raw > 0 && section(&stats(&directory), "packed lists") == 0);
    let packed = [&SMALL[..], &["--postings", "packed"]].concat();
    ingest_into(&directory, &packed, "the red fox\nfox, red\n").done();
    ingest_into(&directory, &SMALL, "red fox red fox\n").done();
    let stats = stats(&directory);
    assert_eq!(section(&stats, "posting arrays"), raw, "no more than there were");
    assert!(section(&stats, "packed lists") > 0);
    assert_eq!(keys(&search(&directory, "\"red fox\"")), ["4", "2", "1", "0"]);
    assert_eq!(keys(&search(&directory, "\"fox red\"")), ["4", "3"]);
}

#[test]
fn dram_may_be_another_each_time() {
    let folder = Folder::new();
    let text: String = (0..5000).map(|n| format!("word{n} red\n")).collect();
    let directory = made(&folder, &[], &text);
    for dram in ["8MiB", "64MiB", "16MiB"] {
        let more = ["--dram", dram];
        let run = spirit(&[&["count", "-d", &directory, "red"], &more[..]].concat());
        assert_eq!(run.done(), "5000\n", "{dram}");
    }
    let line = ingest_into(&directory, &["--dram", "256KiB"], "red\n").failed(2);
    assert!(line.contains("too small"), "{line}");
    // A process that only asks takes at least as much as the writer had.
    let run = spirit(&["count", "-d", &directory, "--dram", "256KiB", "red"]);
    assert_eq!(run.done(), "5000\n");
}

#[test]
fn the_directory_may_be_named_in_a_configuration_file() {
    let folder = Folder::new();
    let directory = directory(&folder);
    let content = format!(
        "directory = \"{directory}\"\nmode = \"crash\"\ndurability = \"process\"\ndram = \"8MiB\"\n\
         nvm = \"32MiB\"\nreserve = \"full\"\nexecutors = 2\nack = true\n"
    );
    let config = folder.file("a.toml", content);
    let file = folder.file("a.txt", "red\n");
    let out = spirit(&["ingest", "--config", &config, &file]).done();
    assert!(out.starts_with("ack 0\n{"), "{out}");
    assert_eq!(count(&directory, "red"), "1\n");
    let other = folder.path("other");
    spirit(&["ingest", "--config", &config, "-d", &other, &file]).done();
    assert_eq!(count(&other, "red"), "1\n");
}

#[test]
fn a_graceful_index_is_there_again_after_an_orderly_end_and_not_after_another() {
    let folder = Folder::new();
    let directory = made(&folder, &["--mode", "graceful"], "red\nblue\n");
    assert_eq!(keys(&search(&directory, "red")), ["0"]);
    let mut writer = Writer::start(&directory, &SMALL[..2]);
    writer.add("green\n");
    writer.child.kill().unwrap();
    writer.child.wait().unwrap();
    let line = spirit(&["count", "-d", &directory, "red"]).failed(1);
    assert!(line.contains("was not closed in an orderly way"), "{line}");
}

#[test]
fn a_directory_without_an_index_is_named_and_left_alone() {
    let folder = Folder::new();
    let directory = directory(&folder);
    let commands: [&[&str]; 5] = [
        &["search", "-d", &directory, "red"],
        &["count", "-d", &directory, "red"],
        &["stats", "-d", &directory],
        &["delete", "-d", &directory, "key"],
        &["check", "-d", &directory],
    ];
    for there in [false, true] {
        for args in commands {
            let line = spirit(args).failed(1);
            let expected = format!("spirit: {directory}: there is no index; `spirit ingest -d");
            assert!(line.starts_with(&expected), "{line}");
            assert_eq!(Path::new(&directory).exists(), there);
        }
        // Empty, it is no index either.
        std::fs::create_dir_all(&directory).unwrap();
    }
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn what_is_no_index_is_an_error_that_names_the_file() {
    let folder = Folder::new();
    let file = folder.file("index/heap", "nothing of the kind");
    let line = spirit(&["count", "-d", &folder.path("index"), "red"]).failed(1);
    assert!(line.starts_with(&format!("spirit: {file}: it has 19 bytes")), "{line}");
    let directory = folder.file("plain", "a file");
    let line = ingest_into(&directory, &[], "").failed(1);
    assert!(line.starts_with(&format!("spirit: {directory}/heap: Not a directory")), "{line}");
}

#[test]
fn an_index_with_large_segments_needs_no_dram_typed_later() {
    let folder = Folder::new();
    let directory = directory(&folder);
    let large = ["--segment", "128MiB", "--dram", "3GiB", "--nvm", "4GiB"];
    ingest_into(&directory, &large, "red\n").done();
    assert_eq!(count(&directory, "red"), "1\n");
    ingest_into(&directory, &[], "red\n").done();
    assert_eq!(keys(&search(&directory, "red")), ["1", "0"]);
    assert_eq!(spirit(&["delete", "-d", &directory, "0"]).done(), "deleted 1 of 1\n");
    assert_eq!(stats(&directory)["documents"]["live"], 1);
    // With less DRAM it has smaller segments, down to an eighth.
    ingest_into(&directory, &["--dram", "1GiB"], "red\n").done();
    assert_eq!(count(&directory, "red"), "2\n");
    let line = ingest_into(&directory, &["--dram", "128MiB"], "red\n").failed(2);
    assert!(line.contains("too small for segments"), "{line}");
}

#[test]
fn groups_of_no_bytes_are_of_one_document_each() {
    let folder = Folder::new();
    let directory = directory(&folder);
    let (lines, objects) = (
        folder.file("a.txt", "red\nred\n"),
        folder.file("a.jsonl", "{\"n\": 1, \"text\": \"red\"}\n"),
    );
    for (none, expected) in [("0", "3\n"), ("0KiB", "6\n")] {
        let files = ["ingest", "-d", &directory, "--group-bytes", none, &lines, &objects];
        let mut child =
            command(&[&files[..], &SMALL].concat()).stdout(Stdio::null()).spawn().unwrap();
        assert!(ends_soon(&mut child), "--group-bytes {none}");
        assert_eq!(count(&directory, "red"), expected);
    }
}

/// Whether it succeeds within a minute; if not, it is ended.
fn ends_soon(child: &mut Child) -> bool {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return status.success();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    false
}

#[test]
fn reading_options_are_for_files() {
    let folder = Folder::new();
    let directory = made(&folder, &[], "red\n");
    for option in [&["--format", "tsv"][..], &["--strict"]] {
        let line = spirit(&[&["count", "-d", &directory, "red"], option].concat()).failed(2);
        assert!(line.contains(&format!("{}: needs --in", option[0])), "{line}");
    }
    let line = spirit(&["count", "-d", &directory]).failed(2);
    assert!(line.contains("no query"), "{line}");
}

#[test]
fn a_level_that_the_medium_cannot_keep_is_refused() {
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        return;
    }
    let folder = Folder::within(memory);
    let directory = directory(&folder);
    let line = ingest_into(&directory, &["--durability", "os"], "red\n").failed(1);
    assert!(line.contains("level os is not available"), "{line}");
    let line = spirit(&["count", "-d", &directory, "red"]).failed(1);
    assert!(line.contains("there is no index"), "{line}");
    made(&folder, &[], "red\n");
}

#[test]
fn a_level_that_a_disk_keeps_is_kept() {
    let folder = Folder::new();
    let directory = made(&folder, &["--durability", "os"], "red\n");
    ingest_into(&directory, &["--durability", "os", "--ack"], "red\n").done();
    assert_eq!(count(&directory, "red"), "2\n");
    assert_eq!(stats(&directory)["kept"]["durability"], "os");
}

#[test]
fn an_index_is_open_for_writing_in_one_process_at_a_time() {
    let folder = Folder::new();
    let directory = directory(&folder);
    let mut writer = Writer::start(&directory, &SMALL[..2]);
    writer.add("red\n");
    for args in [&["ingest", "-d", &directory, "/dev/null"][..], &["delete", "-d", &directory, "0"]]
    {
        let line = spirit(args).failed(1);
        let expected = format!("spirit: {directory}/heap: another process has this index open");
        assert!(line.starts_with(&expected), "{line}");
    }
    writer.add("red\n");
    drop(writer.child.stdin.take());
    assert!(writer.child.wait().unwrap().success());
    assert_eq!(count(&directory, "red"), "2\n");
}

#[test]
fn a_check_says_what_is_wrong_and_where() {
    let folder = Folder::new();
    let documents: String = (0..3000).map(|n| format!("fox w{} w{}\n", n % 7, n % 100)).collect();
    let directory = made(&folder, &["--segment", "64KiB"], &documents);
    let sound = spirit(&["check", "-d", &directory]).done();
    assert!(sound.ends_with(" bytes: sound\n"), "{sound}");

    let heap = Path::new(&directory).join("heap");
    let mut bytes = std::fs::read(&heap).unwrap();
    // The first word of the first segment's slot behind its mark.
    bytes[8192 + 2 * 24 * 4096 + 8] ^= 1;
    std::fs::write(&heap, bytes).unwrap();
    let line = spirit(&["check", "-d", &directory]).failed(1);
    assert!(
        line.ends_with("; restore a backup, or save intact parts with `spirit salvage`"),
        "{line}"
    );
    let line = spirit(&["count", "-d", &directory, "fox"]).failed(1);
    assert!(line.contains("segment slot at 0x0"), "{line}");
}

#[test]
fn how_long_documents_are_kept_is_kept_too() {
    let folder = Folder::new();
    let directory = made(&folder, &["--retain", "1h"], "red\n");
    ingest_into(&directory, &["--retain", "1h"], "red\n").done();
    let line = ingest_into(&directory, &["--retain", "2h"], "red\n").failed(2);
    assert!(line.starts_with("spirit: --retain 2h: the index in "), "{line}");
    assert_eq!(count(&directory, "red"), "2\n");
    let run = ingest_into(&directory, &["--retain", "soon"], "");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("'soon' for '--retain <TIME>'"), "{}", run.err);
}

/// Bytes of the disk that the file of an index takes.
fn taken(directory: &str) -> u64 {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(Path::new(directory).join("heap")).unwrap().blocks() * 512
}

/// An index takes of the disk what its documents need, whatever its cap is, and grows as they come.
#[test]
fn an_index_is_as_large_as_its_documents_need() {
    let folder = Folder::new();
    let lines = |range: std::ops::Range<u32>| {
        range.map(|n| format!("line {n} of {} about w{}\n", n % 7, n % 20_011)).collect::<String>()
    };
    let text = lines(0..60_000);
    for (name, more) in [
        ("usual", &[][..]),
        ("large", &["--nvm", "100GiB"]),
        ("os", &["--durability", "os"]),
        ("executors", &["--executors", "2", "--dram", "64MiB"]),
    ] {
        let directory = folder.path(name);
        ingest_into(&directory, more, "ant\nbee\n").done();
        assert!(taken(&directory) < 32 << 20, "{name}: two lines take {}", taken(&directory));
        let dram = if name == "executors" { "64MiB" } else { "1GiB" };
        ingest_into(&directory, &["--dram", dram], &text).done();
        assert_eq!(count(&directory, "line"), "60000\n", "{name}");
        assert_eq!(count(&directory, "w77"), "3\n", "{name}");
        let (bytes, text) = (taken(&directory), text.len() as u64);
        assert!(bytes < (48 << 20) + 10 * text, "{name}: {text} bytes of text take {bytes}");
        let report = spirit(&["check", "-d", &directory]).done();
        assert!(report.ends_with(": sound\n"), "{report}");
    }
    let directory = folder.path("full");
    ingest_into(&directory, &["--nvm", "64MiB", "--dram", "8MiB", "--reserve", "full"], "ant\n")
        .done();
    assert!(taken(&directory) >= 64 << 20, "all of it is taken at once");
}

/// An index has more keys than its DRAM has room for, and is opened with less DRAM than it was made with.
#[test]
fn keys_are_not_bounded_by_dram() {
    let folder = Folder::new();
    let directory = directory(&folder);
    let rows = |range: std::ops::Range<u32>| {
        range.map(|n| format!("id-{n}\tred line {n}\n")).collect::<String>()
    };
    let more = ["--format", "tsv", "--nvm", "256MiB", "--segment", "256KiB"];
    ingest_into(&directory, &[&more[..], &["--dram", "64MiB"]].concat(), &rows(0..150_000)).done();
    assert_eq!(count(&directory, "red"), "150000\n");
    let small = ["--format", "tsv", "--dram", "8MiB"];
    ingest_into(&directory, &small, &rows(149_000..200_000)).done();
    assert_eq!(count(&directory, "red"), "200000\n");
    // The oldest, and the newest, replaced by a process that has room for few of them.
    ingest_into(&directory, &small, &(rows(0..10) + &rows(199_990..200_000))).done();
    assert_eq!(count(&directory, "red"), "200000\n");
    assert_eq!(keys(&search(&directory, "key:id-3")), ["id-3"]);
    let deleted = spirit(&["delete", "-d", &directory, "--dram", "8MiB", "id-7", "id-100000"]);
    deleted.done();
    assert_eq!(count(&directory, "red"), "199998\n");
}
