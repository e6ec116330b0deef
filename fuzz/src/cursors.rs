//! Any text as a cursor: it is refused, or a cursor that writes itself as it is read; whatever it says, a search goes on from it or
//! refuses it, and finds what matches.

use std::cell::RefCell;
use std::sync::OnceLock;

use spirit::search::{Cursor, Direction};
use spirit::{Document, Index, Reader, Search, SearchError};

const DOCUMENTS: i64 = 200;

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let options = Index::builder().dram_bytes(4 << 20).segment_bytes(64 << 10).executors(2);
        let index = options.open().expect("these settings are good");
        for n in 0..DOCUMENTS {
            let document = Document::new().text("a b").field("n", n % 7);
            index.add(&document).expect("the heap is large enough");
            if n % 90 == 0 {
                index.flush().expect("it goes on");
            }
        }
        index
    })
}

thread_local! {
    static READER: RefCell<Reader> =
        RefCell::new(index().reader().expect("a reader a thread"));
}

/// Takes `data`, as far as it is text, for a cursor.
pub fn cursors(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(cursor) = text.parse::<Cursor>() else { return };
    assert_eq!(cursor.to_string().parse(), Ok(cursor.clone()), "{text:?}");
    READER.with_borrow_mut(|reader| {
        for query in ["a", "a b", "c", "*", "a -b"] {
            let orders = [
                Search::newest(5),
                Search::best(5),
                Search::by_field(5, "n", Direction::Ascending),
                Search::by_field(5, "n", Direction::Descending),
            ];
            for search in orders {
                match reader.search(query, search.after(cursor.clone())) {
                    Ok(hits) => {
                        assert!(hits.len() <= 5);
                        hits.keys().expect("a moment ago");
                    }
                    Err(error) => assert_eq!(error, SearchError::Cursor, "{text:?}"),
                }
            }
        }
    });
}
