//! A question: what is asked besides the text of the query.

use std::str::FromStr;

use spirit::Search;
use spirit::lab::{Algorithm, Parameters};
use spirit::search::{Cursor, Highlight};

use crate::facets;
use crate::order::{Fade, Order};

/// How many matches are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Exactly up to this many.
    UpTo(u64),
    /// None but those shown.
    No,
}

impl FromStr for Counting {
    type Err = &'static str;

    /// Reads `yes`, `no` or a number.
    fn from_str(text: &str) -> Result<Counting, &'static str> {
        match text {
            "yes" => Ok(Counting::UpTo(u64::MAX)),
            "no" => Ok(Counting::No),
            number => number.parse().map(Counting::UpTo).map_err(|_| "choose yes, no or a number"),
        }
    }
}

/// What is asked of an index, besides the text of the query.
#[derive(Clone, Debug)]
pub struct Question {
    /// Invalid parts of the query are ignored, or taken as words.
    pub lenient: bool,
    /// The order of documents.
    pub order: Order,
    /// The parameters of BM25, for the order by relevance.
    pub parameters: Parameters,
    /// How scores fade with age, for the order by relevance.
    pub recency: Option<Fade>,
    /// The number of documents, at most.
    pub k: usize,
    /// The end of the page before.
    pub after: Option<Cursor>,
    /// How many matches are counted.
    pub counting: Counting,
    /// The fields of each document that the answer has; all if none is named.
    pub fields: Vec<String>,
    /// How texts are highlighted, if they are.
    pub highlight: Option<Highlight>,
    /// The field that is highlighted instead of the text.
    pub highlight_field: Option<String>,
    /// The facets of all matches.
    pub facets: Vec<facets::Asked>,
    /// The answer has the plan, and the reasons for scores.
    pub explain: bool,
    /// The algorithm for AND, if it is forced.
    pub algorithm: Option<Algorithm>,
    /// Windows of documents evaluate the query, whatever its shape.
    pub windows: bool,
    /// Every match is scored, for the order by relevance.
    pub exhaustive: bool,
}

impl Default for Question {
    /// Asks for the ten newest documents, and counts all matches.
    fn default() -> Question {
        Question {
            lenient: false,
            order: Order::Newest,
            parameters: Parameters::default(),
            recency: None,
            k: 10,
            after: None,
            counting: Counting::UpTo(u64::MAX),
            fields: Vec::new(),
            highlight: None,
            highlight_field: None,
            facets: Vec::new(),
            explain: false,
            algorithm: None,
            windows: false,
            exhaustive: false,
        }
    }
}

impl Question {
    /// Returns the request to the engine.
    pub fn search(&self) -> Search {
        // Asked for none, one is looked for all the same: the shortest page that the engine has.
        let mut search = self.order.first(self.k.max(1), self.parameters);
        if let Some(cursor) = &self.after {
            search = search.after(cursor.clone());
        }
        if let Some(fade) = &self.recency {
            search = fade.added_to(search);
        }
        if let Counting::UpTo(number) = self.counting {
            search = search.total(number);
        }
        self.force(search)
    }

    /// Returns `search` with what it is forced to be evaluated by.
    fn force(&self, mut search: Search) -> Search {
        search = search.algorithm(self.algorithm);
        if self.windows {
            search = search.windows();
        }
        if self.exhaustive { search.exhaustive() } else { search }
    }

    /// True if more is asked of the query than its hits.
    pub(crate) fn asks_more(&self) -> bool {
        self.explain || !self.facets.is_empty() || self.highlight.is_some()
    }
}

/// Reads a number ≥ 0, such as the parameter `k1` of BM25.
pub fn not_negative(text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|number: &f32| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "choose a number ≥ 0".into())
}

/// Reads a number from 0 to 1, such as the parameter `b` of BM25.
pub fn share(text: &str) -> Result<f32, String> {
    let number = not_negative(text).ok().filter(|number| *number <= 1.0);
    number.ok_or_else(|| "choose a number from 0 to 1".into())
}

/// Reads the cursor that a page ended with.
pub fn cursor(text: &str) -> Result<Cursor, String> {
    text.parse()
        .map_err(|_| "not a cursor; give the cursor that the previous page ended with".into())
}
