//! The simulator of power cuts: each of its rules by itself, then all of them against a naive twin.
#![forbid(unsafe_code)]

mod cuts;
mod images;
mod lints;
mod naive;
mod rules;
mod runs;
