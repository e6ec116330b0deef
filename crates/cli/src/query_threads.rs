//! Several threads answer the queries of a file. The answers stand in the order of the file.
//!
//! A thread reads the file, as far ahead as credits allow. The caller hands each query to the threads, and prints what they
//! have answered, in order. An answer is printed as soon as it is there, even if no further query ever comes.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use spirit::Reader;

use crate::asked::{Asked, QueryLine, QueryLines, Unanswered};
use crate::failure::Failure;

/// Queries that are read before their turn, for each thread.
const AHEAD: usize = 16;

/// What the caller waits for.
enum Event {
    /// The next query; none at the end of the file.
    Read(io::Result<Option<QueryLine>>),
    Answered(usize, Answered),
    /// A thread ends by a panic, and owes an answer.
    Panicked,
}

/// Tells of a panic.
struct Teller(Sender<Event>);

impl Drop for Teller {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = self.0.send(Event::Panicked);
        }
    }
}

/// A query, what was printed of its answer, and whether that is all.
struct Answered {
    line: QueryLine,
    printed: Vec<u8>,
    outcome: Result<(), Unanswered>,
}

/// Lets a thread for each of `readers` answer the queries of the file at `path`. Gives each query to `done` once its answer is
/// printed.
pub(crate) fn answer<W: Write>(
    path: &Path,
    readers: Vec<Reader>,
    answer: impl Fn(&mut Reader, Asked<'_>, &mut dyn Write) -> Result<(), Unanswered> + Sync,
    out: &mut W,
    done: impl FnMut(&QueryLine, Result<(), Unanswered>, &mut W) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (tell, events) = channel();
    let (credits, credit) = channel();
    for _ in 0..AHEAD * readers.len() {
        let _ = credits.send(());
    }
    // It may wait for a line long after the answers have lost their reader. So nobody waits for it.
    let (file, told) = (path.to_owned(), tell.clone());
    thread::spawn(move || read(file, &credit, &told));
    let (jobs, inbox) = channel();
    let (inbox, answer) = (Mutex::new(inbox), &answer);
    thread::scope(|scope| {
        for reader in readers {
            let (tell, inbox) = (Teller(tell.clone()), &inbox);
            scope.spawn(move || work(path, reader, inbox, answer, &tell));
        }
        drop(tell);
        // It drops the sender of jobs, and then the threads end.
        print(path, jobs, &events, &credits, out, done)
    })
}

/// Reads a query for each credit, to the end of the file.
fn read(path: PathBuf, credit: &Receiver<()>, tell: &Sender<Event>) {
    let mut lines = match QueryLines::open(&path) {
        Ok(lines) => lines,
        Err(error) => return drop(tell.send(Event::Read(Err(error)))),
    };
    while credit.recv().is_ok() {
        let line = lines.next();
        let goes_on = matches!(line, Ok(Some(_)));
        if tell.send(Event::Read(line)).is_err() || !goes_on {
            return;
        }
    }
}

/// Answers queries until there are no more.
fn work(
    path: &Path,
    mut reader: Reader,
    inbox: &Mutex<Receiver<(usize, QueryLine)>>,
    answer: impl Fn(&mut Reader, Asked<'_>, &mut dyn Write) -> Result<(), Unanswered>,
    tell: &Teller,
) {
    loop {
        let job = inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, line)) = job else { return };
        let mut printed = Vec::new();
        let outcome = line.answered(path, |asked| answer(&mut reader, asked, &mut printed));
        let answered = Answered { line, printed, outcome };
        if tell.0.send(Event::Answered(number, answered)).is_err() {
            return;
        }
    }
}

/// Hands out the queries that are read, and prints the answers.
fn print<W: Write>(
    path: &Path,
    jobs: Sender<(usize, QueryLine)>,
    events: &Receiver<Event>,
    credits: &Sender<()>,
    out: &mut W,
    mut done: impl FnMut(&QueryLine, Result<(), Unanswered>, &mut W) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (mut first, mut under_way) = (0, VecDeque::new());
    let mut is_read = false;
    while !is_read || !under_way.is_empty() {
        match events.recv().expect("there are threads until the jobs end") {
            Event::Read(Ok(Some(line))) => {
                let number = first + under_way.len();
                under_way.push_back(None);
                // The inbox is there as long as the threads.
                let _ = jobs.send((number, line));
            }
            Event::Read(Ok(None)) => is_read = true,
            Event::Read(Err(error)) => return Err(Failure::file(path, &error)),
            Event::Answered(number, answered) => under_way[number - first] = Some(answered),
            Event::Panicked => return Err(Failure::work("a thread that answers queries panicked")),
        }
        let mut is_any_printed = false;
        while let Some(Answered { line, printed, outcome }) =
            under_way.front_mut().and_then(Option::take)
        {
            under_way.pop_front();
            first += 1;
            out.write_all(&printed)?;
            done(&line, outcome, out)?;
            // The file may have been read to its end.
            let _ = credits.send(());
            is_any_printed = true;
        }
        if is_any_printed {
            out.flush()?;
        }
    }
    Ok(())
}
