//! Facets of a dashboard: counts by level, by hour and over the durations of all requests that match, in one pass.
//!
//! `cargo run --example dashboard`

use std::error::Error;

use spirit::facets::{Aggregate, Facet};
use spirit::schema::TimeUnit;
use spirit::{Document, FieldKind, Index};

fn main() -> Result<(), Box<dyn Error>> {
    let index = Index::builder()
        .dram_bytes(64 << 20)
        .field("level", FieldKind::Keyword)
        .field("at", FieldKind::Time(TimeUnit::Seconds))
        .field("ms", FieldKind::Float)
        .open()?;
    for request in 0..1000i64 {
        let level = if request % 50 == 0 { "error" } else { "info" };
        let document = Document::new()
            .text("GET /cart")
            .field("level", level)
            .field("at", 1_700_000_000 + request * 10)
            .field("ms", 2.0 + (request % 100) as f64);
        index.add(document)?;
    }

    let facets = [
        Facet::Terms { field: "level".into(), top: 5 },
        Facet::Histogram { field: "at".into(), interval: 3_600_000.0 },
        Facet::Stats { field: "ms".into() },
    ];
    for answer in index.searcher().aggregate("cart", &facets)? {
        match answer {
            Aggregate::Terms(levels) => println!("levels {:?}", levels.top),
            other => println!("{other:?}"),
        }
    }
    Ok(())
}
