//! The thread that writes the log. A reader of standard error that is slow, or gone, stops nobody else:
//! lines wait in a queue of fixed length, and those beyond it are lost and counted.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime};

use crossbeam_channel::{Receiver, Sender, bounded};
use tracing::Level;

use super::line::Line;
use crate::settings::LogFormat;

/// Lines that wait. One has a few hundred bytes.
const WAITING_MAX: usize = 8192;
/// The most bytes that are written at once.
const TOGETHER: usize = 64 << 10;
/// The time that lines still have when the server has ended.
const PATIENCE: Duration = Duration::from_secs(1);
/// The pause before a reader that takes nothing is tried again, where a write does not wait.
const PAUSE: Duration = Duration::from_millis(10);

/// Lines that were lost since the process started.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Returns the number of lines that were lost.
pub(crate) fn lost() -> u64 {
    LOST.load(Relaxed)
}

enum Message {
    Line(String),
    /// The sender is answered once all lines before it are written.
    Flush(Sender<()>),
}

/// The way to the thread that writes.
#[derive(Clone)]
pub(crate) struct Log(Sender<Message>);

impl Log {
    /// Starts the thread.
    pub(super) fn start(format: LogFormat) -> io::Result<Log> {
        // The library's own handle has a lock, which others would wait for.
        let out = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        let (sender, inbox) = bounded(WAITING_MAX);
        std::thread::Builder::new()
            .name("spirit-log".to_owned())
            .spawn(move || Writer { out, format, named: 0 }.run(&inbox))?;
        Ok(Log(sender))
    }

    /// Writes a line soon. It is lost if too many wait.
    pub(super) fn write(&self, line: String) {
        if self.0.try_send(Message::Line(line)).is_err() {
            LOST.fetch_add(1, Relaxed);
        }
    }

    /// Waits until all lines are written, but not for ever.
    pub(crate) fn flush(&self) {
        let (written, wait) = bounded(1);
        if self.0.send_timeout(Message::Flush(written), PATIENCE).is_ok() {
            let _ = wait.recv_timeout(PATIENCE);
        }
    }
}

struct Writer<W> {
    out: W,
    format: LogFormat,
    /// The lost lines that a line has named.
    named: u64,
}

impl<W: Write> Writer<W> {
    fn run(&mut self, inbox: &Receiver<Message>) {
        while let Ok(message) = inbox.recv() {
            let (mut text, mut lines, mut flush) = (String::new(), 0, None);
            let mut next = Some(message);
            // Terminates: a write takes what waits, up to its length.
            while let Some(message) = next.take() {
                match message {
                    Message::Line(line) => {
                        text.push_str(&line);
                        lines += 1;
                    }
                    Message::Flush(written) => flush = Some(written),
                }
                next = (text.len() < TOGETHER).then(|| inbox.try_recv().ok()).flatten();
            }
            self.write(&text, lines);
            if let Some(written) = flush {
                let _ = written.send(());
            }
        }
    }

    fn write(&mut self, text: &str, lines: u64) {
        match self.write_all(text.as_bytes()) {
            Ok(()) => self.name_lost(),
            // Closed, or on a full disk. A later line may find it otherwise.
            Err(_) => _ = LOST.fetch_add(lines, Relaxed),
        }
    }

    fn name_lost(&mut self) {
        let lost = lost();
        if lost == self.named {
            return;
        }
        let mut line = Line::begin(self.format, SystemTime::now(), &Level::WARN, "server");
        line.text("msg", "lines of the log were lost");
        line.plain("lines", lost - self.named);
        if self.write_all(line.end().as_bytes()).is_ok() {
            self.named = lost;
        }
    }

    /// Writes all of it, also where a write does not wait.
    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        // Terminates: each round writes, fails, or waits for the reader.
        while !bytes.is_empty() {
            match self.out.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(PAUSE);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a few bytes, then fails for a while.
    #[derive(Default)]
    struct Moody {
        failures: usize,
        written: Vec<u8>,
    }

    impl Write for Moody {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.failures > 0 {
                self.failures -= 1;
                return Err(io::ErrorKind::StorageFull.into());
            }
            let taken = bytes.len().min(7);
            self.written.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_cannot_be_written_is_counted_and_named() {
        let out = Moody { failures: 2, ..Moody::default() };
        let mut writer = Writer { out, format: LogFormat::Json, named: lost() };
        let (sender, inbox) = bounded(8);
        for text in ["one\n", "two\n", "three\n"] {
            sender.send(Message::Line(text.to_owned())).unwrap();
            let (written, wait) = bounded(1);
            sender.send(Message::Flush(written)).unwrap();
            if text == "three\n" {
                drop(sender);
                writer.run(&inbox);
                wait.recv().unwrap();
                break;
            }
            // Each line is a write of its own.
            let Ok(Message::Line(line)) = inbox.recv() else { panic!() };
            writer.write(&line, 1);
            inbox.recv().unwrap();
        }
        let text = String::from_utf8(writer.out.written).unwrap();
        assert!(text.starts_with("three\n") && text.ends_with("\"lines\":2}\n"), "{text}");
        assert_eq!(lost(), writer.named);
    }
}
