//! Percolation: the standing queries that one document matches, without adding it to the index.
//!
//! The document goes into a small index in memory, with the same fields, and a [round](super::round) holds
//! it against the queries. So it matches what it would match in the index itself.

use std::fmt;
use std::sync::Arc;

use spirit_query::Operator;
use spirit_schema::Schema;

use super::round::{Round, rarest_terms};
use super::triggers::QueryId;
use crate::config::document::Document;
use crate::config::durability::Mode;
use crate::config::on_full::OnFull;
use crate::config::options::Options;
use crate::engine::Engine;
use crate::engine::readable::Readable;
use crate::error::Result;
use crate::search::error::SearchError;
use crate::search::seat::{End, Seat};

/// The memory of the small index. It drops its oldest documents.
const DRAM_BYTES: u64 = 16 << 20;
/// Documents of any length are added, if the index takes them.
const DRAM_PER_DOCUMENT_BYTE: u64 = 16;

/// A set of queries, each of which waits for documents: which of them does a document match?
///
/// It has the fields that the index had when it was made. A query about another field is an error, and what
/// a document has of other fields is left out.
///
/// ```
/// use spirit::Index;
///
/// let index = Index::in_memory()?;
/// let mut percolator = index.percolator()?;
/// let herons = percolator.add("heron AND NOT statue")?;
/// let gulls = percolator.add("gull OR tern")?;
/// assert_eq!(percolator.matching("a heron at the lake")?, [herons]);
/// assert_eq!(percolator.matching("a tern, and a statue of a heron")?, [gulls]);
/// # Ok::<(), spirit::Error>(())
/// ```
pub struct Percolator {
    small: Small,
    round: Round<()>,
    /// The queries' texts.
    texts: Vec<Option<String>>,
    /// The growths of the fields that the queries know.
    growths: u64,
}

/// The small index.
struct Small {
    engine: Engine,
    index: Arc<Readable>,
    seat: Seat,
}

impl fmt::Debug for Percolator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Percolator").finish_non_exhaustive()
    }
}

impl Percolator {
    /// Makes one without queries, for documents like those of an index with these options and fields.
    pub(crate) fn new(of: &Options, schema: Arc<Schema>) -> Result<Percolator> {
        let options = Options {
            dram_bytes: DRAM_BYTES.max(of.document_bytes_max as u64 * DRAM_PER_DOCUMENT_BYTE),
            analyzer: of.analyzer,
            positions: of.positions,
            opaque_text: of.opaque_text,
            strict: of.strict,
            document_bytes_max: of.document_bytes_max,
            vectors: of.vectors,
            mode: Mode::Volatile,
            on_full: OnFull::DropOldest,
            schema: Some(schema),
            ..Options::default()
        };
        let small = Small::open(&options)?;
        let round = Round::new(small.seat.view());
        Ok(Percolator { small, round, texts: Vec::new(), growths: 0 })
    }

    /// Returns the fields that it has.
    pub fn schema(&self) -> Arc<Schema> {
        self.small.index.view().fields.current()
    }

    /// Adds a query, and returns its number. Numbers of queries that were removed are given again.
    ///
    /// # Errors
    /// If the query is invalid.
    pub fn add(&mut self, query: &str) -> Result<u32, SearchError> {
        let number = self.enter(query)? as usize;
        self.texts.resize(self.texts.len().max(number + 1), None);
        self.texts[number] = Some(query.to_owned());
        Ok(number as u32)
    }

    /// Removes a query. A number that no query has is no error.
    pub fn remove(&mut self, number: u32) {
        if self.round.remove(number).is_some() {
            self.texts[number as usize] = None;
        }
    }

    /// Returns the numbers of the queries that a document matches, ascending.
    ///
    /// # Errors
    /// If an index would refuse the document.
    pub fn matching<'d>(&mut self, document: impl Into<Document<'d>>) -> Result<Vec<u32>> {
        let mut document = document.into();
        let schema = self.schema();
        if schema.is_dynamic() {
            // No query asks for them, since the queries know no other fields either.
            document.fields.retain(|(name, value)| {
                schema.by_name(name).is_some() || !schema.grows_by([(*name, *value)])
            });
        }
        self.round.catch_up(self.small.seat.view());
        self.small.engine.add(&document)?;
        let growths = self.small.index.view().fields.growths();
        if growths != self.growths {
            // The document has widened a field: ranges of integers are ranges of numbers from now on.
            self.enter_anew()?;
            self.growths = growths;
        }
        self.round.look(&self.small.index, &mut self.small.seat)?;
        if let Some((_, error)) = self.round.failed().pop() {
            return Err(error.into());
        }
        let mut numbers: Vec<u32> = self.round.found().map(|(id, ..)| id).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Enters all queries again, with the fields that there are now.
    fn enter_anew(&mut self) -> Result<(), SearchError> {
        let texts = std::mem::take(&mut self.texts);
        let mut numbers =
            (0..).zip(&texts).filter_map(|(number, text)| Some((number, text.as_ref()?)));
        let entered = numbers.try_for_each(|(number, text)| {
            // A number that was given back last is given first.
            self.round.remove(number);
            self.enter(text).map(drop)
        });
        self.texts = texts;
        entered
    }

    fn enter(&mut self, text: &str) -> Result<QueryId, SearchError> {
        let Small { index, seat, .. } = &mut self.small;
        let query = index.parser(Operator::Or).parse(text)?;
        if query.needs_positions() && !index.options.positions {
            return Err(SearchError::NoPositions);
        }
        let terms = seat.ask(index, End::Leave, |view| Ok(rarest_terms(&query, view)))?;
        // A copy has no more memory than it needs.
        Ok(self.round.add((), Arc::new(query.clone()), terms.as_deref()))
    }
}

impl Small {
    fn open(options: &Options) -> Result<Small> {
        let engine = Engine::open(options.clone())?;
        let index = Arc::new(Readable::written(&engine)?);
        let seat = Seat::take(index.view(), options.readers_max)?;
        Ok(Small { engine, index, seat })
    }
}
