//! The simulator of power cuts: each of its rules on its own, then all of them against a naive twin.
#![forbid(unsafe_code)]

mod cuts;
mod images;
mod lints;
mod naive;
mod rules;
mod runs;
