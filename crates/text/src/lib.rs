//! Analyzers: from text to tokens.
//!
//! A [`Tokenizer`] turns one document (or one query) at a time into [`Token`]s and hands each to a
//! closure. It owns every buffer it needs, sized when it is made, so the `simple` and `standard`
//! analyzers allocate nothing per document.
//!
//! How it works, and why it is fast: one vector pass over the text lower-cases ASCII and marks
//! which bytes are letters or digits and which are not ASCII; a second pass takes the runs off the
//! marks bit by bit. A run of plain ASCII that nothing joins to its neighbours *is* a token, lying
//! ready in the lower-cased copy. Everything else (a word with an accent, an apostrophe inside, a
//! `#tag`) leaves the fast lane for that run only, because a third of all articles hold some
//! non-ASCII byte but fewer than one token in a hundred does.
//!
//! What it does not do: it normalizes no Unicode forms (a letter with a combining mark and the
//! composed letter stay different terms), folds no accents, and segments no language that writes
//! without spaces beyond what UAX #29 says.
//!
//! ```
//! use spirit_text::{Analyzer, Tokenizer};
//!
//! let mut tokenizer = Tokenizer::new(Analyzer::Standard, 1 << 16);
//! let mut terms = Vec::new();
//! let summary = tokenizer.for_each("Don't panic!", |token| terms.push(token.bytes().to_vec()))?;
//! assert_eq!(terms, [b"don't".as_slice(), b"panic"]);
//! assert_eq!(summary.tokens, 2);
//! # Ok::<(), spirit_text::TextTooLong>(())
//! ```

#![forbid(unsafe_code)]

mod analyzer;
mod classes;
mod emitter;
mod english;
mod fold;
mod joins;
mod scan;
mod simple;
mod social;
mod standard;
mod token;
mod tokenizer;

pub use analyzer::{Analyzer, UnknownAnalyzer};
pub use emitter::Summary;
pub use token::{Sink, Token};
pub use tokenizer::{TextTooLong, Tokenizer};

/// Longest term kept, in bytes of its lower-cased form.
///
/// A longer token still takes a position, so phrases around it keep their distances, but it never
/// reaches the sink and is counted in [`Summary::skipped`].
pub const TERM_BYTES_MAX: usize = 255;
