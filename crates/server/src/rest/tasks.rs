//! Tasks: work on all documents of a query, while it is under way and after its end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::Extension;
use axum::extract::Path;
use axum::response::Response;
use spirit_opensearch::error::Refusal;

use super::answer::filtered;
use super::parameters::Parameters;
use super::refused::Answered;
use super::search::now_ms;

/// The name of the only node.
pub(super) const NODE: &str = "spirit";
/// Tasks that are kept after their end. The oldest leaves.
const KEPT_MAX: usize = 1000;

/// How far work on documents has come.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    pub(super) total: u64,
    pub(super) updated: u64,
    pub(super) deleted: u64,
    pub(super) batches: u64,
    pub(super) conflicts: u64,
}

impl Progress {
    /// Returns its members. Work that updates nothing does not say so.
    pub(super) fn members(&self, with_updated: bool) -> String {
        let Progress { total, updated, deleted, batches, conflicts } = self;
        let updated = if with_updated { format!(r#""updated":{updated},"#) } else { String::new() };
        format!(
            concat!(
                r#""total":{},{}"deleted":{},"batches":{},"version_conflicts":{},"noops":0,"#,
                r#""retries":{{"bulk":0,"search":0}},"throttled_millis":0,"requests_per_second":-1.0,"#,
                r#""throttled_until_millis":0"#
            ),
            total, updated, deleted, batches, conflicts
        )
    }
}

/// A task.
#[derive(Debug)]
pub(super) struct Task {
    action: &'static str,
    description: String,
    started_ms: i64,
    started: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    progress: Progress,
    /// The time that it took in nanoseconds, and the member with its answer or error.
    end: Option<(u128, String)>,
}

impl Task {
    pub(super) fn new(action: &'static str, description: String) -> Task {
        let (started_ms, started) = (now_ms(), Instant::now());
        Task { action, description, started_ms, started, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says how far it has come.
    pub(super) fn is_at(&self, progress: &Progress) {
        self.state().progress = progress.clone();
    }

    /// Says how it ended: with the member `response` or `error`.
    pub(super) fn end(&self, member: String) {
        self.state().end = Some((self.started.elapsed().as_nanos(), member));
    }

    fn is_running(&self) -> bool {
        self.state().end.is_none()
    }

    /// Returns what is known of it, without the answer.
    fn json(&self, id: u64) -> String {
        let state = self.state();
        let nanos = state.end.as_ref().map_or(self.started.elapsed().as_nanos(), |end| end.0);
        format!(
            concat!(
                r#"{{"node":"{}","id":{},"type":"transport","action":"{}","status":{{{}}},"description":{},"#,
                r#""start_time_in_millis":{},"running_time_in_nanos":{},"cancellable":false,"cancelled":false,"headers":{{}}}}"#
            ),
            NODE,
            id,
            self.action,
            state.progress.members(true),
            serde_json::to_string(&self.description).unwrap_or_default(),
            self.started_ms,
            nanos
        )
    }
}

/// All tasks that run, and the last ones that ended.
#[derive(Debug, Default)]
pub(super) struct Tasks(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    last: u64,
    tasks: BTreeMap<u64, Arc<Task>>,
}

impl Tasks {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a task, and returns its number.
    pub(super) fn add(&self, task: Arc<Task>) -> u64 {
        let mut known = self.known();
        known.last += 1;
        let number = known.last;
        known.tasks.insert(number, task);
        if known.tasks.len() > KEPT_MAX {
            let oldest = known.tasks.iter().find(|(_, task)| !task.is_running());
            let oldest = oldest.map(|(number, _)| *number);
            oldest.map(|number| known.tasks.remove(&number));
        }
        number
    }
}

/// The tasks that run.
pub(super) async fn list(
    Extension(tasks): Extension<Arc<Tasks>>,
    parameters: Parameters,
) -> Answered<Response> {
    let parameters = parameters.end_of_indexes()?;
    let running: Vec<String> = tasks
        .known()
        .tasks
        .iter()
        .filter(|(_, task)| task.is_running())
        .map(|(number, task)| format!(r#""{NODE}:{number}":{}"#, task.json(*number)))
        .collect();
    let body = format!(
        r#"{{"nodes":{{"{NODE}":{{"name":"{NODE}","roles":["data","ingest"],"tasks":{{{}}}}}}}}}"#,
        running.join(",")
    );
    Ok(filtered(&parameters, 200, body))
}

/// A task by its id.
pub(super) async fn show(
    Extension(tasks): Extension<Arc<Tasks>>,
    Path(id): Path<String>,
    mut parameters: Parameters,
) -> Answered<Response> {
    if parameters.flag("wait_for_completion")? {
        return Err(Refusal::unsupported("[wait_for_completion] of a task").into());
    }
    let parameters = parameters.end_of_indexes()?;
    let number = id.split_once(':').and_then(|(node, number)| Some((node, number.parse().ok()?)));
    let Some((node, number)) = number else {
        return Err(Refusal::illegal_argument(format!("malformed task id {id}")).into());
    };
    let task = tasks.known().tasks.get(&number).filter(|_| node == NODE).cloned();
    let task = task.ok_or_else(|| {
        let reason = format!("task [{id}] isn't running and hasn't stored its results");
        Refusal::new("resource_not_found_exception", 404, reason)
    })?;
    let shown = task.json(number);
    let body = match &task.state().end {
        Some((_, end)) => format!(r#"{{"completed":true,"task":{shown},{end}}}"#),
        None => format!(r#"{{"completed":false,"task":{shown}}}"#),
    };
    Ok(filtered(&parameters, 200, body))
}
