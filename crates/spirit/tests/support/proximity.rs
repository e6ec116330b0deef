//! The best matches where places and closeness of words count, held to the naive index.

use std::collections::HashMap;

use spirit::lab::{Algorithm, Counts, Parameters};
use spirit::{Clause, FieldKind, Index, Query, Reader, Search, SearchError};
use spirit_oracle::{Collection, Oracle, terms_of};

use crate::support::steps::fields_of;

/// Keys and scores of hits.
type Found = Vec<(String, f32)>;

/// The best matches have the scores that the oracle gives them, whatever is passed over, page by page; and each is explained.
pub(crate) fn check_proximity(index: &Index, oracle: &Oracle, query: &Query, asked: &Clause) {
    let mut reader = index.reader().unwrap();
    let search = |k| Search::best(k).proximity();
    if !index.settings().positions {
        let refused = reader.search(query, search(1)).map(drop);
        assert_eq!(refused.unwrap_err(), SearchError::NoPositions);
        return;
    }
    let (all, counts) = best(&mut reader, query, search(Search::HITS_MAX).exhaustive());
    for k in [1, 10, Search::HITS_MAX] {
        for search in [search(k), search(k).windows(), search(k).algorithm(Some(Algorithm::Finger))]
        {
            let found = best(&mut reader, query, search.clone()).0;
            assert_eq!(found, all[..k.min(all.len())], "the best {k} of {asked} by {search:?}");
        }
    }
    let (mut paged, mut next) = (Found::new(), search(7));
    loop {
        let hits = reader.search(query, next).unwrap();
        let scores = hits.iter().filter_map(|hit| hit.score());
        paged.extend(hits.keys().unwrap().into_iter().zip(scores));
        let Some(cursor) = hits.cursor().unwrap().filter(|_| hits.len() == 7) else { break };
        next = search(7).after(cursor);
    }
    assert_eq!(paged, all, "pages of {asked}");
    for (key, score) in all.iter().step_by(all.len().div_ceil(8).max(1)) {
        let explained = reader.explain(query, &search(1), key).unwrap().unwrap();
        assert_eq!(explained.score().to_bits(), score.to_bits(), "{key} by {asked}:\n{explained}");
    }
    check_scores(index, oracle, asked, &all, &counts);
}

fn best(reader: &mut Reader, query: &Query, search: Search) -> (Found, Counts) {
    let hits = reader.search(query, search).unwrap();
    let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.score()).collect();
    (hits.keys().unwrap().into_iter().zip(scores).collect(), hits.counts().unwrap().clone())
}

/// What scores are made of, as an index counted it.
pub(crate) fn collection(index: &Index, asked: &Clause, counts: &Counts) -> Collection {
    let schema = index.schema();
    let has_terms = |field: &str| {
        let kind = schema.by_name(field).map(|field| field.kind);
        kind.is_some_and(|kind| kind.is_text() || kind == FieldKind::Keyword)
    };
    Collection {
        fields: fields_of(&schema, counts),
        with_term: terms_of(asked, &has_terms).into_iter().zip(counts.with_term.clone()).collect(),
        parameters: Parameters::default(),
        frequency_max: usize::MAX,
    }
}

fn check_scores(index: &Index, oracle: &Oracle, asked: &Clause, all: &Found, counts: &Counts) {
    let collection = collection(index, asked, counts);
    let found: HashMap<&str, f32> = all.iter().map(|(key, score)| (key.as_str(), *score)).collect();
    for document in oracle.matches(asked) {
        let expected = collection.score_by_proximity(asked, document, &["title"]);
        let (Some(expected), Some(score)) = (expected, found.get(document.key.as_str())) else {
            continue;
        };
        let near = (f64::from(*score) - expected).abs() <= 1e-4 * expected.max(1e-3);
        assert!(near, "{} scores {score}, not {expected}, by {asked}", document.key);
    }
    let matches = oracle.matches(asked).count();
    assert_eq!(all.len(), matches.min(Search::HITS_MAX), "how many of the best of {asked}");
}
