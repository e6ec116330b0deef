//! `spirit backup`, `verify` and `restore` with the real binary: while another process ingests, and when something is wrong.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use common::{Folder, Run, command, ingest_into, keys, spirit};

const SMALL: [&str; 8] =
    ["--dram", "16MiB", "--nvm", "32MiB", "--segment", "64KiB", "--executors", "2"];

/// A line that replaces, and now and then adds.
fn line(number: u64) -> String {
    format!(
        "key{}\tall v{number} w{} averyveryverylongword{}\n",
        number % 700,
        number % 7,
        number % 13
    )
}

fn count(directory: &str, query: &str) -> u64 {
    spirit(&["count", "-d", directory, query]).done().trim().parse().unwrap()
}

/// All that was acknowledged before the backup began is in it, each key has one document, and no key an older one than that.
fn judge(directory: &str, acknowledged: u64, sent: u64) {
    let found = count(directory, "all");
    assert!(found >= acknowledged.min(700) && found <= 700, "{found} of {acknowledged}");
    let newest = (acknowledged.saturating_sub(700)..sent).map(|n| format!("v{n}"));
    let known: Vec<String> = newest.collect();
    let queries = known.join("\n");
    let file = Path::new(directory).join("queries");
    std::fs::write(&file, queries).unwrap();
    let answers =
        spirit(&["search", "-d", directory, "--json", "--queries", file.to_str().unwrap()]).json();
    let mut total = 0;
    let mut last = acknowledged;
    for (answer, number) in answers.iter().zip(acknowledged.saturating_sub(700)..) {
        for found in keys(answer) {
            assert_eq!(found, format!("key{}", number % 700), "of v{number}");
            total += 1;
            last = last.max(number + 1);
        }
    }
    assert_eq!(total, found, "documents that had been replaced before the backup began");
    // Of what came during it there is a first part: each key has the newest version in it.
    for number in last.saturating_sub(700)..last {
        let index = (number - acknowledged.saturating_sub(700)) as usize;
        assert_eq!(keys(&answers[index]).len(), 1, "v{number}, and there is v{}", last - 1);
    }
}

#[test]
fn backups_beside_a_process_that_ingests() {
    let folder = Folder::new();
    let index = folder.path("index");
    let args = [&["ingest", "-d", &index, "--format", "tsv", "--ack"], &SMALL[..], &["-"]].concat();
    let mut child = command(&args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (sent, acknowledged) = (AtomicU64::new(0), AtomicU64::new(0));
    let is_enough = AtomicBool::new(false);
    let backups = std::thread::scope(|scope| {
        scope.spawn(|| feed(stdin, &sent, &is_enough));
        scope.spawn(|| {
            let acks = BufReader::new(stdout).lines().map(|line| line.unwrap());
            let acks = acks.filter(|line| line.starts_with("ack "));
            acks.for_each(|_| acknowledged.store(acknowledged.load(Acquire) + 1, Release));
        });
        let backups: Vec<_> = (0..8)
            .map(|round| {
                while acknowledged.load(Acquire) < 1000 * (round + 1) {
                    std::thread::yield_now();
                }
                let out = folder.path(&format!("backup{round}"));
                let before = acknowledged.load(Acquire);
                let made = spirit(&["backup", "-d", &index, &out, "--json"]).json();
                assert_eq!(made[0]["in_use"], true, "{}", made[0]);
                (out, before, sent.load(Acquire))
            })
            .collect();
        is_enough.store(true, Release);
        backups
    });
    assert!(child.wait().unwrap().success());
    let all = sent.load(Acquire);
    assert_eq!(acknowledged.load(Acquire), all);
    assert!(backups.iter().any(|(_, before, after)| before < after), "nothing came meanwhile");
    spirit(&["backup", "-d", &index, &folder.path("last")]).done();
    for (out, before, after) in backups.into_iter().chain([(folder.path("last"), all, all)]) {
        assert!(spirit(&["verify", &out]).done().ends_with("sound\n"));
        let restored = format!("{out}.index");
        spirit(&["restore", &out, "-d", &restored]).done();
        spirit(&["check", "-d", &restored]).done();
        judge(&restored, before, after);
    }
}

/// Feeds a process until it is enough.
fn feed(mut stdin: ChildStdin, sent: &AtomicU64, is_enough: &AtomicBool) {
    while !is_enough.load(Acquire) {
        let first = sent.load(Acquire);
        let lines: String = (first..first + 50).map(line).collect();
        // Before they are: what is in a backup was sent.
        sent.store(first + 50, Release);
        stdin.write_all(lines.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// An index of a few documents.
fn small(folder: &Folder) -> String {
    let index = folder.path("index");
    let lines: String = (0..3000).map(line).collect();
    ingest_into(&index, &[&["--format", "tsv"], &SMALL[..]].concat(), &lines).done();
    index
}

#[test]
fn failures_name_the_file_and_what_to_do() {
    let folder = Folder::new();
    let index = small(&folder);
    let out = folder.path("out");
    let shown = spirit(&["backup", "-d", &index, &out, "--progress"]);
    assert!(shown.err.contains(" MB copied, 100 %"), "{}", shown.err);
    assert!(shown.done().contains("segments with "));
    let again = spirit(&["backup", "-d", &index, &out]).failed(1);
    assert!(again.contains(&out) && again.contains("choose another name"), "{again}");
    let onto = spirit(&["restore", &out, "-d", &index]).failed(1);
    assert!(onto.contains("heap: exists already"), "{onto}");
    let nothing = spirit(&["backup", "-d", &folder.path("no"), &folder.path("b")]).failed(1);
    assert!(nothing.contains("there is no index"), "{nothing}");
    let missing = spirit(&["verify", &folder.path("no")]).failed(1);
    assert!(missing.contains("cannot open it"), "{missing}");
    let nowhere = spirit(&["backup", "-d", &index, &folder.path("no/out")]).failed(1);
    assert!(nowhere.contains("cannot create it"), "{nowhere}");
    assert_eq!(spirit(&["restore", &out]).code, 2);
    let bytes = std::fs::read(&out).unwrap();
    let cut = folder.file("cut", &bytes[..bytes.len() / 2]);
    for args in [vec!["verify", &cut], vec!["restore", &cut, "-d", &folder.path("new")]] {
        let error = spirit(&args).failed(1);
        assert!(error.contains(&cut) && error.contains("at 0x"), "{error}");
    }
    assert!(!Path::new(&folder.path("new")).exists());
}

#[test]
fn programs_read_what_check_verify_and_restore_found() {
    let folder = Folder::new();
    let (index, out) = (small(&folder), folder.path("out"));
    spirit(&["backup", "-d", &index, &out]).done();
    let checked = spirit(&["check", "-d", &index, "--json"]).json().remove(0);
    let verified = spirit(&["verify", &out, "--json"]).json().remove(0);
    for report in [&checked, &verified] {
        assert_eq!((&report["sound"], &report["executors"]), (&true.into(), &2.into()));
        assert_eq!(report["findings"].as_array().unwrap().len(), 0, "{report}");
    }
    let target = folder.path("target");
    let restored = spirit(&["restore", &out, "-d", &target, "--json"]).json().remove(0);
    for name in ["segments", "rows", "dead_rows", "log_operations"] {
        assert_eq!(restored[name], verified[name], "{name}");
    }
    assert!(restored["rows"].as_u64().unwrap() >= 700, "{restored}");

    let heap = Path::new(&index).join("heap");
    let mut bytes = std::fs::read(&heap).unwrap();
    let table = section_table(&bytes);
    bytes[table] ^= 1;
    std::fs::write(&heap, &bytes).unwrap();
    let run = spirit(&["check", "-d", &index, "--json"]);
    let report: serde_json::Value = serde_json::from_str(run.out.trim()).unwrap();
    let line = run.failed(1);
    assert_eq!(report["sound"], false, "{report}");
    let finding = &report["findings"][0];
    assert!(finding["at"].is_u64() && finding["executor"].is_u64(), "{report}");
    assert!(finding["what"].is_string() && finding["why"].is_string(), "{report}");
    let wrong = report["findings"].as_array().unwrap().len();
    assert!(line.contains(&format!(": errors found: {wrong}; ")), "{line}");
}

/// Runs `spirit` where no file may be longer than `kib`, which is what a full disk is to it.
fn limited(kib: u32, args: &[&str]) -> Run {
    let script = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$@\"");
    let binary = env!("CARGO_BIN_EXE_spirit");
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", &script, "bash", binary]).args(args);
    Run::of(shell.output().unwrap())
}

#[test]
fn a_disk_without_room_leaves_nothing_behind() {
    let folder = Folder::new();
    let index = small(&folder);
    let before: Vec<_> =
        std::fs::read_dir(folder.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    let out = folder.path("out");
    let error = limited(64, &["backup", "-d", &index, &out]).failed(1);
    assert!(error.contains(&out) && error.contains("cannot write it"), "{error}");
    let after: Vec<_> =
        std::fs::read_dir(folder.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(after, before);
    spirit(&["backup", "-d", &index, &out]).done();
    let target = folder.path("target");
    let error = limited(1024, &["restore", &out, "-d", &target]).failed(1);
    assert!(error.contains("heap.new"), "{error}");
    assert!(!Path::new(&target).exists());
    spirit(&["restore", &out, "-d", &target]).done();
    assert_eq!(count(&target, "all"), 700);
}

/// Where the section table of a segment is, as its slot says. Slots lie behind root and fields, and
/// which executor engraves first is not known.
fn section_table(heap: &[u8]) -> usize {
    let parts = 8192 + 2 * 24 * 4096;
    let word = |at: usize| u64::from_le_bytes(heap[at..at + 8].try_into().unwrap());
    let slots = [parts, parts + (heap.len() - parts) / 2];
    let used = slots.into_iter().find(|&slot| word(slot) != 0);
    let slot = used.expect("neither executor has engraved a segment");
    slot + word(slot + 17 * 8) as usize
}

#[test]
fn what_is_whole_of_a_damaged_index_becomes_another_one() {
    let folder = Folder::new();
    let index = folder.path("index");
    let lines: String =
        (0..12_000).map(|number| format!("all n{number} m{}\n", number % 7)).collect();
    ingest_into(&index, &SMALL, &lines).done();
    let all = count(&index, "all");
    let heap = Path::new(&index).join("heap");
    let whole = std::fs::read(&heap).unwrap();
    let said = spirit(&["salvage", &index, &folder.path("same")]).done();
    assert!(said.ends_with(" operations of the log; missing parts: 0\n"), "{said}");
    assert_eq!(count(&folder.path("same"), "all"), all);
    let mut bytes = whole.clone();
    bytes[section_table(&whole)] ^= 1;
    std::fs::write(&heap, &bytes).unwrap();
    let out = folder.path("rest");
    let said = spirit(&["salvage", &index, &out]).done();
    assert!(said.starts_with("missing: executor "), "{said}");
    assert!(said.contains(": section table at 0x"), "{said}");
    assert!(said.ends_with("; missing parts: 1\n"), "{said}");
    spirit(&["check", "-d", &out]).done();
    assert!(count(&out, "all") < all);
    assert!(std::fs::read(&heap).unwrap() == bytes, "the damaged index was changed");
    let again = spirit(&["salvage", &index, &out]).failed(1);
    assert!(again.contains("heap: exists already"), "{again}");
    let nothing = spirit(&["salvage", &folder.path("no"), &folder.path("b")]).failed(1);
    assert!(nothing.contains("there is no index"), "{nothing}");
}
