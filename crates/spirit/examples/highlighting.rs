//! Highlighting: the passages that show best why a document was found, as HTML.
//!
//! `cargo run --example highlighting`

use std::error::Error;

use spirit::search::Highlight;
use spirit::{Analyzer, Index, Search};

fn main() -> Result<(), Box<dyn Error>> {
    // The English analyzer finds `herons` for `heron`, and highlights the word as it was written.
    let index =
        Index::builder().dram_bytes(64 << 20).store(true).analyzer(Analyzer::English).open()?;
    index.put("pond", "Two grey herons <stood> in the reed. Nobody saw them leave the pond.")?;
    index.put("ferry", "The ferry is grey, too.")?;

    let searcher = index.searcher();
    let query = "grey heron";
    // It is made once for a query, and used for each of its hits.
    let mut highlighter = searcher.highlighter(query, Highlight::default().characters(60))?;
    for hit in searcher.search(query, Search::best(10))? {
        println!("{}", hit.key()?);
        for snippet in hit.snippets(&mut highlighter)? {
            println!("  {}", snippet.marked_html("<em>", "</em>"));
        }
    }
    Ok(())
}
