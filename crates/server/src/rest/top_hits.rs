//! The hits of buckets: each bucket that an answer shows has a search of its own.

use std::sync::Arc;

use spirit_opensearch::aggregations::HitsOfBucket;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::search::SearchBody;

use super::hits::{self, Found, Moment};
use super::page;
use super::refused::Answered;
use crate::api::server::Server;
use crate::guard::random;
use crate::problem::Problem;
use crate::served::Served;

/// Buckets of one answer that have hits, at most.
const BUCKETS_MAX: usize = 1000;
/// Random bytes of a mark. So no text of a document or a request is one.
const MARK_BYTES: usize = 15;

/// Returns a text that stands for hits until they are found.
pub(super) fn mark() -> Answered<String> {
    Ok(format!("{}:", random::<MARK_BYTES>().map_err(Problem::internal)?))
}

/// Finds the hits, and writes them into the answer where the mark is.
pub(super) async fn fill(
    server: &Server,
    served: &[Arc<Served>],
    asked: &SearchBody,
    moment: Moment,
    (answer, mark, wanted): (String, &str, Vec<HitsOfBucket>),
) -> Answered<String> {
    if wanted.iter().filter(|wanted| !wanted.is_empty).count() > BUCKETS_MAX {
        let what = format!("[top_hits] of more than {BUCKETS_MAX} buckets");
        return Err(Refusal::unsupported(what).into());
    }
    let searches: Arc<Vec<(SearchBody, bool)>> =
        Arc::new(wanted.iter().map(|wanted| (wanted.search(asked), wanted.is_empty)).collect());
    let mut found: Vec<Vec<Found>> = searches.iter().map(|_| Vec::new()).collect();
    for (place, served) in (0..).zip(served) {
        let (own, searches) = (served.clone(), searches.clone());
        let moment = Moment { place, ..moment };
        let all = server.ask(served.clone(), move |reader| {
            let one = |(search, is_empty): &(SearchBody, bool)| match is_empty {
                true => Ok(None),
                false => hits::find(&own, reader, search, moment).map(Some),
            };
            Ok(searches.iter().map(one).collect::<Answered<Vec<_>>>())
        });
        for (list, one) in found.iter_mut().zip(all.await??) {
            list.extend(one);
        }
    }
    let shown = searches.iter().zip(found);
    let shown: Vec<String> =
        shown.map(|((search, _), found)| page::hits_json(search, found)).collect();
    Ok(written(&answer, mark, &shown))
}

/// Writes hits where the mark and their number stand as a text.
fn written(answer: &str, mark: &str, shown: &[String]) -> String {
    let begin = format!("\"{mark}");
    let mut parts = answer.split(&begin);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once('"').unwrap_or((part, ""));
        let hits = number.parse().ok().and_then(|number: usize| shown.get(number));
        text.push_str(hits.map_or("null", String::as_str));
        text.push_str(rest);
    }
    text
}
