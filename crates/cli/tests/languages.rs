//! Real clients of other languages than Python, against a real server: JavaScript, Go and Java.
//!
//! Each language's package manager installs them below the build's folder, once.

mod common;
mod serving;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Folder;
use serving::Server;

/// Copies a folder of `ci/clients` and prepares it, unless that was done with the same files.
fn prepared(language: &str, commands: &[&[&str]]) -> PathBuf {
    let wanted = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci/clients").join(language);
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("languages").join(language);
    let mark = home.join("prepared");
    let has_changed = copy(&wanted, &home);
    if has_changed || !mark.exists() {
        let _ = std::fs::remove_file(&mark);
        for command in commands {
            let mut command = words(command);
            let status = command.current_dir(&home).status();
            let status = status.unwrap_or_else(|error| {
                panic!("{command:?}: {error}; the README says what the checks need")
            });
            assert!(status.success(), "{command:?}");
        }
        std::fs::write(mark, "").unwrap();
    }
    home
}

/// Copies files that differ. True if there were any.
fn copy(from: &Path, to: &Path) -> bool {
    std::fs::create_dir_all(to).unwrap();
    let mut has_changed = false;
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            has_changed |= copy(&path, &copied);
        } else if std::fs::read(&path).unwrap() != std::fs::read(&copied).unwrap_or_default() {
            std::fs::copy(path, copied).unwrap();
            has_changed = true;
        }
    }
    has_changed
}

fn words(command: &[&str]) -> Command {
    let mut made = Command::new(command[0]);
    made.args(&command[1..]);
    made
}

/// Runs steps to their end.
#[track_caller]
fn run(mut command: Command, home: &Path) {
    let run = command.current_dir(home).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{command:?}: {out}{err}");
}

#[test]
fn javascript_clients_do_what_programs_do() {
    let install = ["npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"];
    let (folder, home) = (Folder::new(), prepared("js", &[&install]));
    let server = Server::start(&folder.path("all"), &[]);
    for client in ["opensearch", "elasticsearch7", "elasticsearch8", "elasticsearch9"] {
        run(words(&["node", "steps.mjs", &server.url(""), client]), &home);
    }
    assert_eq!(server.end(), 0);
}

#[test]
fn go_clients_do_what_programs_do() {
    let build = ["go", "build", "-o", "steps", "."];
    let (folder, home) = (Folder::new(), prepared("go", &[&build]));
    let server = Server::start(&folder.path("all"), &[]);
    run(words(&[home.join("steps").to_str().unwrap(), &server.url("")]), &home);
    assert_eq!(server.end(), 0);
}

#[test]
fn java_clients_do_what_programs_do() {
    let classpath = "-Dmdep.outputFile=classpath.txt";
    let build = ["mvn", "-q", "-B", "compile", "dependency:build-classpath", classpath];
    let (folder, home) = (Folder::new(), prepared("java", &[&build]));
    let server = Server::start(&folder.path("all"), &[]);
    let libraries = std::fs::read_to_string(home.join("classpath.txt")).unwrap();
    let classes = format!("target/classes:{}", libraries.trim());
    for client in ["OpenSearchSteps", "ElasticsearchSteps"] {
        let main = format!("spirit.clients.{client}");
        run(words(&["java", "-cp", &classes, &main, &server.url("")]), &home);
    }
    assert_eq!(server.end(), 0);
}
