//! `top_hits`: the best hits of each bucket.
//!
//! The engine's facets have no documents. So a search of its own finds the hits of each bucket that the
//! answer shows. Until then, the answer has a text in their place.

use super::bucket_query::{of_bucket, within_one};
use super::{Aggregations, Asked, Named, mismatch};
use crate::error::Refusal;
use crate::json::Json;
use crate::search::SearchBody;

type Members = Vec<(String, Json)>;

/// Hits of one bucket, unless it is asked for more.
const SIZE: usize = 3;
/// Hits of one bucket and those before them, at most.
const WINDOW_MAX: usize = 100;
/// Members of a search that it may have.
const MEMBERS: [&str; 13] = [
    "_source",
    "docvalue_fields",
    "explain",
    "fields",
    "from",
    "highlight",
    "script_fields",
    "seq_no_primary_term",
    "size",
    "sort",
    "stored_fields",
    "track_scores",
    "version",
];

/// What is asked of the hits of a bucket.
#[derive(Clone, Debug)]
pub(super) struct TopHits(Box<SearchBody>);

/// Hits that an answer needs: those of one bucket.
#[derive(Clone, Debug)]
pub struct HitsOfBucket {
    /// Queries that its documents match, beside that of the search.
    filters: Vec<Json>,
    body: SearchBody,
    /// True if the bucket has no documents.
    pub is_empty: bool,
}

impl HitsOfBucket {
    /// Returns the search for them, within another one.
    pub fn search(&self, of: &SearchBody) -> SearchBody {
        of.narrowed_to(&self.body, all(&self.filters))
    }
}

/// Returns the query of documents that match all of some queries.
pub(super) fn all(queries: &[Json]) -> Json {
    let filter = vec![("filter".to_owned(), Json::Array(queries.to_vec()))];
    Json::Object(vec![("bool".to_owned(), Json::Object(filter))])
}

pub(super) fn read(name: &str, body: &Json) -> Result<TopHits, Refusal> {
    let Json::Object(members) = body else {
        let what = "Expected [START_OBJECT] under [top_hits], but got a";
        return Err(Refusal::parsing(format!("{what} [{}] in [{name}]", body.token())));
    };
    let mut asked = SearchBody::of_size(SIZE);
    for (member, value) in members {
        if !MEMBERS.contains(&&**member) {
            let token = value.token();
            return Err(Refusal::parsing(format!("Unknown key for a {token} in [{member}].")));
        }
        asked.member(member, value)?;
    }
    let window = asked.from.saturating_add(asked.size);
    if window > WINDOW_MAX {
        return Err(Refusal::illegal_argument(format!(
            "Top hits result window is too large, the top hits aggregator [{name}]'s from + size must \
             be less than or equal to: [{WINDOW_MAX}] but was [{window}]. This limit can be set by \
             changing the [index.max_inner_result_window] index level setting."
        )));
    }
    if window == 0 {
        return Err(Refusal::illegal_argument(
            "numHits must be > 0; please use TotalHitCountCollectorManager if you just need the total \
             hit count",
        ));
    }
    Ok(TopHits(Box::new(asked)))
}

/// Returns what stands in an answer for hits until they are found.
pub(super) fn place() -> Members {
    vec![("hits".to_owned(), Json::Null)]
}

/// True if hits of buckets are asked for.
pub(super) fn is_in(all: &Aggregations) -> bool {
    let is_it = |named: &Named| matches!(named.asked, Asked::TopHits(_)) || is_in(&named.within);
    all.0.iter().any(is_it)
}

/// Goes through an answer, and writes a text in the place of each bucket's hits: the mark with the
/// place of the bucket in the list.
pub(super) struct Places<'m> {
    pub(super) mark: &'m str,
    pub(super) typed: bool,
    pub(super) found: Vec<HitsOfBucket>,
}

impl Places<'_> {
    pub(super) fn fill(
        &mut self,
        all: &Aggregations,
        answers: &mut Members,
        filters: &[Json],
        is_empty: bool,
    ) -> Result<(), Refusal> {
        for named in &all.0 {
            let is_hits = matches!(named.asked, Asked::TopHits(_));
            if !is_hits && !is_in(&named.within) {
                continue;
            }
            let name = named.shown_name(self.typed);
            let answer = answers.iter_mut().find(|(own, _)| *own == name);
            let Some((_, Json::Object(answer))) = answer else { return Err(mismatch()) };
            match &named.asked {
                Asked::TopHits(asked) => self.put(asked, answer, filters, is_empty),
                Asked::Filter { .. } => {
                    let filters = [filters, &[within_one(&named.asked)?]].concat();
                    self.fill(&named.within, answer, &filters, is_empty || has_none(answer))?;
                }
                _ => self.in_buckets(named, answer, filters)?,
            }
        }
        Ok(())
    }

    fn put(&mut self, asked: &TopHits, answer: &mut Members, filters: &[Json], is_empty: bool) {
        let text = format!("{}{}", self.mark, self.found.len());
        for (_, value) in answer.iter_mut().filter(|(name, _)| name == "hits") {
            *value = Json::String(text.clone());
        }
        let body = SearchBody::clone(&asked.0);
        self.found.push(HitsOfBucket { filters: filters.to_vec(), body, is_empty });
    }

    fn in_buckets(
        &mut self,
        named: &Named,
        answer: &mut Members,
        filters: &[Json],
    ) -> Result<(), Refusal> {
        let buckets = answer.iter_mut().find(|(name, _)| name == "buckets");
        let list: Vec<(Option<&str>, &mut Json)> = match buckets.ok_or_else(mismatch)? {
            (_, Json::Array(list)) => list.iter_mut().map(|bucket| (None, bucket)).collect(),
            (_, Json::Object(list)) => {
                list.iter_mut().map(|(name, bucket)| (Some(&**name), bucket)).collect()
            }
            _ => return Err(mismatch()),
        };
        for (place, (name, bucket)) in list.into_iter().enumerate() {
            let Json::Object(bucket) = bucket else { return Err(mismatch()) };
            let own = of_bucket(named, (place, name), bucket)?;
            let filters = [filters, &[own]].concat();
            let is_empty = has_none(bucket);
            self.fill(&named.within, bucket, &filters, is_empty)?;
        }
        Ok(())
    }
}

/// True if a bucket has no documents.
fn has_none(bucket: &Members) -> bool {
    bucket.iter().any(|(name, count)| name == "doc_count" && *count == Json::Number(0.into()))
}
