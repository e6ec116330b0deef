//! A pool of threads that answer queries: one executor with a query-thread pool is the paper's other way of
//! scaling (§4.10), beside several executors.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use spirit_query::Query;

use crate::engine::readable::Readable;
use crate::search::error::SearchError;
use crate::search::error::TooManyReaders;
use crate::search::reader::Reader;
use crate::search::request::{Limits, Search};

/// A pool could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum PoolError {
    /// The index has not enough readers.
    Readers(TooManyReaders),
    /// A thread could not be started.
    Thread(std::io::Error),
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PoolError::Readers(reason) => reason.fmt(f),
            PoolError::Thread(reason) => write!(f, "cannot start a query thread: {reason}"),
        }
    }
}

impl std::error::Error for PoolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            PoolError::Readers(refused) => std::error::Error::source(refused),
            PoolError::Thread(reason) => Some(reason),
        }
    }
}

/// What a pool is asked.
enum Question {
    Search(Query, Search),
    Count(Query),
}

/// What it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Keys of the first matches, in the order that was asked for; empty for a count.
    pub keys: Vec<String>,
    /// Matches: exact for a count, else how many keys there are.
    pub count: u64,
}

struct Job {
    question: Question,
    limits: Limits,
    reply: SyncSender<Reply>,
}

type Reply = Result<Answer, SearchError>;

/// An answer to come.
pub struct Pending(Receiver<Reply>);

impl Pending {
    /// Waits for the answer. `None` if the thread that had the question died.
    pub fn wait(self) -> Option<Result<Answer, SearchError>> {
        self.0.recv().ok()
    }
}

/// Query threads with a bounded queue. Made by [`Index::query_pool`](crate::Index::query_pool).
pub struct QueryPool {
    jobs: Option<SyncSender<Job>>,
    threads: Vec<JoinHandle<()>>,
    limits: Limits,
}

impl QueryPool {
    /// Starts `threads` threads.
    pub(crate) fn start(
        index: &Arc<Readable>,
        threads: usize,
        queue: usize,
    ) -> Result<QueryPool, PoolError> {
        let (jobs, inbox) = sync_channel(queue);
        let inbox = Arc::new(Mutex::new(inbox));
        let limits = Limits::default();
        let mut pool = QueryPool { jobs: Some(jobs), threads: Vec::with_capacity(threads), limits };
        for number in 0..threads {
            let (index, inbox) = (index.clone(), inbox.clone());
            let (ready, started) = sync_channel(1);
            let thread = std::thread::Builder::new()
                .name(format!("spirit-query-{number}"))
                .spawn(move || match Reader::new(index) {
                    Ok(reader) => {
                        let _ = ready.send(Ok(()));
                        answer_all(reader, &inbox);
                    }
                    Err(none) => drop(ready.send(Err(none))),
                })
                .map_err(PoolError::Thread)?;
            pool.threads.push(thread);
            if let Ok(Err(none)) = started.recv() {
                return Err(PoolError::Readers(none));
            }
        }
        Ok(pool)
    }

    /// What each question may cost that is asked from now on. Its time begins when a thread takes it up: waiting in the queue does not
    /// count.
    pub fn limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Asks for the first matches, in the order that `search` says.
    pub fn search(&self, query: Query, search: Search) -> Pending {
        self.ask(Question::Search(query, search))
    }

    /// Asks for the exact number of matches.
    pub fn count(&self, query: Query) -> Pending {
        self.ask(Question::Count(query))
    }

    fn ask(&self, question: Question) -> Pending {
        let (reply, answer) = sync_channel(1);
        if let Some(jobs) = &self.jobs {
            // If all threads died the reply is dropped with the job, and `wait` says so.
            let _ = jobs.send(Job { question, limits: self.limits.clone(), reply });
        }
        Pending(answer)
    }
}

impl Drop for QueryPool {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn answer_all(mut reader: Reader, inbox: &Mutex<Receiver<Job>>) {
    loop {
        let job = inbox.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { question, limits, reply }) = job else { return };
        reader.limits(limits);
        let answer = match question {
            Question::Search(query, search) => keys(&mut reader, &query, &search)
                .map(|keys| Answer { count: keys.len() as u64, keys }),
            Question::Count(query) => {
                reader.count(&query).map(|count| Answer { keys: Vec::new(), count })
            }
        };
        // Nobody may be waiting any more.
        let _ = reply.send(answer);
    }
}

/// The keys of what is found. A thread that was stopped for longer than the lease asks again.
fn keys(reader: &mut Reader, query: &Query, search: &Search) -> Result<Vec<String>, SearchError> {
    loop {
        if let Ok(keys) = reader.search(query, search.clone())?.keys() {
            return Ok(keys);
        }
    }
}
