//! Analyzers: from text to tokens.
//!
//! A [`Tokenizer`] turns one document or query at a time into [`Token`]s, and hands each to a
//! closure. It owns its buffers, sized when it is made. So all analyzers but `english` allocate
//! nothing for most documents.
//!
//! One vector pass over the text lower-cases ASCII. It marks the bytes that are letters or digits,
//! and those that are not ASCII. A second pass reads runs off the marks, bit by bit. A run of plain
//! ASCII that nothing joins to its neighbours is a token, ready in the lower-cased copy.
//!
//! Everything else leaves the fast lane, for that run only: a word with an accent, an apostrophe
//! inside, a `#tag`. A third of all articles have some non-ASCII byte, but fewer than one token in
//! a hundred has.
//!
//! All analyzers but `keyword` give the same terms for texts that look the same. They cut the
//! composed form of a text (NFC), in which all apostrophes are `'` and signs that nobody sees are
//! left out. They fold case in full. They do not fold accents, nor map compatibility characters.
//! They segment languages without spaces only as UAX #29 does.
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
mod code;
mod emitter;
mod english;
mod fold;
mod joins;
mod normal;
mod part;
mod scan;
mod signs;
mod simple;
mod social;
mod standard;
mod token;
mod tokenizer;

pub use analyzer::{Analyzer, UnknownAnalyzer};
pub use emitter::Summary;
pub use fold::push_term;
pub use token::{Sink, Token};
pub use tokenizer::{TextTooLong, Tokenizer};

/// The longest term kept, in bytes of its folded form.
///
/// A longer token takes a position, so phrases around it keep their distances. It does not reach
/// the sink, and is counted in [`Summary::skipped`].
pub const TERM_BYTES_MAX: usize = 255;
