//! Any body of a search of OpenSearch's clients: it is refused, or answered.

use std::cell::RefCell;
use std::sync::OnceLock;

use spirit::schema::TimeUnit;
use spirit::{Document, FieldKind, Index, Reader};
use spirit_opensearch::aggregations::Aggregations;
use spirit_opensearch::error::Refusal;
use spirit_opensearch::query::Context;
use spirit_opensearch::search::SearchBody;

/// The moment that `now` means.
const NOW: i64 = 1_790_000_000_000;

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let options = Index::builder().dram_bytes(8 << 20).store(true).opaque_text(true);
        let options = options.field("tag", FieldKind::Keyword);
        let options = options.field("at", FieldKind::Time(TimeUnit::Milliseconds));
        let index = options.open().expect("these settings are good");
        for n in 0..60_i64 {
            let (tag, body) = (format!("t{}", n % 7), format!("heron w{} w{}", n % 5, n % 11));
            let document = Document::new().field("body", &*body).field("tag", &tag);
            let document = document.field("n", n).field("x", n as f64 / 4.0);
            let document = document.field("at", NOW - n * 3_600_000).field("flag", n % 3 == 0);
            index.add(&document).expect("the heap is large enough");
        }
        index
    })
}

thread_local! {
    static READER: RefCell<Reader> =
        RefCell::new(index().reader().expect("a reader a thread"));
}

/// Answers the search that `data` is.
pub fn searches(data: &[u8]) {
    if let Err(refusal) = READER.with_borrow_mut(|reader| answer(data, reader)) {
        assert!(!refusal.reason.is_empty(), "a refusal says why");
        assert!((400..=503).contains(&refusal.status), "{refusal:?}");
    }
}

fn answer(data: &[u8], reader: &mut Reader) -> Result<(), Refusal> {
    let asked = SearchBody::parse(data)?;
    asked.check()?;
    let schema = index().schema();
    let context = Context { schema: &schema, now: NOW };
    let (clause, order) = (asked.page_clause(&context)?, asked.order(&schema)?);
    // What the engine refuses is an error of its own, such as a query that matches too many terms.
    if let Ok(hits) = reader.search(clause, order) {
        assert!(hits.len() <= 60);
    }
    if let Some(aggregations) = &asked.aggregations {
        let read = Aggregations::read(aggregations, &context)?;
        if let Ok(found) = reader.aggregate(asked.clause(&context)?, &read.facets()) {
            let _ = read.answer(&found, asked.typed_keys)?.to_string();
        }
    }
    Ok(())
}
