//! What the kill loop is made of: documents, the process that gets them and is killed, what must be left of them, and
//! the questions that show whether it is.

mod answers;
pub(crate) mod chain;
mod document;
mod judge;
mod model;
mod random;
mod victim;
