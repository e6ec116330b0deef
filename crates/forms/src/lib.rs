//! Documents, questions and answers of the engine, as text and as JSON.
//!
//! The `spirit` command prints and reads these forms, and so can a server. Nothing here knows
//! options of a command, a terminal or a protocol.
//!
//! * In: a [`Document`](document::Document) of a JSON object, and the list of
//!   [fields](schema::Fields) of a new index.
//! * Asked: a [`Question`](question::Question), with its [order](order::Order) and its
//!   [facets](facets::Asked).
//! * Out: an [`Answer`](answer::Answer) with its [hits](hit::Hit), written as
//!   [JSON](escape::json_line) that acts on no terminal, and a [stored](stored::Stored) document.
#![forbid(unsafe_code)]

pub mod answer;
mod contents;
pub mod document;
pub mod escape;
pub mod explained;
pub mod facets;
pub mod figures;
pub mod hit;
pub mod no_answer;
pub mod object;
pub mod order;
pub mod question;
pub mod schema;
pub mod size;
pub mod snippets;
pub mod stored;
pub mod values;
