//! The readable side of an index, which this process writes or follows.

use std::sync::Arc;

use spirit_query::{Operator, Parser};

use super::Engine;
use super::follower::Follower;
use crate::cached::ResultCache;
use crate::config::error::OpenError;
use crate::config::options::{Options, QUERY_BYTES_MAX};
use crate::storage::view::View;

/// An index for readers. They share it, so it outlives the index.
pub(crate) struct Readable {
    pub(crate) options: Options,
    views: Views,
    /// The result cache, if there is one.
    pub(crate) cache: Option<ResultCache>,
}

/// The source of the current view.
enum Views {
    /// The only view of an index that this process writes.
    Written(Arc<View>),
    /// A follower, with a new view after each start of a writer.
    Followed(Box<Follower>),
}

impl Readable {
    /// Returns the readable side of the index that `engine` writes.
    pub(crate) fn written(engine: &Engine) -> Result<Readable, OpenError> {
        Readable::of(engine.options.clone(), Views::Written(engine.view.clone()))
    }

    /// Returns the readable side of the index that `follower` follows.
    pub(crate) fn followed(follower: Follower, options: Options) -> Result<Readable, OpenError> {
        Readable::of(options, Views::Followed(Box::new(follower)))
    }

    fn of(options: Options, views: Views) -> Result<Readable, OpenError> {
        let cache = ResultCache::new(&options)?;
        Ok(Readable { options, views, cache })
    }

    /// Returns the current view.
    pub(crate) fn view(&self) -> Arc<View> {
        match &self.views {
            Views::Written(view) => view.clone(),
            Views::Followed(follower) => follower.view(),
        }
    }

    /// Returns the view of the writer that made `outdated` out of date.
    pub(crate) fn view_after(&self, outdated: &Arc<View>) -> Result<Arc<View>, OpenError> {
        match &self.views {
            Views::Written(view) => Ok(view.clone()),
            Views::Followed(follower) => follower.view_after(outdated),
        }
    }

    /// Returns a parser of queries for the current fields.
    pub(crate) fn parser(&self, operator: Operator) -> Parser {
        let schema = self.view().fields.current();
        let parser = Parser::new(schema, QUERY_BYTES_MAX, operator);
        if self.options.positions { parser } else { parser.without_positions() }
    }
}
