//! `_bulk`: many changes, in one request, with a result for each.
//!
//! If an index is full, the request is [held](crate::api::held), and what found no room is tried again.
//! What was taken before stays as it is.

mod items;
mod lines;

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use spirit_opensearch::error::Refusal;

use super::answer::filtered;
use super::change::{self, Action, Change, Changed};
use super::making::{self, Written};
use super::parameters::Parameters;
use super::refused::{Answered, Refused};
use crate::api::body::{self, Received};
use crate::api::held::Outcome;
use crate::api::server::{Server, State};
use crate::problem::Cause;
use items::Item;
use lines::Read;

pub(super) async fn bulk(
    State(server): State<Server>,
    index: Option<Path<String>>,
    mut parameters: Parameters,
    headers: HeaderMap,
    body: Body,
) -> Answered<Response> {
    let started = Instant::now();
    parameters.no_pipeline()?;
    let parameters = parameters.end_of_write()?;
    let body = body::read(&server, &headers, body).await?;
    let name = index.map(|Path(index)| index);
    let bulk = Bulk {
        server: server.clone(),
        index: name.clone(),
        body,
        started,
        items: Mutex::default(),
    };
    let tried = server.write_held(name.as_deref(), move || bulk.write()).await?;
    let (answer, cause) = tried.answer?;
    let mut response = filtered(&parameters, 200, answer);
    if let Some(cause) = cause {
        response.extensions_mut().insert(cause);
    }
    Ok(response)
}

/// A request.
struct Bulk {
    server: Server,
    /// The index of its path.
    index: Option<String>,
    body: Received,
    started: Instant,
    /// What became of the changes in the tries before.
    items: Mutex<Vec<Option<Item>>>,
}

/// What came of a try.
struct Tried {
    /// The answer, and the reason for the log if the server failed.
    answer: Answered<(String, Option<Cause>)>,
    /// True if something was taken, and something may find room later.
    is_partial: bool,
}

impl Outcome for Tried {
    fn found_no_room(&self) -> bool {
        self.is_partial || self.answer.found_no_room()
    }

    fn refused_with(self, status: StatusCode) -> Tried {
        Tried { answer: self.answer.refused_with(status), ..self }
    }
}

impl Bulk {
    /// Makes what is left of the changes.
    fn write(&self) -> Tried {
        let read = match lines::read(self.index.as_deref(), &self.body) {
            Ok(read) => read,
            Err(refused) => return Tried { answer: Err(refused), is_partial: false },
        };
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        items.resize_with(read.len(), || None);
        let todo = left(&read, &items);
        write(&self.server, &read, todo, &mut items);
        let is_partial = !left(&read, &items).is_empty();
        let all: Vec<&Item> = items.iter().flatten().collect();
        if let Some(Item { result: Err(refusal), .. }) = all.first()
            && all.iter().all(|item| item.is_refused_by_full_index())
        {
            return Tried { answer: Err(refusal.clone().into()), is_partial: false };
        }
        let answer = items::answer(self.started, &read, &all);
        let answer = Ok((answer, items::cause(&all)));
        if is_partial {
            keep_ids(&read, &mut items);
        }
        Tried { answer, is_partial }
    }
}

/// Returns the places of changes that are left: those that a full index refused, if no change of the same
/// document behind them was made.
fn left(read: &[Read<'_>], items: &[Option<Item>]) -> Vec<usize> {
    let is_left = |item: &Option<Item>| item.as_ref().is_none_or(Item::is_refused_by_full_index);
    if !items.iter().any(is_left) {
        return Vec::new();
    }
    let (mut places, mut changed) = (Vec::new(), HashSet::new());
    for (place, (Read { index, change }, item)) in read.iter().zip(items).enumerate().rev() {
        let is_left = is_left(item);
        if !is_left && !change.is_new {
            changed.insert((index, &change.id));
        } else if is_left && !changed.contains(&(index, &change.id)) {
            places.push(place);
        }
    }
    places.reverse();
    places
}

/// Keeps ids that were made for documents that are in: the next try makes others.
fn keep_ids(read: &[Read<'_>], items: &mut [Option<Item>]) {
    for (Read { change, .. }, item) in read.iter().zip(items) {
        let item = item.as_mut().filter(|item| change.is_new && item.result.is_ok());
        if let Some(item) = item.filter(|item| item.id.is_none()) {
            item.id = Some(change.id.to_string());
        }
    }
}

/// Makes changes. All those of an index are made together.
fn write(server: &Server, read: &[Read<'_>], todo: Vec<usize>, items: &mut [Option<Item>]) {
    let mut left = todo;
    while let Some(first) = left.first() {
        let name = &read[*first].index;
        let (own, others) =
            left.iter().partition::<Vec<usize>, _>(|place| read[**place].index == *name);
        let changes: Vec<&Change<'_>> = own.iter().map(|place| &read[*place].change).collect();
        // Deletes make no index.
        let may_make = changes.iter().any(|change| change.action != Action::Delete);
        let written = making::written(server, name, may_make);
        let (index, results) = match written {
            Ok(written) => (written.served.name.as_str().into(), make(&written, &changes)),
            Err(Refused(refusal)) => (name.clone(), vec![Err(refusal); own.len()]),
        };
        for (place, result) in own.into_iter().zip(results) {
            let index = if result.is_ok() { &index } else { name };
            items[place] = Some(Item { index: index.clone(), id: None, result });
        }
        left = others;
    }
}

/// Makes the changes of an index.
fn make(written: &Written, changes: &[&Change<'_>]) -> Vec<Result<Changed, Refusal>> {
    let refused = changes.iter().map(|change| written.refusal(change));
    let refused: Vec<Option<Refusal>> = refused.collect();
    let taken = changes.iter().zip(&refused).filter(|(_, refused)| refused.is_none());
    let taken: Vec<&Change<'_>> = taken.map(|(change, _)| *change).collect();
    match change::make(&written.served, &taken) {
        Err(Refused(refusal)) => vec![Err(refusal); changes.len()],
        Ok(made) => {
            let mut made = made.into_iter();
            let lost = || Err(Refusal::new("engine_exception", 500, "no result"));
            let result = |refused: Option<Refusal>| match refused {
                Some(refusal) => Err(refusal),
                None => made.next().unwrap_or_else(lost),
            };
            refused.into_iter().map(result).collect()
        }
    }
}
