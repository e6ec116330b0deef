//! A pool of threads that answer queries. The paper scales in two ways (§4.10): several executors,
//! or one executor with a query-thread pool.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use spirit_query::Query;

use crate::engine::readable::Readable;
use crate::search::error::SearchError;
use crate::search::reader::Reader;
use crate::search::request::{Limits, Search};

/// A pool could not be started.
#[derive(Debug)]
#[non_exhaustive]
pub enum PoolError {
    /// The index has too few readers.
    Readers(SearchError),
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

/// A question to a pool.
enum Question {
    Search(Query, Search),
    Count(Query),
}

/// An answer of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The keys of the first matches, in the order asked for; empty for a count.
    pub keys: Vec<String>,
    /// The number of matches: exact for a count, the number of keys otherwise.
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
    /// Waits for the answer; none if the thread that had the question died.
    pub fn wait(self) -> Option<Result<Answer, SearchError>> {
        self.0.recv().ok()
    }
}

/// Query threads with a bounded queue. [`Index::query_pool`](crate::Index::query_pool) makes one.
pub struct QueryPool {
    jobs: Option<SyncSender<Job>>,
    threads: Vec<JoinHandle<()>>,
    limits: Limits,
}

impl QueryPool {
    /// Starts `threads` threads, with a queue of `queue` questions.
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

    /// Sets the limits of each later question. Its time begins when a thread takes it, so waiting
    /// in the queue does not count.
    pub fn limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Asks for the first matches, in the order of `search`.
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
            // If all threads died, the reply is dropped with the job, and `wait` returns none.
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
        // The caller may not be waiting any more.
        let _ = reply.send(answer);
    }
}

/// Returns the keys of the hits. If a lease ended meanwhile, it searches again.
fn keys(reader: &mut Reader, query: &Query, search: &Search) -> Result<Vec<String>, SearchError> {
    loop {
        if let Ok(keys) = reader.search(query, search.clone())?.keys() {
            return Ok(keys);
        }
    }
}
