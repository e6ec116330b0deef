//! Threads that answer questions, each with a reader of its own for each index that it was asked about.
//!
//! A question waits in a queue of fixed length. If that is full, it is refused at once. A question whose
//! client hangs up is cancelled: the future that waits for the answer is dropped, and sets the flag that
//! the evaluator looks at.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use spirit::search::Limits;
use spirit::{Reader, SearchError};
use tokio::sync::oneshot;

use crate::served::Served;

/// The most readers of a thread. The one that was used longest ago leaves.
const READERS_MAX: usize = 64;
/// The time after which an idle thread lets go of indexes that were deleted.
const IDLE: Duration = Duration::from_millis(250);

type Task = Box<dyn FnOnce(&mut Readers) + Send>;

/// The threads, and their queue.
#[derive(Clone)]
pub(crate) struct Workers {
    tasks: Sender<Task>,
    /// Counts how often threads were asked to let go of readers.
    closings: Arc<AtomicU64>,
    timeout: Duration,
}

/// The reason why a question was not asked.
#[derive(Debug)]
pub(crate) enum Unasked {
    /// Too many questions wait.
    Overloaded,
    /// There is no reader left, or the question is over its time.
    Search(SearchError),
    /// The thread met a bug.
    Died,
}

impl Workers {
    /// Starts threads.
    pub(crate) fn start(
        threads: usize,
        waiting_max: usize,
        timeout: Duration,
    ) -> std::io::Result<Workers> {
        let (tasks, inbox) = bounded(waiting_max.max(1));
        let closings = Arc::<AtomicU64>::default();
        for number in 0..threads.max(1) {
            let (inbox, closings) = (inbox.clone(), closings.clone());
            std::thread::Builder::new()
                .name(format!("spirit-query-{number}"))
                .spawn(move || work(&inbox, &closings))?;
        }
        Ok(Workers { tasks, closings, timeout })
    }

    /// Asks all threads to drop readers of indexes that are gone, before they answer again.
    pub(crate) fn let_go(&self) {
        self.closings.fetch_add(1, Relaxed);
    }

    /// Returns the number of questions that wait for a thread.
    pub(crate) fn waiting(&self) -> usize {
        self.tasks.len()
    }

    /// Asks an index. The work gets a reader with the limits of a question that waits from now on.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        served: Arc<Served>,
        work: impl FnOnce(&mut Reader) -> T + Send + 'static,
    ) -> Result<T, Unasked> {
        let (reply, answer) = oneshot::channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let end = Instant::now() + self.timeout;
        let flag = cancelled.clone();
        let task = move |readers: &mut Readers| {
            if flag.load(Relaxed) {
                return;
            }
            let timeout = end.saturating_duration_since(Instant::now());
            let limits =
                Limits { timeout: Some(timeout), cancelled: Some(flag), ..Limits::default() };
            let answer = readers.of(&served).map(|reader| {
                reader.limits(limits);
                work(reader)
            });
            drop(served);
            // Nobody waits any more if the client has hung up.
            let _ = reply.send(answer);
        };
        self.tasks.try_send(Box::new(task)).map_err(|_| Unasked::Overloaded)?;
        let _cancel = CancelOnDrop(cancelled);
        answer.await.map_err(|_| Unasked::Died)?.map_err(Unasked::Search)
    }
}

/// Sets a flag when it is dropped.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Answers until nobody can ask any more.
fn work(inbox: &Receiver<Task>, closings: &AtomicU64) {
    let (mut readers, mut seen) = (Readers::default(), 0);
    loop {
        let closing = closings.load(Relaxed);
        if closing != seen {
            seen = closing;
            readers.let_go();
        }
        match inbox.recv_timeout(IDLE) {
            // A bug in one answer must not take the thread along. What its readers are like is not
            // known.
            Ok(task) => {
                if catch_unwind(AssertUnwindSafe(|| task(&mut readers))).is_err() {
                    readers = Readers::default();
                }
            }
            Err(RecvTimeoutError::Timeout) => readers.let_go(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// The readers of a thread, each with its index. The last was used last.
#[derive(Default)]
struct Readers(Vec<(Weak<Served>, Reader)>);

impl Readers {
    fn of(&mut self, served: &Arc<Served>) -> Result<&mut Reader, SearchError> {
        let is_it = |(index, _): &(Weak<Served>, Reader)| index.as_ptr() == Arc::as_ptr(served);
        let known = self.0.iter().position(is_it);
        let reader = match known {
            Some(place) => self.0.remove(place),
            None => {
                self.let_go();
                if self.0.len() == READERS_MAX {
                    self.0.remove(0);
                }
                (Arc::downgrade(served), served.index.reader()?)
            }
        };
        self.0.push(reader);
        let (_, reader) = self.0.last_mut().expect("it was pushed");
        Ok(reader)
    }

    /// Drops the readers of indexes that were deleted, which keep their memory.
    fn let_go(&mut self) {
        self.0.retain(|(index, _)| index.strong_count() > 0);
    }
}
