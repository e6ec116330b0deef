//! Indexes that are closed for a moment. Requests for them wait.
//!
//! Each request has a pass while it is answered. An index is closed once it is said that it will be, and
//! all requests that had a pass before have ended. So none of them finds it closed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::timeout;

use crate::index_name::IndexName;

/// The time between two looks whether requests have ended.
const LOOK: Duration = Duration::from_millis(1);

/// The indexes that are opened again.
#[derive(Debug)]
pub(crate) struct Reopening {
    names: watch::Sender<BTreeSet<IndexName>>,
    passes: Arc<Passes>,
}

/// Passes that are out, in two groups. New ones are of the group of this moment, so the other one
/// empties however many requests come.
#[derive(Debug, Default)]
struct Passes {
    group: AtomicUsize,
    out: [AtomicUsize; 2],
}

/// What a request has while it is answered.
#[derive(Debug)]
pub(crate) struct Pass {
    passes: Arc<Passes>,
    group: usize,
}

/// An index that is opened again, until this is dropped.
pub(super) struct Held<'r> {
    all: &'r Reopening,
    name: IndexName,
}

impl Default for Reopening {
    fn default() -> Reopening {
        Reopening { names: watch::Sender::new(BTreeSet::new()), passes: Arc::default() }
    }
}

impl Reopening {
    /// From now on requests wait for an index. Waits for those before, not longer than `patience`.
    pub(super) fn hold(&self, name: &IndexName, patience: Duration) -> Held<'_> {
        self.names.send_modify(|names| _ = names.insert(name.clone()));
        let before = self.passes.group.fetch_xor(1, SeqCst);
        let end = Instant::now() + patience;
        // Terminates: the time ends. Requests that are left may take long on another index.
        while self.passes.out[before].load(SeqCst) > 0 && Instant::now() < end {
            std::thread::sleep(LOOK);
        }
        Held { all: self, name: name.clone() }
    }

    /// Returns a pass, once an index can be asked, or any index if none is named. It waits for that, not
    /// longer than `patience`.
    pub(crate) async fn pass(&self, index: Option<&str>, patience: Duration) -> Pass {
        let is_free = |names: &BTreeSet<IndexName>| match index {
            // Patterns and lists may mean any.
            Some(index) if !index.contains(['*', ',']) && index != "_all" => {
                !names.iter().any(|name| name.as_str() == index)
            }
            _ => names.is_empty(),
        };
        // Before the look, so that an index that is closed later waits for this request.
        let pass = self.new_pass();
        if is_free(&self.names.borrow()) {
            return pass;
        }
        drop(pass);
        // The catalog, which has the other end, outlives all requests.
        let _ = timeout(patience, self.names.subscribe().wait_for(is_free)).await;
        self.new_pass()
    }

    fn new_pass(&self) -> Pass {
        let group = self.passes.group.load(SeqCst);
        self.passes.out[group].fetch_add(1, SeqCst);
        Pass { passes: self.passes.clone(), group }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.passes.out[self.group].fetch_sub(1, SeqCst);
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.all.names.send_modify(|names| _ = names.remove(&self.name));
    }
}
