//! Pages of the newest hits while a writer goes on: a cursor keeps its place in the stream, so no hit comes twice or is left out.
//!
//! `cargo run --example newest_pages`

use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use spirit::search::Cursor;
use spirit::{Index, Search};

const PAGE: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let index = Index::builder().dram_bytes(64 << 20).open()?;
    for number in 0..95 {
        index.add(&format!("post {number}"))?;
    }

    let ended = AtomicBool::new(false);
    let pages = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            while !ended.load(Relaxed) {
                index.add("post from later").expect("there is room");
                thread::yield_now();
            }
        });
        let pages = pages(&index);
        ended.store(true, Relaxed);
        writer.join().expect("the writer does not panic");
        pages
    })?;

    // What came first is on no page but the first, and every page goes on exactly where the last one ended.
    let mut keys: Vec<u64> = pages.concat();
    assert!(keys.is_sorted_by(|newer, older| newer > older));
    keys.retain(|key| *key < 95);
    assert_eq!(keys.len(), 95);
    println!("{} pages, the first begins with post {}", pages.len(), pages[0][0]);
    Ok(())
}

/// The keys of all posts that were there when the first page was asked for.
fn pages(index: &Index) -> spirit::Result<Vec<Vec<u64>>> {
    let searcher = index.searcher();
    let (mut pages, mut search) = (Vec::new(), Search::newest(PAGE));
    loop {
        let hits = searcher.search("post", search)?;
        let Some(cursor) = hits.cursor()? else { return Ok(pages) };
        pages.push(hits.keys()?.iter().map(|key| key.parse().expect("a number")).collect());
        // A client would get the cursor as a text, and bring it back with its next request.
        let cursor: Cursor = cursor.to_string().parse()?;
        search = Search::newest(PAGE).after(cursor);
    }
}
