//! Tasks: work on all documents of a query, while it is under way and after its end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::Extension;
use axum::extract::Path;
use axum::response::Response;
use serde_json::{Value, json};
use spirit_opensearch::error::Refusal;

use super::answer::filtered;
use super::parameters::Parameters;
use super::refused::Answered;
use super::search::now_ms;
use crate::pattern::matches;

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
    /// True if somebody asked to end it before its end.
    pub(super) is_cancelled: bool,
}

impl Progress {
    /// Returns its members. Work that updates nothing does not say so.
    pub(super) fn members(&self, with_updated: bool) -> String {
        let Progress { total, updated, deleted, batches, conflicts, is_cancelled } = self;
        let cancelled = if *is_cancelled { r#""canceled":"by user request","# } else { "" };
        let updated = if with_updated { format!(r#""updated":{updated},"#) } else { String::new() };
        format!(
            concat!(
                r#""total":{},{}"deleted":{},"batches":{},"version_conflicts":{},"noops":0,"#,
                r#""retries":{{"bulk":0,"search":0}},"throttled_millis":0,"requests_per_second":-1.0,{}"#,
                r#""throttled_until_millis":0"#
            ),
            total, updated, deleted, batches, conflicts, cancelled
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
    /// When it was cancelled, in milliseconds since 1970.
    cancelled_ms: Option<i64>,
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

    /// True if it is to end.
    pub(super) fn is_cancelled(&self) -> bool {
        self.state().cancelled_ms.is_some()
    }

    /// Asks it to end. False if it has ended already.
    fn cancel(&self) -> bool {
        let mut state = self.state();
        if state.end.is_none() {
            state.cancelled_ms.get_or_insert_with(now_ms);
        }
        state.end.is_none()
    }

    /// Returns what is known of it, without the answer.
    fn json(&self, id: u64) -> String {
        let state = self.state();
        let cancelled = match state.cancelled_ms {
            Some(ms) => format!(r#"true,"headers":{{}},"cancellation_time_millis":{ms}"#),
            None => r#"false,"headers":{}"#.to_owned(),
        };
        let nanos = state.end.as_ref().map_or(self.started.elapsed().as_nanos(), |end| end.0);
        format!(
            concat!(
                r#"{{"node":"{}","id":{},"type":"transport","action":"{}","status":{{{}}},"description":{},"#,
                r#""start_time_in_millis":{},"running_time_in_nanos":{},"cancellable":true,"cancelled":{}}}"#
            ),
            NODE,
            id,
            self.action,
            state.progress.members(true),
            serde_json::to_string(&self.description).unwrap_or_default(),
            self.started_ms,
            nanos,
            cancelled
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
    let known = tasks.known();
    let running = known.tasks.iter().filter(|(_, task)| task.is_running());
    let body = format!(r#"{{"nodes":{{{}}}}}"#, of_node(running));
    drop(known);
    Ok(filtered(&parameters, 200, body))
}

/// Returns the member of the node with some of its tasks.
fn of_node<'t>(tasks: impl Iterator<Item = (&'t u64, &'t Arc<Task>)>) -> String {
    let tasks = tasks.map(|(number, task)| format!(r#""{NODE}:{number}":{}"#, task.json(*number)));
    let tasks: Vec<String> = tasks.collect();
    format!(
        r#""{NODE}":{{"name":"{NODE}","roles":["data","ingest"],"tasks":{{{}}}}}"#,
        tasks.join(",")
    )
}

/// Reads the id of a task: its node and its number.
fn parsed(id: &str) -> Result<(&str, u64), Refusal> {
    let parts = id.split_once(':').and_then(|(node, number)| Some((node, number.parse().ok()?)));
    parts.ok_or_else(|| Refusal::illegal_argument(format!("malformed task id {id}")))
}

/// Asks tasks to end that have certain actions.
pub(super) async fn cancel_all(
    Extension(tasks): Extension<Arc<Tasks>>,
    mut parameters: Parameters,
) -> Answered<Response> {
    let list = |text: Option<String>| -> Vec<String> {
        text.iter().flat_map(|text| text.split(',')).map(str::to_owned).collect()
    };
    let [actions, nodes] = ["actions", "nodes"].map(|name| list(parameters.take(name)));
    not_waiting(&mut parameters)?;
    let parameters = parameters.end_of_indexes()?;
    let is_of = |list: &[String], name: &str| {
        list.is_empty() || list.iter().any(|pattern| matches(pattern, name))
    };
    let mut known = tasks.known().tasks.clone();
    known.retain(|_, task| is_of(&nodes, NODE) && is_of(&actions, task.action) && task.cancel());
    let node = if known.is_empty() { String::new() } else { of_node(known.iter()) };
    Ok(filtered(&parameters, 200, format!(r#"{{"nodes":{{{node}}}}}"#)))
}

/// Asks a task to end.
pub(super) async fn cancel(
    Extension(tasks): Extension<Arc<Tasks>>,
    Path(id): Path<String>,
    mut parameters: Parameters,
) -> Answered<Response> {
    not_waiting(&mut parameters)?;
    let parameters = parameters.end_of_indexes()?;
    let (node, number) = parsed(&id)?;
    let task = tasks.known().tasks.get(&number).filter(|_| node == NODE).cloned();
    let body = match task.filter(|task| task.cancel()) {
        Some(task) => format!(r#"{{"nodes":{{{}}}}}"#, of_node([(&number, &task)].into_iter())),
        None => json!({
            "node_failures": [{
                "type": "failed_node_exception", "reason": format!("Failed node [{node}]"),
                "node_id": node, "caused_by": not_found(node, &id)
            }],
            "nodes": {}
        })
        .to_string(),
    };
    Ok(filtered(&parameters, 200, body))
}

/// Returns the reason why a task was not cancelled.
fn not_found(node: &str, id: &str) -> Value {
    match node == NODE {
        true => json!({
            "type": "resource_not_found_exception", "reason": format!("task [{id}] is not found")
        }),
        false => json!({
            "type": "no_such_node_exception", "reason": format!("No such node [{node}]"),
            "node_id": node
        }),
    }
}

fn not_waiting(parameters: &mut Parameters) -> Answered<()> {
    match parameters.flag("wait_for_completion")? {
        true => Err(Refusal::unsupported("[wait_for_completion] of a task").into()),
        false => Ok(()),
    }
}

/// A task by its id.
pub(super) async fn show(
    Extension(tasks): Extension<Arc<Tasks>>,
    Path(id): Path<String>,
    mut parameters: Parameters,
) -> Answered<Response> {
    not_waiting(&mut parameters)?;
    let parameters = parameters.end_of_indexes()?;
    let (node, number) = parsed(&id)?;
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
