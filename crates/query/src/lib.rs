//! The query language and its evaluators.
