//! Output on a terminal, which is a pseudo-terminal of the test.

mod common;
mod screens;

use std::io::Read;
use std::process::Stdio;

use common::{Folder, command};
use screens::Terminal;

/// Returns the lines that a terminal of this width gets.
fn lines(columns: u16, args: &[&str]) -> Vec<String> {
    let (mut terminal, program) = screens::pair();
    Terminal::size(&terminal, 24, columns);
    let mut spirit = command(args);
    spirit.env_remove("COLUMNS").stdin(Stdio::null()).stdout(program).stderr(Stdio::piped());
    let child = spirit.spawn().unwrap();
    // Only the child holds the other end from here on.
    drop(spirit);
    let mut shown = Vec::new();
    // The read ends with an error when the child has closed the other end.
    let _ = terminal.read_to_end(&mut shown);
    let run = child.wait_with_output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(shown).unwrap().lines().map(|line| line.trim_end().to_owned()).collect()
}

#[test]
fn texts_end_with_the_line() {
    let folder = Folder::new();
    let long = format!("red {}", "heron ".repeat(20));
    let file = folder.file("a.tsv", format!("a\t{long}\nb\tred\nc\tred {}\n", "日本 ".repeat(30)));
    let search = ["search", "--in", &file, "red"];
    let shown = lines(40, &search);
    assert_eq!(shown[1], "b  red");
    assert_eq!(shown[2], "a  red heron heron heron heron heron he…");
    assert_eq!(shown[2].chars().count(), 40);
    assert!(shown[0].starts_with("c  red 日本 日本") && shown[0].ends_with('…'), "{shown:?}");
    assert!(shown[0].chars().count() < 30, "{shown:?}");
    assert_eq!(lines(200, &search)[2], format!("a  {}", long.trim_end()));
}

#[test]
fn columns_stand_below_each_other() {
    let folder = Folder::new();
    let posts = r#"{"key": "a", "text": "red", "ts": "2026-11-22T19:00:00Z", "by": "ann"}
{"key": "b", "text": "", "by": "red"}
{"key": "post", "text": "red sea"}
"#;
    let file = folder.file("a.jsonl", posts);
    let shown = lines(60, &["search", "--in", &file, "--fields", "by", "red OR by:red"]);
    let expected = [
        "post  -                     -    red sea",
        "b     -                     red",
        "a     2026-11-22T19:00:00Z  ann  red",
    ];
    assert_eq!(shown, expected);
}
