//! The README's commands: each runs in a folder with the project's pages, and each search finds something.

mod common;

use std::path::Path;
use std::process::Command;

use common::Folder;

/// The lines of the README's second block of shell commands.
fn commands(readme: &str) -> Vec<&str> {
    let block = readme.split("```sh\n").nth(2).expect("the README has two blocks of commands");
    let (block, _) = block.split_once("```").expect("the block ends");
    block.lines().filter(|line| !line.is_empty()).collect()
}

#[test]
fn the_readmes_commands_find_something() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let commands = commands(&readme);
    assert!(commands.len() >= 6, "{commands:?}");
    let folder = Folder::new();
    for name in ["ARCHITECTURE.md", "docs"] {
        std::os::unix::fs::symlink(root.join(name), folder.path(name)).unwrap();
    }
    let program = Path::new(env!("CARGO_BIN_EXE_spirit")).parent().unwrap();
    let path = std::env::join_paths(
        [program.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let path = path.unwrap();
    for command in commands {
        let run = Command::new("sh")
            .args(["-c", command])
            .current_dir(folder.path(""))
            .env("PATH", &path)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{command}: {said}");
        let found = String::from_utf8_lossy(&run.stdout);
        let is_silent = found.trim().is_empty() || said.contains("0 matches");
        assert!(!command.starts_with("spirit ") || !is_silent, "{command} finds nothing: {said}");
    }
}
