//! `spirit top -d`: the figures of an index in a directory, beside the process that writes it.

mod common;
mod screens;
mod serving;

use std::process::Stdio;
use std::time::Duration;

use common::{Folder, Writer, command, spirit};
use screens::Terminal;
use serving::Server;

/// The words of the line that begins so.
fn row<'t>(text: &'t str, start: &str) -> Vec<&'t str> {
    let line = text.lines().find(|line| line.starts_with(start));
    line.unwrap_or_else(|| panic!("{start} in {text}")).split_whitespace().collect()
}

/// Ends a writer in an orderly way.
fn end(mut writer: Writer) {
    drop(writer.child.stdin.take());
    assert!(writer.child.wait().unwrap().success());
}

#[test]
fn rates_are_those_of_the_writer() {
    let folder = Folder::new();
    let directory = folder.path("birds");
    let mut writer = Writer::start(&directory, &["--durability", "os"]);
    (0..7).for_each(|n| writer.add(&format!("heron {n}\n")));
    let args = ["top", "-d", &directory, "--once", "--interval", "2s"];
    let top = command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1000));
    (7..27).for_each(|n| writer.add(&format!("heron {n}\n")));
    let run = top.wait_with_output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success() && run.stderr.is_empty(), "{text}");
    assert!(text.starts_with(&format!("{directory}   SPIRIT 0.1.0\n")), "{text}");
    let birds = row(&text, "birds ");
    assert_eq!((birds[1], birds[3], birds[5]), ("27", "-", "27"), "{text}");
    let rate: f64 = birds[2].parse().unwrap();
    assert!(rate > 5.0 && rate <= 10.0, "{text}");
    let flushes = row(&text, "flushes ");
    assert!(flushes[2] == "P50" && flushes[3] != "-", "{text}");
    assert!(!text.contains("searches") && !text.contains("refused"), "{text}");
    assert_eq!(row(&text, "BYTES IN")[..3], ["BYTES", "IN", "POSTINGS"]);
    // The writer was not disturbed, and without it the file has the figures.
    writer.add("one more\n");
    end(writer);
    let run = spirit(&["top", "-d", &directory, "--once", "--interval", "100ms"]).done();
    let birds = row(&run, "birds ");
    assert_eq!(birds[1..4], ["28", "0", "-"], "{run}");
    assert!(!run.contains("flushes"), "{run}");
}

#[test]
fn an_index_of_a_server_has_the_servers_figures() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &["--durability", "os"]);
    for number in 0..3 {
        server.put(&format!("/birds/_doc/{number}"), "{\"name\": \"heron\"}").is(201);
    }
    let (url, directory) = (server.url(""), folder.path("all/birds"));
    let top = |of: [&str; 2]| {
        let args = [&["top", "--once", "--interval", "100ms"], &of[..]].concat();
        spirit(&args).done()
    };
    let (served, read) = (top(["--url", &url]), top(["-d", &directory]));
    assert_eq!(row(&served, "birds ")[1..4], ["3", "0", "0"], "{served}");
    assert_eq!(row(&read, "birds ")[1..4], ["3", "0", "-"], "{read}");
    assert_eq!(row(&read, "birds ")[4..], row(&served, "birds ")[4..], "{read}{served}");
    for text in [&served, &read] {
        assert_eq!(row(text, "flushes ")[..2], ["flushes", "0/s"], "{text}");
    }
    // Bytes by structure are the same too.
    let last = |text: &str| text.lines().last().unwrap().to_owned();
    assert!(last(&read).starts_with("birds ") && last(&read) == last(&served), "{read}{served}");
}

#[test]
fn writers_come_and_go_before_a_terminal() {
    let folder = Folder::new();
    let directory = folder.path("birds");
    let mut writer = Writer::start(&directory, &[]);
    (0..7).for_each(|n| writer.add(&format!("heron {n}\n")));
    let args = ["top", "-d", &directory, "--interval", "100ms"];
    let row = |documents: u64| format!("birds{documents:>21}  ");
    let mut terminal = Terminal::start(&args, 24, 120, true);
    terminal.wait_for(0, &row(7));
    writer.add("heron 7\n");
    terminal.wait_for(0, &row(8));
    writer.signal("KILL");
    writer.child.wait().unwrap();
    // What it shows then is what the file has.
    let from = terminal.text().len();
    terminal.wait_for(from, &row(8));
    let mut writer = Writer::start(&directory, &[]);
    writer.add("heron 8\n");
    terminal.wait_for(from, &row(9));
    end(writer);
    terminal.press("q");
    assert_eq!(terminal.end(), Some(0));
}
