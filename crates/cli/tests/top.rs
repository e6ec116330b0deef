//! `spirit top`: in a pipe, on a terminal, and with a server that does not answer.

mod common;
mod screens;
mod serving;

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::Duration;

use common::{Folder, command, spirit};
use rustix::termios::{LocalModes, tcgetattr};
use screens::Terminal;
use serving::Server;

fn filled(folder: &Folder) -> Server {
    let server = Server::start(&folder.path("all"), &[]);
    for index in ["birds", "a-fish"] {
        for number in 0..7 {
            server.put(&format!("/{index}/_doc/{number}"), "{\"name\": \"heron\"}").is(201);
        }
    }
    server
}

#[test]
fn one_table_is_printed_to_a_pipe() {
    let folder = Folder::new();
    let server = filled(&folder);
    let url = server.url("");
    let args = ["top", "--url", &url, "--once", "--interval", "1s", "--sort", "name"];
    let top = command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    for number in 10..30 {
        server.put(&format!("/birds/_doc/{number}"), "{\"name\": \"heron\"}").is(201);
        server.get("/birds/_search?q=heron").is(200);
    }
    let run = top.wait_with_output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success() && run.stderr.is_empty(), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    assert!(text.starts_with(&format!("{url}   SPIRIT 0.1.0   up ")), "{text}");
    let row = |start: &str| -> Vec<&str> {
        let line = text.lines().find(|line| line.starts_with(start));
        line.unwrap_or_else(|| panic!("{start} in {text}")).split_whitespace().collect()
    };
    let (birds, fish) = (row("birds "), row("a-fish "));
    assert_eq!((birds[1], fish[1], fish[2], fish[3]), ("27", "7", "0", "0"));
    for rate in [birds[2], birds[3]] {
        let rate: f64 = rate.parse().unwrap();
        assert!(rate > 2.0 && rate < 25.0, "{text}");
    }
    let searches = text.lines().find(|line| line.starts_with("searches ")).unwrap();
    assert!(searches.contains(" P50 ") && !searches.contains("P99 -"), "{text}");
    assert!(text.find("a-fish").unwrap() < text.find("birds").unwrap(), "{text}");
    assert_eq!(row("BYTES IN")[..3], ["BYTES", "IN", "POSTINGS"]);
    // Without --once it is the same, with a note.
    let run = spirit(&["top", "--url", &url, "--interval", "100ms"]);
    assert!(run.code == 0 && run.err.contains("no terminal") && run.out.contains("birds"));
}

#[test]
fn failures_say_what_to_do() {
    let folder = Folder::new();
    let fails = |args: &[&str], code: i32, what: &str| {
        let run = spirit(&[&["top", "--once"], args].concat());
        assert!(run.code == code && run.err.contains(what), "{args:?}: {} {}", run.code, run.err);
        assert!(run.out.is_empty(), "{}", run.out);
    };
    fails(&["--url", "http://127.0.0.1:1"], 1, "is `spirit serve` running?");
    fails(&["--url", "ftp://a"], 2, "expected http:// or https://");
    fails(&["--url", "http://a b"], 2, "is no URL");
    fails(&["--interval", "1ms"], 2, "100ms or more");
    fails(&["--key-file", &folder.path("none")], 1, "No such file");
    fails(&["--key-file", &folder.file("two", "a b")], 2, "a key alone");
    fails(&["--ca", &folder.file("ca", "nothing")], 2, "ca: there is no certificate");
    let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
    fails(&["--ca", &folder.file("ca", key)], 2, "ca: expected certificates only");
    fails(&["-d", &folder.path("none")], 1, "there is no index");
    fails(&["-d", &folder.path("none"), "--url", "http://a"], 2, "cannot be used with");
    let directory = folder.path("all");
    let key = |scope: &str| {
        let key = spirit(&["keys", "create", "-d", &directory, "--scope", scope, scope]).done();
        folder.file(scope, key)
    };
    let (right, wrong) = (key("metrics"), key("write"));
    let bogus = folder.file("bogus", "spirit_bogus\n");
    let server = Server::start(&directory, &[]);
    let url = server.url("");
    fails(&["--url", &url], 1, "needs a key");
    fails(&["--url", &url, "--key-file", &bogus], 1, "the key is refused");
    fails(&["--url", &url, "--key-file", &wrong], 1, "takes the scope metrics");
    let args = ["top", "--once", "--interval", "100ms", "--url", server.address()];
    let run = spirit(&[&args[..], &["--key-file", &right]].concat());
    assert!(run.code == 0 && run.out.contains("INDEX"), "{}", run.err);
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = other.accept().unwrap();
        let _ = stream.read(&mut [0; 1000]);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>").unwrap();
    });
    fails(&["--url", &address], 1, "no server of SPIRIT");
}

#[test]
fn a_terminal_is_drawn_on_and_given_back() {
    let folder = Folder::new();
    let server = filled(&folder);
    let url = server.url("");
    let args = ["top", "--url", &url, "--interval", "100ms"];
    let mut terminal = Terminal::start(&args, 24, 120, false);
    let text = terminal.wait_for(0, "INDEX (by adds)");
    let is_raw = |terminal: &Terminal| {
        let modes = tcgetattr(&terminal.main).unwrap().local_modes;
        !modes.contains(LocalModes::ICANON) && !modes.contains(LocalModes::ECHO)
    };
    assert!(is_raw(&terminal));
    assert!(text.starts_with("\u{1b}[?1049h\u{1b}[?25l\u{1b}[H"), "{text:?}");
    assert!(text.contains("\u{1b}[1mINDEX (by adds)"), "{text:?}");
    let from = terminal.text().len();
    terminal.press("xs");
    terminal.wait_for(from, "INDEX (by queries)");
    // A small window has what fits.
    let from = terminal.text().len();
    Terminal::size(&terminal.main, 3, 20);
    common::signal(&terminal.child, "WINCH");
    let cut = format!("{}…", &url[..19]);
    let text = terminal.wait_for(from, &cut);
    let last = text.rsplit("\u{1b}[H").next().unwrap();
    assert_eq!(last.matches("\r\n").count(), 2, "{last:?}");
    terminal.press("q");
    assert_eq!(terminal.end(), Some(0));
    let text = terminal.wait_for(0, "\u{1b}[?1049l");
    assert!(text.ends_with("\u{1b}[?25h\u{1b}[?1049l") && !is_raw(&terminal), "{text:?}");
}

#[test]
fn a_server_that_goes_away_is_named_and_awaited() {
    let folder = Folder::new();
    let server = filled(&folder);
    let url = server.url("");
    let args = ["top", "--url", &url, "--interval", "100ms"];
    let mut terminal = Terminal::start(&args, 24, 120, true);
    let text = terminal.wait_for(0, "INDEX");
    assert!(!text.contains("\u{1b}[1m"), "{text:?}");
    let from = terminal.text().len();
    let address = server.address().to_owned();
    server.kill();
    terminal.wait_for(from, "is `spirit serve` running?");
    let from = terminal.text().len();
    let again = Server::start(&folder.path("all"), &["--listen", &address]);
    terminal.wait_for(from, "SPIRIT 0.1.0");
    drop(again);
    // Ctrl-C is a key here.
    terminal.press("\u{3}");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let folder = Folder::new();
    let server = filled(&folder);
    let url = server.url("");
    let mut terminal = Terminal::start(&["top", "--url", &url], 24, 120, false);
    terminal.wait_for(0, "INDEX");
    common::signal(&terminal.child, "TERM");
    assert_eq!(terminal.end(), Some(0));
    assert!(terminal.wait_for(0, "\u{1b}[?1049l").ends_with("\u{1b}[?1049l"));
}
