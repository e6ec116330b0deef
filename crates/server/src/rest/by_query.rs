//! `_delete_by_query` and `_update_by_query`: a change of each document that matches at the start.
//!
//! Matches are found newest first, page by page, and each is changed only in the state in which it was
//! found. A state that an update makes is newer than all pages, so it is not found again. A match that
//! another writer changed before its page was read is a conflict too.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::body::Body;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use spirit::search::Cursor;
use spirit::{HitError, Reader, Search};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;
use spirit_opensearch::query::Context;
use spirit_opensearch::search::SearchBody;

use super::answer::filtered;
use super::change::{self, Action, Change};
use super::names;
use super::parameters::Parameters;
use super::refused::{Answered, Refused};
use super::search::now_ms;
use super::state;
use super::tasks::{NODE, Progress, Task, Tasks};
use crate::api::body;
use crate::api::server::{Server, State};
use crate::served::Served;

/// Documents that are changed together unless the request says otherwise.
const BATCH: usize = 1000;
/// How often a page is read whose hits went away before they were read.
const PAGE_TRIES: usize = 8;
/// Failures that an answer names.
const FAILURES_MAX: usize = 1000;
/// The kind of a refusal of a document that has another state.
const CONFLICT: &str = "version_conflict_engine_exception";
/// Parameters that are a query.
const QUERY: [&str; 6] = ["q", "df", "default_operator", "analyzer", "analyze_wildcard", "lenient"];
/// Parameters that change nothing here. All matches are one slice.
const ACCEPTED: [&str; 9] = [
    "slices",
    "scroll",
    "search_timeout",
    "search_type",
    "request_cache",
    "allow_no_indices",
    "expand_wildcards",
    "preference",
    "version",
];

/// What a request asks for.
struct Asked {
    action: Action,
    query: SearchBody,
    max: u64,
    batch: usize,
    /// True if conflicts are counted and do not end the work.
    proceeds: bool,
    waits: bool,
}

impl Asked {
    fn read(action: Action, parameters: &mut Parameters, body: &[u8]) -> Answered<Asked> {
        let mut query = SearchBody::default();
        let mut max = parameters.number("max_docs")?;
        let mut conflicts = parameters.take("conflicts");
        let mut has_query = false;
        if !body.trim_ascii().is_empty() {
            let Json::Object(members) = Json::parse(body)? else {
                return Err(Refusal::parsing("Expected an object").into());
            };
            for (name, value) in members {
                match (&*name, value) {
                    ("query", value) => {
                        has_query = true;
                        query.read(&Json::Object(vec![(name, value)]))?;
                    }
                    ("max_docs", Json::Number(number)) => {
                        let own = number.as_u64();
                        if let (Some(url), Some(own)) = (max, own)
                            && url != own
                        {
                            return Err(Refusal::illegal_argument(format!(
                                "[max_docs] set to two different values [{own}] and [{url}]"
                            ))
                            .into());
                        }
                        max = own;
                    }
                    ("conflicts", Json::String(text)) => conflicts = Some(text),
                    ("script", _) => {
                        let reason = "scripts are not supported: send documents with _bulk";
                        return Err(Refusal::illegal_argument(reason).into());
                    }
                    (other, _) => {
                        let what = format!("[{other}] of {}", name_of(action));
                        return Err(Refusal::unsupported(what).into());
                    }
                }
            }
        }
        for name in QUERY {
            if let Some(value) = parameters.take(name) {
                has_query |= name == "q";
                query.parameter(name, &value)?;
            }
        }
        if !has_query && action == Action::Delete {
            return Err(invalid("query is missing"));
        }
        let batch = parameters.number("scroll_size")?.map_or(BATCH, |size| size as usize);
        if batch == 0 {
            return Err(invalid("[size] cannot be [0] in a scroll context"));
        }
        let proceeds = match conflicts.as_deref() {
            None | Some("abort") => false,
            Some("proceed") => true,
            Some(other) => {
                return Err(Refusal::illegal_argument(format!(
                    "conflicts may only be \"proceed\" or \"abort\" but was [{other}]"
                ))
                .into());
            }
        };
        if max == Some(0) {
            return Err(Refusal::illegal_argument("[max_docs] should be >= [slices]").into());
        }
        let speed = parameters.take("requests_per_second");
        if let Some(speed) = speed.filter(|speed| speed.parse() != Ok(-1.0)) {
            let what = format!("[requests_per_second: {speed}]");
            return Err(Refusal::unsupported(what).into());
        }
        let waits = match parameters.take("wait_for_completion").as_deref() {
            None | Some("true" | "") => true,
            Some("false") => false,
            Some(other) => {
                return Err(Refusal::illegal_argument(format!(
                    "Failed to parse value [{other}] as only [true] or [false] are allowed."
                ))
                .into());
            }
        };
        let max = max.unwrap_or(u64::MAX);
        Ok(Asked { action, query, max, batch: batch.min(Search::HITS_MAX), proceeds, waits })
    }
}

fn name_of(action: Action) -> &'static str {
    if action == Action::Delete { "_delete_by_query" } else { "_update_by_query" }
}

fn invalid(what: &str) -> Refused {
    let reason = format!("Validation Failed: 1: {what};");
    Refused(Refusal::new("action_request_validation_exception", 400, reason))
}

pub(super) async fn delete(
    State(server): State<Server>,
    Extension(tasks): Extension<Arc<Tasks>>,
    Path(index): Path<String>,
    parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    answer(server, tasks, &index, Action::Delete, parameters, &headers, body).await
}

pub(super) async fn update(
    State(server): State<Server>,
    Extension(tasks): Extension<Arc<Tasks>>,
    Path(index): Path<String>,
    parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    answer(server, tasks, &index, Action::Index, parameters, &headers, body).await
}

async fn answer(
    server: Server,
    tasks: Arc<Tasks>,
    index: &str,
    action: Action,
    mut parameters: Parameters,
    headers: &HeaderMap,
    body: Body,
) -> Answered<Response> {
    let may_be_missing = parameters.flag("ignore_unavailable")?;
    parameters.no_pipeline()?;
    let body = body::read(&server, headers, body).await?;
    let asked = Asked::read(action, &mut parameters, &body)?;
    for name in ACCEPTED {
        parameters.take(name);
    }
    let parameters = parameters.end_of_write()?;
    let served = names::resolve(&server, index, may_be_missing)?;
    // A query that cannot be asked is refused before a task begins.
    let now = now_ms();
    for served in &served {
        asked.query.clause(&Context { schema: &served.index.schema(), now })?;
    }
    let (what, kind) = match action {
        Action::Delete => ("delete-by-query", "indices:data/write/delete/byquery"),
        _ => ("update-by-query", "indices:data/write/update/byquery"),
    };
    let task = Arc::new(Task::new(kind, format!("{what} [{index}]")));
    let waits = asked.waits;
    let number = tasks.add(task.clone());
    let work = Work {
        server,
        asked: Arc::new(asked),
        task,
        now,
        progress: Progress::default(),
        failures: Vec::new(),
        failed: 200,
    };
    // It goes on though its client hangs up.
    let work = tokio::spawn(work.run(served));
    if !waits {
        return Ok(filtered(&parameters, 200, format!(r#"{{"task":"{NODE}:{number}"}}"#)));
    }
    let died = |_| Refusal::new("engine_exception", 500, "the thread met a bug");
    let (status, body) = work.await.map_err(died)??;
    Ok(filtered(&parameters, status, body))
}

/// Work under way.
struct Work {
    server: Server,
    asked: Arc<Asked>,
    task: Arc<Task>,
    now: i64,
    progress: Progress,
    failures: Vec<String>,
    /// The status of the answer.
    failed: u16,
}

/// Matches: ids and sequence numbers, newest first.
struct Page {
    matches: Vec<(String, u64)>,
    total: u64,
    cursor: Option<Cursor>,
}

impl Work {
    async fn run(mut self, served: Vec<Arc<Served>>) -> Answered<(u16, String)> {
        let started = Instant::now();
        let mut result = Ok(());
        for served in served {
            result = self.change_all(&served).await;
            if result.is_err() || self.failed != 200 || self.progress.is_cancelled {
                break;
            }
        }
        if let Err(Refused(refusal)) = result {
            self.task.end(format!(r#""error":{}"#, refusal.error_json()));
            return Err(refusal.into());
        }
        let body = format!(
            r#"{{"took":{},"timed_out":false,{},"failures":[{}]}}"#,
            started.elapsed().as_millis(),
            self.progress.members(self.asked.action != Action::Delete),
            self.failures.join(",")
        );
        self.task.end(format!(r#""response":{body}"#));
        Ok((self.failed, body))
    }

    /// Changes all matches of an index.
    async fn change_all(&mut self, served: &Arc<Served>) -> Answered<()> {
        let room = self.asked.max - self.progress.total;
        let (mut after, mut expected, mut seen) = (None, None, 0);
        // Terminates: each page is older than the one before.
        loop {
            let page = self.page(served, after).await?;
            let total = *expected.get_or_insert(page.total.min(room));
            if seen == 0 {
                self.progress.total += total;
            }
            let is_last = page.matches.len() < Search::HITS_MAX;
            let left = (total - seen).min(page.matches.len() as u64) as usize;
            for batch in page.matches[..left].chunks(self.asked.batch) {
                if self.task.is_cancelled() {
                    self.progress.is_cancelled = true;
                    self.task.is_at(&self.progress);
                    return Ok(());
                }
                self.change(served, batch.to_vec()).await?;
                self.task.is_at(&self.progress);
                if self.failed != 200 {
                    return Ok(());
                }
            }
            seen += left as u64;
            if is_last || seen == total {
                self.miss(total - seen);
                return Ok(());
            }
            after = page.cursor;
        }
    }

    /// Counts matches that were changed before their page was read.
    fn miss(&mut self, missed: u64) {
        self.progress.conflicts += missed;
        if missed > 0 && !self.asked.proceeds {
            self.failed = 409;
        }
    }

    async fn page(&self, served: &Arc<Served>, after: Option<Cursor>) -> Answered<Page> {
        let (own, asked, now) = (served.clone(), self.asked.clone(), self.now);
        let page = self.server.ask(served.clone(), move |reader| {
            for _ in 1..PAGE_TRIES {
                match page(&own, reader, &asked.query, now, after.as_ref()) {
                    Err(Unread::Again) => {}
                    page => return Ok(page),
                }
            }
            Ok(page(&own, reader, &asked.query, now, after.as_ref()))
        });
        page.await?.map_err(|unread| match unread {
            Unread::Refused(refused) => refused,
            Unread::Again => {
                Refusal::rejected("documents are changed all the time; ask again").into()
            }
        })
    }

    /// Changes some matches.
    async fn change(&mut self, served: &Arc<Served>, batch: Vec<(String, u64)>) -> Answered<()> {
        let (own, action) = (served.clone(), self.asked.action);
        let changed = self.server.write(move || {
            let results = change_now(&own, action, &batch);
            Ok(results.map(|results| (batch, results)))
        });
        let (batch, results) = changed.await??;
        self.progress.batches += 1;
        for ((id, _), result) in batch.iter().zip(results) {
            let Err(refusal) = result else {
                match action {
                    Action::Delete => self.progress.deleted += 1,
                    _ => self.progress.updated += 1,
                }
                continue;
            };
            let is_conflict = refusal.kind == CONFLICT;
            self.progress.conflicts += u64::from(is_conflict);
            if is_conflict && self.asked.proceeds {
                continue;
            }
            self.failed = self.failed.max(refusal.status);
            if self.failures.len() < FAILURES_MAX {
                self.failures.push(format!(
                    r#"{{"index":"{}","id":{},"cause":{},"status":{}}}"#,
                    served.name,
                    serde_json::to_string(id).unwrap_or_default(),
                    refusal.error_json(),
                    refusal.status
                ));
            }
        }
        Ok(())
    }
}

/// Changes documents that have these states.
fn change_now(
    served: &Served,
    action: Action,
    batch: &[(String, u64)],
) -> Answered<Vec<Result<change::Changed, Refusal>>> {
    let mut sources = Vec::new();
    for (id, _) in batch {
        // An update writes the same document again. If its state is another, the change is refused.
        let state = match action {
            Action::Delete => None,
            _ => state::read(&served.index, id).map_err(|error| change::unread(&error))?,
        };
        sources.push(state.map_or(String::new(), |state| state.source));
    }
    let changes: Vec<Change<'_>> = batch
        .iter()
        .zip(&sources)
        .map(|((id, sequence), source)| Change {
            action,
            id: Cow::Borrowed(&**id),
            is_new: false,
            body: source,
            expected: Some(*sequence),
        })
        .collect();
    change::make(served, &changes.iter().collect::<Vec<_>>())
}

enum Unread {
    Again,
    Refused(Refused),
}

impl<E: Into<Refused>> From<E> for Unread {
    fn from(error: E) -> Unread {
        Unread::Refused(error.into())
    }
}

fn page(
    served: &Served,
    reader: &mut Reader,
    query: &SearchBody,
    now: i64,
    after: Option<&Cursor>,
) -> Result<Page, Unread> {
    let tried = |error: HitError| match error {
        HitError::Lease { .. } => Unread::Again,
        error => Unread::Refused(error.into()),
    };
    let clause = query.clause(&Context { schema: &served.index.schema(), now })?;
    let search = Search::newest(Search::HITS_MAX);
    let search = match after {
        Some(cursor) => search.after(cursor.clone()),
        None => search.total(u64::MAX),
    };
    let found = reader.search(&clause, search)?;
    let mut matches = Vec::new();
    for hit in found.iter() {
        matches.push((hit.key().map_err(tried)?, hit.sequence().map_err(tried)?));
    }
    let total = found.total().map_or(0, |total| total.count());
    Ok(Page { matches, total, cursor: found.cursor().map_err(tried)? })
}
