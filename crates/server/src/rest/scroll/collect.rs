//! All matches of an index, collected in order into a file.
//!
//! A search has a limited number of hits. Further ones are found behind a cursor, which leaves out what
//! was added since the first. Documents that were changed or deleted since are not found any more. So
//! matches are collected again if there are fewer than the first search counted.

use std::sync::Arc;

use spirit::search::Cursor;
use spirit::{Clause, Reader, Search};
use spirit_opensearch::query::Context;
use spirit_opensearch::search::{FieldValues, SearchBody, TrackTotalHits};

use super::spool::Kept;
use super::spool::{Budget, Spool};
use crate::api::server::Server;
use crate::rest::hit::{Hit, Wanted};
use crate::rest::marks::Marks;
use crate::rest::refused::{Answered, Refused};
use crate::rest::sliced;
use crate::rest::tried::{Tried, of_hit};
use crate::served::Served;

/// How often matches are collected if documents change meanwhile.
const TRIES: usize = 4;
/// How often a page is read whose hits went away before they were read.
const PAGE_TRIES: usize = 8;

/// Collects the matches of an index.
pub(super) async fn collect(
    server: &Server,
    budget: &Arc<Budget>,
    served: &Arc<Served>,
    asked: &Arc<SearchBody>,
    now: i64,
) -> Answered<Spool> {
    for _ in 1..TRIES {
        let (spool, is_whole) = collect_once(server, budget, served, asked, now).await?;
        if is_whole {
            return Ok(spool);
        }
    }
    Ok(collect_once(server, budget, served, asked, now).await?.0)
}

/// Collects matches. The flag is true if all that were there at the start are among them.
async fn collect_once(
    server: &Server,
    budget: &Arc<Budget>,
    served: &Arc<Served>,
    asked: &Arc<SearchBody>,
    now: i64,
) -> Answered<(Spool, bool)> {
    let spool = Spool::new(&server.settings().directory, budget.clone())?;
    let schema = served.index.schema();
    let context = Context { schema: &schema, now };
    let mut whole = SearchBody::clone(asked);
    (whole.size, whole.track_total_hits) = (Search::HITS_MAX, TrackTotalHits::Off);
    let (clause, order) = (whole.hits_clause(&context)?, whole.order(&schema)?);
    let mut pages = Pages {
        served: served.clone(),
        asked: asked.clone(),
        clause,
        order,
        spool,
        after: None,
        total: 0,
        read: 0,
        is_at_end: false,
    };
    // Terminates: each page is behind the one before, and leaves out what was added since the first.
    while !pages.is_at_end {
        let page = server.ask(served.clone(), move |reader| Ok(pages.next(reader)));
        pages = page.await??;
    }
    let is_whole = pages.read == pages.total;
    Ok((pages.spool, is_whole))
}

/// Matches while they are collected.
struct Pages {
    served: Arc<Served>,
    asked: Arc<SearchBody>,
    clause: Clause,
    order: Search,
    spool: Spool,
    after: Option<Cursor>,
    /// The matches that the first page counted.
    total: u64,
    /// The matches that were read, in this slice or another.
    read: u64,
    is_at_end: bool,
}

impl Pages {
    /// Collects the next page.
    fn next(mut self, reader: &mut Reader) -> Answered<Pages> {
        for _ in 0..PAGE_TRIES {
            self.spool.forget();
            match self.try_next(reader) {
                Ok(()) => {
                    self.spool.flush()?;
                    return Ok(self);
                }
                Err(Tried::Refused(refused)) => return Err(refused),
                Err(Tried::Again) => {}
            }
        }
        let reason = "the matches were overtaken by newer documents; ask again";
        Err(Refused(spirit_opensearch::error::Refusal::rejected(reason)))
    }

    fn try_next(&mut self, reader: &mut Reader) -> Result<(), Tried> {
        let search = match self.after.clone() {
            Some(cursor) => self.order.clone().after(cursor),
            None => self.order.clone().total(u64::MAX),
        };
        let (schema, body) = (self.served.index.schema(), &*self.asked);
        let (fields, marks) =
            (FieldValues::new(body, &schema)?, Marks::new(reader, body, &self.clause, &schema)?);
        let mut wanted = Wanted { index: self.served.name.as_str(), place: 0, body, fields, marks };
        let found = reader.search(&self.clause, search)?;
        for hit in found.iter() {
            if let Some(slice) = &self.asked.slice
                && !sliced::has(slice, &hit).map_err(of_hit)?
            {
                continue;
            }
            let hit = Hit::read(&hit, &mut wanted).map_err(of_hit)?;
            self.spool.push(&Kept { json: hit.json(), rank: hit.rank })?;
        }
        let cursor = found.cursor().map_err(of_hit)?;
        if self.after.is_none() {
            self.total = found.total().map_or(0, |total| total.count());
        }
        self.read += found.len() as u64;
        self.is_at_end = found.len() < Search::HITS_MAX;
        self.after = cursor;
        Ok(())
    }
}
