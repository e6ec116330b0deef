//! Searches of one index that are tried: the pages they have, and why one has to be asked again.

use spirit::search::Cursor;
use spirit::{Clause, Search};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::query::Context;
use spirit_opensearch::search::{Place, SearchBody, WINDOW_MAX};

use super::refused::Refused;

/// Why a search has no answer.
pub(super) enum Tried {
    Again,
    Refused(Refused),
}

impl<E: Into<Refused>> From<E> for Tried {
    fn from(error: E) -> Tried {
        Tried::Refused(error.into())
    }
}

/// Hits that went away are read again from the beginning.
pub(super) fn of_hit(error: spirit::HitError) -> Tried {
    match error {
        spirit::HitError::Lease { .. } => Tried::Again,
        error => Tried::Refused(error.into()),
    }
}

/// Returns the searches whose hits, one after the other, are the page and those before it. Behind a
/// document, older ones of its index with the same keys come first, then those of indexes behind it.
pub(super) fn pages(
    body: &SearchBody,
    context: &Context<'_>,
    place: u64,
) -> Result<Vec<(Clause, Search)>, Refusal> {
    let mut pages = Vec::new();
    let window = body.from + body.size;
    if let (Some(ties), Some(after)) = (body.ties_clause(context)?, body.after_document())
        && after.index <= place
    {
        let k = if body.min_score.is_some() { WINDOW_MAX } else { window };
        let newest = Search::newest(k);
        let rest = if after.index < place { newest } else { newest.after(cursor(after)?) };
        pages.push((ties, rest));
    }
    pages.push((body.page_clause(context)?, body.order(context.schema)?));
    Ok(pages)
}

fn cursor(after: Place) -> Result<Cursor, Refusal> {
    let cursor = after.sequence.to_string().parse();
    cursor.map_err(|_| {
        Refusal::illegal_argument(format!("[{}] is no value of [_doc]", after.number()))
    })
}
