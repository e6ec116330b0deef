//! A process that asks for marked documents, one after the other, and says when it found each. The program starts itself as one.
//!
//! It prints a line when it is ready, and then the time of each find: nanoseconds since 1970, which both processes read from
//! the same clock.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use spirit::{Index, Query, Search};

use super::{LOST, MARKS, marker};
use crate::{Fallible, engine};

/// The first argument of the process that asks.
pub(crate) const ASK: &str = "--ask-for-marked";

/// A process that was started to ask.
pub(super) struct Asker {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Asker {
    /// Starts it, on the cores of this thread, and waits until it asks for the marks of `turn`.
    pub(super) fn start(directory: &Path, turn: usize) -> Fallible<Asker> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(ASK)
            .arg(directory)
            .arg(turn.to_string())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("a process without output")?;
        let mut asker = Asker { child, lines: BufReader::new(output) };
        asker.line()?;
        Ok(asker)
    }

    fn line(&mut self) -> Fallible<String> {
        let mut line = String::new();
        self.lines.read_line(&mut line)?;
        Ok(line)
    }

    /// When it found each mark.
    pub(super) fn times(mut self) -> Fallible<Vec<u64>> {
        let times = (0..MARKS).map(|_| Ok(self.line()?.trim().parse()?)).collect();
        self.child.wait()?;
        times
    }
}

/// Runs the process that asks. `arguments` are the directory and the turn.
pub(crate) fn ask(mut arguments: impl Iterator<Item = String>) -> Fallible<()> {
    let directory = arguments.next().ok_or("no directory")?;
    let turn: usize = arguments.next().ok_or("no turn")?.parse()?;
    let index = Index::builder().directory(directory).read_only(true).open()?;
    let mut reader = index.reader()?;
    let queries = (0..MARKS).map(|mark| Query::all_of(&[&marker(turn, mark)]));
    let queries = queries.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let mut times = Vec::with_capacity(queries.len());
    println!("ready");
    for (mark, query) in queries.iter().enumerate() {
        let begun = now();
        while engine::hits(&mut reader, query, Search::newest(10)) == 0 {
            if now() - begun > LOST.as_nanos() as u64 {
                return Err(format!("marked document {mark} was not found").into());
            }
        }
        times.push(now());
    }
    let mut out = std::io::stdout().lock();
    times.iter().try_for_each(|time| writeln!(out, "{time}"))?;
    Ok(())
}

/// Nanoseconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}
