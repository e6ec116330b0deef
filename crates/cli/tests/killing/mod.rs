//! What the kill loop is made of: documents, the process that gets them and is killed, what must be left of them, and
//! the questions that show whether it is.

pub(crate) mod document;
pub(crate) mod judge;
pub(crate) mod model;
pub(crate) mod random;
pub(crate) mod victim;
