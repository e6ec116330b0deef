//! A writer that is killed in another view of the file system, as in a container, a sandbox of systemd or behind a bind mount, leaves
//! what any killed writer leaves. Where no mount namespace can be made it says NOT MEASURED; `trust.rs` of the engine then has
//! the rule alone.

mod common;

use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::{fs, io::BufRead, io::BufReader, io::Write};

use common::Folder;
use spirit_mem::HeapFile;

/// Ways to run something in a mount namespace of its own: by root, and by anybody.
const WAYS: [&[&str]; 2] = [&["-m"], &["-Urm"]];
const SMALL: [&str; 4] = ["--dram", "8MiB", "--nvm", "32MiB"];

/// Runs `args` of the real binary, in another view of `directory` if there is a way to one.
fn command(way: Option<&[&str]>, directory: &str, args: &[&str]) -> Command {
    let spirit = env!("CARGO_BIN_EXE_spirit");
    let mut command = Command::new(if way.is_some() { "unshare" } else { spirit });
    if let Some(way) = way {
        let script = "mount --bind \"$0\" \"$0\" && exec \"$@\"";
        command.args(way).args(["sh", "-c", script, directory, spirit]);
    }
    command.args(args);
    command
}

struct Writer(Child, BufReader<ChildStdout>);

impl Writer {
    fn start(way: Option<&[&str]>, directory: &str) -> Writer {
        let args = ["ingest", "-d", directory, "--durability", "process", "--ack", "-"];
        let mut command = command(way, directory, &[&args[..], &SMALL].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let acks = BufReader::new(child.stdout.take().unwrap());
        Writer(child, acks)
    }

    /// Adds documents, and is killed when they are acknowledged.
    fn add_and_end(mut self, documents: usize) {
        let lines = "all of it\n".repeat(documents);
        self.0.stdin.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
        for _ in 0..documents {
            let mut ack = String::new();
            self.1.read_line(&mut ack).unwrap();
            assert!(ack.starts_with("ack "), "{ack}");
        }
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn count(way: Option<&[&str]>, directory: &str) -> String {
    let run = command(way, directory, &["count", "-d", directory, "all"]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap().trim().to_owned()
}

/// True if the kernel lets us go this way, and the file system tells its lives apart.
fn can_go(way: &[&str], directory: &str) -> bool {
    let run = command(Some(way), directory, &["--version"]).output();
    let probe = Path::new(directory).join("probe");
    let file = HeapFile::create(&probe, 4096).unwrap();
    fs::remove_file(probe).unwrap();
    let has_number = file.identity().unwrap().file_system != 0;
    has_number && run.is_ok_and(|run| run.status.success())
}

#[test]
fn a_writer_that_was_killed_in_a_container_is_recovered_outside_and_in_the_next_one() {
    let mut ways = 0;
    for way in WAYS {
        let folder = Folder::new();
        let directory = folder.path("index");
        fs::create_dir(&directory).unwrap();
        if !can_go(way, &directory) {
            continue;
        }
        ways += 1;
        let mut documents = 0;
        for (writer, reader) in [(Some(way), None), (None, Some(way)), (Some(way), Some(way))] {
            Writer::start(writer, &directory).add_and_end(100);
            documents += 100;
            assert_eq!(count(reader, &directory), documents.to_string(), "{way:?}");
            assert_eq!(count(writer, &directory), documents.to_string(), "{way:?}");
        }
    }
    if ways == 0 {
        println!("NOT MEASURED: this machine shows no other view of the file system");
    }
}
