//! A client that listens to an index, across all restarts of its server.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::caller::Signals;

/// The time between two looks whether it is enough.
const LOOK: Duration = Duration::from_millis(200);

/// The client.
#[derive(Default)]
pub(crate) struct Listener {
    /// The place behind the last document. Each comes once, so places only grow.
    place: Option<u64>,
    pub(crate) documents: u64,
}

impl Listener {
    /// Forgets its place: the index is another one.
    pub(crate) fn begin_again(&mut self) {
        self.place = None;
    }

    /// Listens until that is enough or the server has gone.
    pub(crate) fn listen(&mut self, address: &str, path: &str, signals: &Signals) {
        while !signals.is_enough() && !signals.is_leaving() {
            let Ok(stream) = TcpStream::connect(address) else {
                assert!(signals.is_leaving(), "nobody listens");
                return;
            };
            stream.set_read_timeout(Some(LOOK)).unwrap();
            self.hear(stream, path, signals);
        }
    }

    fn hear(&mut self, mut stream: TcpStream, path: &str, signals: &Signals) {
        let last = self.place.map(|place| format!("Last-Event-ID: {place}\r\n"));
        let last = last.unwrap_or_default();
        if write!(stream, "GET {path} HTTP/1.1\r\nHost: here\r\n{last}\r\n").is_err() {
            return;
        }
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        while !signals.is_enough() {
            match lines.read_line(&mut line) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    continue;
                }
                Err(_) => return,
            }
            if line.starts_with("HTTP/1.1 ") && !line.starts_with("HTTP/1.1 200") {
                // The index is not there yet.
                assert!(line.starts_with("HTTP/1.1 404") || signals.is_leaving(), "{line}");
                return std::thread::sleep(LOOK);
            }
            if let Some(place) = line.trim_end().strip_prefix("id: ") {
                self.note(place.parse().expect(&line));
            }
            line.clear();
        }
    }

    fn note(&mut self, place: u64) {
        let is_later = self.place.is_none_or(|before| place > before);
        assert!(is_later, "a document twice: {place} after {:?}", self.place);
        self.place = Some(place);
        self.documents += 1;
    }
}
