//! What queries find, in which order, with which scores and facets, in every form that segments have.

mod best;
mod cached;
mod deep_facets;
mod explain;
mod facets;
mod fielded;
mod frequencies;
mod highlight;
mod lengths;
mod many_fields;
mod matching;
mod numbers;
mod objects;
mod packed;
mod pool;
mod proximity;
mod queries;
mod ranges;
mod regressions;
mod runs;
mod searcher;
mod standing;
mod terms;
mod texts;
mod typed;

#[path = "../support/mod.rs"]
mod support;
