//! What the fuzz targets do with an input, as functions: the fuzzer calls them with its inputs, the tests of this
//! crate with the committed seeds and a repeatable stream, so that an ordinary build replays them.
//!
//! A function panics if an invariant is broken, and returns otherwise, whatever the input.
#![forbid(unsafe_code)]

mod allocators;
mod analyzers;
mod bytes;
mod columns;
mod cursors;
mod facets;
mod highlighter;
mod http;
mod operations;
mod packed;
mod query_parser;
mod searches;
mod values;

pub use allocators::allocators;
pub use analyzers::analyzers;
pub use columns::columns;
pub use cursors::cursors;
pub use facets::facets;
pub use highlighter::highlighter;
pub use http::http;
pub use operations::operations;
pub use packed::packed;
pub use query_parser::query_parser;
pub use searches::searches;
pub use values::values;
