//! Desks: a reader slot, and the memory that answers questions.
//!
//! A thread with a desk asks without a lock, a system call or an allocation. Hits, scratch memory
//! and the parser's buffers are reserved when the desk is made. `docs/queries.md` lists the few
//! exceptions, at "What allocates".

use std::cell::RefCell;
use std::sync::Arc;

#[cfg(feature = "lab")]
use spirit_index::form::FindOlder;
use spirit_index::form::TextScratch;
#[cfg(feature = "lab")]
use spirit_index::{ground::Position, snapshot::Snapshot};
use spirit_query::{Facet, Operator, ParseError, Parser, Query};
#[cfg(feature = "lab")]
use spirit_query::{Settings, Stop};

use crate::engine::readable::Readable;
use crate::search::ask::{Ask, Lent};
use crate::search::cursor::Cursor;
use crate::search::error::SearchError;
use crate::search::into_query::{IntoQuery, Parsing};
#[cfg(feature = "lab")]
use crate::search::request::ALL;
use crate::search::request::Limits;
#[cfg(feature = "lab")]
use crate::search::seat::End;
use crate::search::seat::Seat;
use crate::search::workspace::Workspace;

/// A slot of an index, and memory for one question at a time.
pub(crate) struct Desk {
    pub(crate) index: Arc<Readable>,
    pub(crate) seat: Seat,
    pub(crate) memory: Workspace,
    pub(crate) parser: Parser,
    /// The number of the schema's growths that the parser knows.
    growths: u64,
    /// The query that was parsed last.
    pub(crate) query: Query,
    /// The last question's warnings.
    pub(crate) warnings: Vec<ParseError>,
    /// The scratch memory for reading texts, made for the first text.
    pub(crate) texts: RefCell<Option<Box<TextScratch>>>,
}

impl Desk {
    /// Takes a slot of the index, if one is free.
    pub(crate) fn new(index: Arc<Readable>) -> Result<Desk, SearchError> {
        // Before the memory, which is large: a caller may look for a slot many times.
        let seat = Seat::take(index.view(), index.options.readers_max)?;
        let view = seat.view();
        let growths = view.fields.growths();
        let geometry = view.parts[0].memory.geometry();
        let (executors, rows_max) = (view.parts.len(), geometry.rewritten_rows_max());
        let memory = Workspace::new(executors, rows_max, index.cache.as_ref());
        let parser = index.parser(Operator::Or);
        let (query, warnings, texts) = (Query::new(), Vec::new(), RefCell::new(None));
        Ok(Desk { index, seat, memory, parser, growths, query, warnings, texts })
    }

    /// Sets the meaning of two neighbouring words in a query text.
    pub(crate) fn default_operator(&mut self, operator: Operator) {
        self.parser.default_operator(operator);
    }

    /// Returns a query that needs no parsing, or parses a text into the desk's own query. A page
    /// after a cursor has the query of the first page, though fields were added since.
    #[inline(always)]
    pub(crate) fn parse<'q>(
        &mut self,
        query: impl IntoQuery<'q>,
        after: Option<&Cursor>,
    ) -> Result<Option<&'q Query>, SearchError> {
        self.renew_parser();
        self.parser.within_fields(after.and_then(|cursor| cursor.fields));
        self.warnings.clear();
        let Desk { parser, query: own, warnings, .. } = self;
        query.into_query(&mut Parsing { parser, query: own, warnings })
    }

    /// Parses a query, and lends seat and memory for it.
    #[inline(always)]
    pub(crate) fn ask<'r, 'q: 'r>(
        &'r mut self,
        query: impl IntoQuery<'q>,
        after: Option<&Cursor>,
        limits: &'r Limits,
    ) -> Result<(Ask<'r>, Lent<'r>), SearchError> {
        let given = self.parse(query, after)?;
        self.lend(given, limits)
    }

    /// Parses the queries of filters.
    pub(crate) fn parse_filters(&mut self, facets: &[Facet]) -> Result<Vec<Query>, SearchError> {
        let mut texts = Vec::new();
        facets.iter().for_each(|facet| facet.for_each_filter(&mut |text| texts.push(text)));
        if !texts.is_empty() {
            self.renew_parser();
            self.parser.within_fields(None);
        }
        let parse = |text| {
            let query = self.parser.parse(text)?;
            match query.needs_positions() && !self.index.options.positions {
                true => Err(SearchError::NoPositions),
                false => Ok(query),
            }
        };
        texts.into_iter().map(parse).collect()
    }

    /// Makes the query the desk's own, since its hits may be kept for longer than the caller's
    /// query.
    pub(crate) fn parse_own<'q>(
        &mut self,
        query: impl IntoQuery<'q>,
        after: Option<&Cursor>,
    ) -> Result<(), SearchError> {
        if let Some(given) = self.parse(query, after)? {
            self.query.clone_from(given);
        }
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn lend<'r>(
        &'r mut self,
        given: Option<&'r Query>,
        limits: &'r Limits,
    ) -> Result<(Ask<'r>, Lent<'r>), SearchError> {
        let Desk { index, seat, memory, parser, query, .. } = self;
        let query = given.unwrap_or(query);
        if query.needs_positions() && !index.options.positions {
            return Err(SearchError::NoPositions);
        }
        Ok((Ask { index, query, schema: parser.schema(), limits }, Lent { seat, memory }))
    }

    /// Gives the parser the fields that were added since. It takes a lock only if there are any.
    #[inline(always)]
    fn renew_parser(&mut self) {
        let growths = self.seat.view().fields.growths();
        if growths != self.growths {
            self.take_fields(growths);
        }
    }

    #[cold]
    fn take_fields(&mut self, growths: u64) {
        self.parser.renew(self.seat.view().fields.current());
        self.growths = growths;
    }
}

#[cfg(feature = "lab")]
impl Desk {
    /// Counts matches in the first executor, with another way to find terms in segments that the
    /// DRAM dictionary does not cover.
    pub(crate) fn count_finding(&mut self, query: &Query, older: impl FindOlder + Copy) -> u64 {
        let counted = self.in_first_executor(|snapshot, settings, Workspace { scratch, .. }| {
            spirit_query::count_finding(&snapshot, query, settings, scratch, older)
        });
        counted.unwrap_or(0)
    }

    /// Finds all matches in the segments of the first executor from a position on. Returns how many
    /// there are.
    pub(crate) fn count_since(&mut self, query: &Query, oldest: Position) -> usize {
        let found =
            self.in_first_executor(|snapshot, settings, Workspace { scratch, hits, .. }| {
                hits.clear();
                let window = snapshot.window();
                let snapshot = snapshot.since(oldest.clamp(window.oldest, window.end));
                spirit_query::newest(&snapshot, query, settings, scratch, 0, ALL, hits)?;
                Ok(hits.len())
            });
        found.unwrap_or(0)
    }

    fn in_first_executor<T>(
        &mut self,
        mut ask: impl FnMut(Snapshot<'_>, Settings<'_>, &mut Workspace) -> Result<T, Stop>,
    ) -> Result<T, SearchError> {
        let Desk { index, seat, memory, .. } = self;
        let settings = Settings { level: index.options.vectors, ..Settings::default() };
        seat.ask(index, End::Leave, |view| {
            let snapshot = Snapshot::take(&view.parts[0].memory).without_older(view.over_ms());
            Ok(ask(snapshot, settings, memory)?)
        })
    }
}
