//! Help, versions, exit codes, and what this version cannot honour.

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use common::{Folder, command, ingest, spirit, spirit_fed};

#[test]
fn help_teaches_and_no_command_is_wrong_usage() {
    let bare = spirit(&[]);
    assert_eq!(bare.code, 2);
    assert!(bare.err.contains("Usage: spirit <COMMAND>"));
    let help = spirit(&["--help"]).done();
    let all = "demo ingest search count get delete stats fields check backup verify restore salvage serve completions";
    for command in all.split(' ') {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        assert!(spirit(&[command, "--help"]).done().contains("Usage: spirit "), "{command}");
    }
    for command in ["demo", "ingest", "search", "count", "get", "delete", "stats", "fields"] {
        assert!(spirit(&[command, "--help"]).done().contains("Examples:\n"), "{command}");
    }
    assert!(help.contains("Examples:\n"));
    for asking in
        [&help, &spirit(&["search", "--help"]).done(), &spirit(&["count", "--help"]).done()]
    {
        assert!(asking.contains("Queries:\n  a b (either)   +a -b "), "{asking}");
    }
    let ingest = spirit(&["ingest", "--help"]).done();
    assert!(ingest.contains("The command creates DIR if it does not exist."), "{ingest}");
}

#[test]
fn help_fits_80_columns() {
    let all = "demo ingest search count get delete stats fields check backup verify restore salvage serve completions";
    for command in [""].into_iter().chain(all.split(' ')) {
        for help in ["-h", "--help"] {
            let args: Vec<_> = [command, help].into_iter().filter(|arg| !arg.is_empty()).collect();
            for line in spirit(&args).done().lines() {
                assert!(line.chars().count() <= 80, "{command} {help}: {line}");
            }
        }
    }
}

/// They are `search`'s; a program that calls `ingest --queries` has them all the same.
#[test]
fn options_of_queries_are_hidden_in_the_help_of_ingest_and_taken() {
    let help = spirit(&["ingest", "--help"]).done();
    assert!(help.contains("--queries <FILE>"), "{help}");
    for option in ["--order", "--json", "--count", "--facet", "--explain", "--timeout", "--lenient"]
    {
        assert!(!help.contains(option), "{option} in {help}");
        assert!(spirit(&["search", "--help"]).done().contains(option), "{option}");
    }
    assert!(!help.contains("Options of queries"), "{help}");
    let folder = Folder::new();
    let (file, queries) = (folder.file("a.txt", "red fox\nred\n"), folder.file("q.txt", "red\n"));
    let options = ["--order", "bm25", "--json", "-k", "1", "--up-to", "9", "--timeout", "1h"];
    let asked = [&["--queries", &queries, &file][..], &options].concat();
    let answers = ingest(&asked).json();
    assert_eq!((common::keys(&answers[1]), &answers[1]["count"]), (vec!["1"], &2.into()));
}

#[test]
fn shells_complete_commands_and_options() {
    let folder = Folder::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = spirit(&["completions", shell]).done();
        for word in ["spirit", "search", "limit", "up-to"] {
            assert!(script.contains(word), "{word} is not in the script for {shell}");
        }
    }
    let script = folder.file("bash", spirit(&["completions", "bash"]).done());
    let ask = "source \"$0\"; COMP_WORDS=(spirit fie) COMP_CWORD=1; _spirit spirit fie spirit; echo \"${COMPREPLY[@]}\"";
    let run = std::process::Command::new("bash").args(["-c", ask, &script]).output().unwrap();
    let found = String::from_utf8(run.stdout).unwrap();
    assert_eq!(found.trim(), "fields", "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(spirit(&["completions", "tcsh"]).code, 2);
}

#[test]
fn the_version_is_printed() {
    assert_eq!(spirit(&["--version"]).done(), concat!("spirit ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn unknown_commands_and_options_are_wrong_usage() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "a\n");
    for args in [
        &["frobnicate"][..],
        &["demo", "--frobnicate"],
        &["search", "--in", &file, "-k", "ten", "a"],
        &["search", "--in", &file, "-k", "10001", "a"],
        &["search", "--in", &file, "--limit", "ten", "a"],
        &["search", "--in", &file, "--count", "no", "--up-to", "3", "a"],
        &["search", "--in", &file, "--after", "x", "a"],
        &["search", "--in", &file, "--algorithm", "magic", "a"],
        &["search", "--in", &file, "--analyzer", "magic", "a"],
        &["search", "--in", &file, "--dram", "10XB", "a"],
        &["search", "--in", &file],
        &["search", "a"],
        &["count", "a"],
        &["stats"],
        &["ingest", "--mode", "volatile"],
        &["demo", "--seconds=-1"],
        &["demo", "--time", "20"],
        &["demo", "--time", "1s", "--seconds", "1"],
        &["demo", "--analyzer", "keyword"],
    ] {
        let run = spirit(args);
        assert_eq!(run.code, 2, "{args:?}: {}", run.err);
        assert_eq!(run.out, "", "{args:?}");
        assert!(!run.err.is_empty(), "{args:?}");
    }
}

#[test]
fn a_directory_or_files_but_not_both() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "a\n");
    for args in [&["search", "a"][..], &["count", "a"], &["stats"]] {
        assert!(spirit(args).failed(2).contains("give -d DIR, or files to index"), "{args:?}");
        let both = [args, &["-d", "x", "--in", &file]].concat();
        assert!(spirit(&both).failed(2).contains("-d and --in: give only one"), "{args:?}");
    }
}

#[test]
fn a_mode_that_keeps_something_needs_a_directory_and_the_other_leaves_it_empty() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "a\n");
    for (args, name) in [
        (&["ingest", &file][..], "--mode crash (the default)"),
        (&["ingest", "--mode", "crash", &file], "--mode crash"),
        (&["ingest", "--mode", "graceful", &file], "--mode graceful"),
    ] {
        let line = spirit(args).failed(2);
        let reason = "needs a directory; give -d DIR, or --mode volatile to keep nothing";
        assert_eq!(line, format!("spirit: {name}: {reason}"));
    }
    // A volatile index has a directory as the place of its second tier, and leaves nothing there.
    let directory = folder.path("index");
    ingest(&["-d", &directory, &file]).done();
    assert_eq!(Path::new(&directory).read_dir().unwrap().count(), 0);
}

#[test]
fn groups_are_for_mode_crash() {
    let folder = Folder::new();
    let (file, directory) = (folder.file("a.txt", "a\nb\n"), folder.path("index"));
    for (option, value) in [("--group-wait", "5ms"), ("--group-bytes", "4KiB")] {
        let graceful = ["ingest", "-d", &directory, "--mode", "graceful", option, value, &file];
        let line = spirit(&graceful).failed(2);
        assert!(line.starts_with(&format!("spirit: {option}: a graceful index")), "{line}");
        assert!(!Path::new(&directory).exists());
    }
    for wait in [["--group-wait", "5ms"], ["--group-ms", "5"]] {
        let grouped = ["ingest", "-d", &directory, "--group-bytes", "4KiB", "--ack", &file];
        let run = spirit(&[&grouped[..], &wait].concat());
        assert_eq!(run.done().matches("ack ").count(), 2);
    }
    let both = ["ingest", "-d", &directory, "--group-wait", "5ms", "--group-ms", "5", &file];
    assert_eq!(spirit(&both).code, 2);
}

#[test]
fn options_of_other_modes_say_which_modes_have_them() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "a\n");
    for (option, value, modes) in [
        ("--durability", "os", "graceful and crash"),
        ("--group-wait", "5ms", "crash"),
        ("--group-bytes", "4096", "crash"),
    ] {
        let tier = ["-d", &folder.path("none")];
        for directory in [&[][..], &tier] {
            let line = ingest(&[&[option, value, &file], directory].concat()).failed(2);
            assert!(line.starts_with(&format!("spirit: {option}: a volatile index")), "{line}");
            assert!(line.ends_with(&format!(": {modes}")), "{line}");
        }
    }
    for (option, value) in [
        ("--merge-after", "2"),
        ("--reserve", "full"),
        ("--engrave", "lazy"),
        ("--pointer-update", "eager"),
        ("--nvm-short", "1MiB"),
        ("--nvm-long", "1MiB"),
        ("--nvm-dictionary", "1MiB"),
    ] {
        let line = ingest(&[option, value, &file]).failed(2);
        let why = "a volatile index without a directory has no file; give -d DIR too";
        assert_eq!(line, format!("spirit: {option}: {why}"));
    }
    assert!(ingest(&["--k1", "1", &file]).failed(2).contains("--k1: needs --order best"));
    let refused = spirit(&["search", "--in", &file, "--order", "bm25", "--b", "2", "a"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("choose a number from 0 to 1"), "{}", refused.err);
    let refused = spirit(&["search", "--in", &file, "--order", "bm25", "--k1", "-3", "a"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("choose a number ≥ 0"), "{}", refused.err);
    let unused = ingest(&["--nvm", "1GiB", "--store", "no", &file]);
    assert_eq!(unused.err, "spirit: --nvm is not used in volatile mode without -d\n");
    unused.done();
}

#[test]
fn heaps_that_cannot_be_divided_are_wrong_usage() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "a\n");
    for (args, reason) in [
        (["--dram", "64KiB"], "--dram: a DRAM heap of 65536 bytes is too small for segments"),
        (["--dram", "0"], "--dram: a DRAM heap of 0 bytes"),
        (["--dram", "1KiB"], "--dram: a DRAM heap of 1024 bytes"),
        (
            ["--dram", "100TiB"],
            "--dram: a DRAM heap of 109951162777600 bytes an executor: the limit is ",
        ),
        (
            ["--segment", "1GiB"],
            "--dram: a DRAM heap of 1073741824 bytes is too small for segments",
        ),
        (["--segment", "1KiB"], "--segment: a segment of 1024 bytes: choose "),
        (["--segment", "10GiB"], "--segment: a segment of 10737418240 bytes: choose "),
        (["--executors", "0"], "--executors 0: choose 1 to "),
        (["--retain", "0s"], "--retain 0s: choose 100ms to "),
    ] {
        let line = ingest(&[&args[..], &[&file]].concat()).failed(2);
        assert!(line.starts_with(&format!("spirit: {reason}")), "{line}");
        // The same where the size of the second tier follows from the DRAM.
        let directory = folder.path("index");
        let line = spirit(&[&["ingest", "-d", &directory, &file], &args[..]].concat()).failed(2);
        assert!(line.starts_with(&format!("spirit: {reason}")), "{line}");
    }
    let directory = folder.path("index");
    let line = spirit(&["ingest", "-d", &directory, &file, "--nvm", "1KiB"]).failed(2);
    assert!(line.starts_with("spirit: --nvm: a second tier of 1024 bytes is too small"), "{line}");
    let line = spirit(&["ingest", "-d", &directory, &file, "--merge-after", "0"]).failed(2);
    assert_eq!(line, "spirit: --merge-after 0: choose 1 to 16");
    let line = spirit(&["ingest", "-d", &directory, &file, "--stage-threads", "3"]).failed(2);
    assert_eq!(line, "spirit: --stage-threads 3: choose 1 or 2");
}

#[test]
fn missing_files_are_named() {
    for args in [
        &["search", "--in", "no/such.txt", "no/other.txt", "--queries", "no/queries"][..],
        &["count", "--in", "no/such.txt", "a"],
        &["stats", "--in", "no/such.txt"],
        &["demo", "--in", "no/such.txt"],
        &["ingest", "--mode", "volatile", "no/such.txt"],
    ] {
        let run = spirit(args);
        assert_eq!(run.code, 1, "{args:?}: {}", run.err);
        assert!(run.err.contains("spirit: no/such.txt: No such file"), "{args:?}: {}", run.err);
    }
}

/// Standard output closes early, as in `spirit ... | head -1`.
#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "a\n".repeat(10_000));
    let queries = folder.file("queries.txt", "a\n".repeat(200));
    let args = ["search", "--in", &file, "--queries", &queries, "--json", "-k", "10000"];
    let mut child = command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("{\"query\":\"a\""));
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

/// What an error names as the least that is enough.
fn least(said: &str) -> &str {
    let behind = said.split("give at least ").nth(1).unwrap_or_else(|| panic!("{said}"));
    behind.split(' ').next().unwrap()
}

#[test]
fn the_least_that_is_named_as_enough_is_enough() {
    let folder = Folder::new();
    for executors in ["1", "3"] {
        for segment in [&[][..], &["--segment", "64KiB"], &["--segment", "1MiB"]] {
            for small in ["--dram", "--nvm"] {
                let directory = folder.path(&format!("{executors}{}{small}", segment.concat()));
                names_enough(&["-d", &directory, "--executors", executors], segment, small);
            }
            names_enough(&["--mode", "volatile", "--executors", executors], segment, "--dram");
        }
    }
}

#[track_caller]
fn names_enough(place: &[&str], segment: &[&str], small: &str) {
    let add = |bytes: &str| {
        spirit_fed(&[&["ingest"], place, segment, &[small, bytes, "-"]].concat(), b"red\n")
    };
    let said = add("1KiB").failed(2);
    assert!(said.starts_with(&format!("spirit: {small}: ")), "{said}");
    let said = add(least(&said)).done();
    assert!(said.starts_with("{\"documents\":1,"), "{place:?} {segment:?}: {said}");
}
