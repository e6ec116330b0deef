//! Any text marked by any query: snippets are parts of it, and marks are parts of them, in order.

use std::cell::RefCell;
use std::sync::OnceLock;

use spirit::search::Highlight;
use spirit::{Analyzer, Index, Reader, SearchError};

use crate::bytes::Bytes;

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let options = Index::builder().dram_bytes(2 << 20).segment_bytes(64 << 10);
        options.analyzer(Analyzer::English).open().expect("these settings are good")
    })
}

thread_local! {
    static READER: RefCell<Reader> =
        RefCell::new(index().reader().expect("a reader a thread"));
}

/// What comes before the first zero behind four bytes of settings is the query, the rest the text.
pub fn highlighter(data: &[u8]) {
    let mut bytes = Bytes(data);
    let characters = usize::from(bytes.byte());
    let (snippets, bytes_max) = (usize::from(bytes.byte() % 9), usize::from(bytes.number()));
    let end = bytes.0.iter().position(|byte| *byte == 0).unwrap_or(0);
    let (query, text) = bytes.0.split_at(end);
    let (query, text) = (String::from_utf8_lossy(query), String::from_utf8_lossy(text));
    let how = Highlight::default().characters(characters).snippets(snippets).bytes_max(bytes_max);
    let made = READER.with_borrow_mut(|reader| reader.highlighter(&*query, how));
    let mut highlighter = match made {
        Ok(highlighter) => highlighter,
        Err(SearchError::Parse(_)) => return,
        Err(error) => panic!("{error}: {query:?}"),
    };
    for snippet in highlighter.snippets(&text) {
        assert_eq!(text.get(snippet.range.clone()), Some(&*snippet.text), "{text:?}");
        for mark in &snippet.marks {
            let marked = snippet.text.get(mark.clone());
            assert!(marked.is_some_and(|marked| !marked.is_empty()), "{snippet:?}");
        }
        assert!(snippet.marks.is_sorted_by(|a, b| a.end <= b.start), "{snippet:?}");
        assert!(!snippet.marked_html("<em>", "</em>").is_empty() || snippet.text.is_empty());
    }
}
