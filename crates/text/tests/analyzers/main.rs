//! Every analyzer against a naive oracle, on random text and on the cases that are known to be
//! hard.
//!
//! The oracles share no code with the crate: they work on whole texts and `char`s, never on bytes
//! or masks. One test binary, so that its parts can share their strategies.

mod code;
mod english;
mod fixed;
mod keyword;
mod limits;
mod normal;
mod simple;
mod social;
mod spans;
mod standard;
mod support;
