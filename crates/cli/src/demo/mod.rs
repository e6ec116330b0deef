//! The demonstration: a stream of posts, a thread that asks, and what is measured between them.

pub(crate) mod alias;
pub(crate) mod asker;
pub(crate) mod corpus;
pub(crate) mod generator;
pub(crate) mod histogram;
pub(crate) mod live;
pub(crate) mod probe;
pub(crate) mod prompt;
pub(crate) mod stream;
pub(crate) mod summary;
pub(crate) mod walk;
pub(crate) mod words;
