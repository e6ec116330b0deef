//! A field of whole numbers that a document added becomes one of floating-point numbers: in every stage of the documents from
//! before, in other processes, and after a restart.

use spirit::backup::Backup;
use spirit::facets::{Aggregate, Facet};
use spirit::schema::FieldError;
use spirit::search::Direction;
use spirit::{
    Builder, Document, FieldKind, Index, Operator, Reader, Search, SearchError, Value, WriteError,
};

use crate::support::columns::check_columns;
use crate::support::directory::Directory;
use crate::support::following::{follow, wait_until};

/// The least number that floating-point numbers do not have.
const ODD: i64 = (1 << 53) + 1;

fn options(directory: &Directory) -> Builder {
    let options = Index::builder().directory(directory.path()).dram_bytes(4 << 20);
    let options = options.segment_bytes(64 << 10).nvm_bytes(4 << 20).log_bytes(128 << 10);
    options.document_bytes_max(4 << 10).store(true).merge_after(2)
}

fn add<'a>(index: &Index, key: &'a str, number: impl Into<Value<'a>>) {
    index.add(Document::new().key(key).text("red").field("n", number)).unwrap();
}

fn kind(index: &Index) -> FieldKind {
    index.schema().by_name("n").unwrap().kind
}

/// The numbers from before and after, the least first.
const ASCENDING: [(&str, f64); 8] = [
    ("least", i64::MIN as f64),
    ("c", -3.0),
    ("d", 0.0),
    ("a", 20.0),
    ("e", 20.5),
    ("f", 21.0),
    ("b", 9_007_199_254_740_992.0),
    ("g", 1e300),
];

fn is_widened(reader: &mut Reader) {
    let mut count = |query: &str| reader.count(query).unwrap();
    for (from, (key, low)) in ASCENDING.iter().enumerate() {
        for (to, (other, high)) in ASCENDING.iter().enumerate().skip(from) {
            let query = format!("n:[{low} TO {high}]");
            assert_eq!(count(&query), (to - from) as u64 + 1, "{query}: {key} to {other}");
        }
        assert_eq!(count(&format!("n:>{low}")), (ASCENDING.len() - from) as u64 - 1);
        assert_eq!(count(&format!("n:<{low}")), from as u64);
        assert_eq!(count(&format!("n:{low}")), 1);
    }
    assert_eq!(count("n:>=20.25"), 4);
    assert_eq!(count("n:[-2.5 TO 20.4]"), 2);
    // The nearest number of those that floating-point numbers have.
    assert_eq!((count("n:9007199254740993"), count("n:>9007199254740993")), (1, 1));
    for direction in [Direction::Ascending, Direction::Descending] {
        let hits = reader.search("red", Search::by_field(20, "n", direction)).unwrap();
        let mut found: Vec<(String, f64)> = Vec::new();
        for hit in hits.iter() {
            let Some(Value::Float(sorted)) = hit.sort_value() else {
                panic!("{:?}", hit.sort_value())
            };
            assert_eq!(hit.get("n").unwrap(), Some(Value::Float(sorted)));
            found.push((hit.key().unwrap().to_string(), sorted));
        }
        if direction == Direction::Descending {
            found.reverse();
        }
        let expected = ASCENDING.map(|(key, number)| (key.to_owned(), number));
        assert_eq!(found, expected);
    }
    let facets = [Facet::Stats { field: "n".to_owned() }];
    let found = reader.aggregate("red", &facets).unwrap();
    let Aggregate::Stats(Some(stats)) = &found[0] else { panic!("{found:?}") };
    assert_eq!((stats.count, stats.min, stats.max), (8, i64::MIN as f64, 1e300));
}

#[test]
fn documents_from_before_are_read_as_floating_point_numbers() {
    let directory = Directory::new();
    let index = options(&directory).open().unwrap();
    let follower = follow(directory.path());
    let mut reader = follower.reader().unwrap();
    add(&index, "a", 20);
    add(&index, "least", i64::MIN);
    index.flush().unwrap();
    add(&index, "b", ODD);
    index.flush().unwrap();
    add(&index, "c", -3);
    // It looks at the fields before each query.
    wait_until(|| reader.count("n:>0").unwrap() == 2);
    assert_eq!((kind(&index), kind(&follower)), (FieldKind::Integer, FieldKind::Integer));
    let old = index.parser(Operator::Or).parse("n:[20 TO 9007199254740993]").unwrap();
    let page = Search::by_field(1, "n", Direction::Descending);
    let cursor = reader.search("red", page.clone()).unwrap().cursor().unwrap().unwrap();
    // One that is refused widens nothing.
    let misfit = Document::new().field("n", 0.5).field("n", "words");
    let refused = index.add(&misfit).unwrap_err();
    assert!(matches!(refused, WriteError::Field(FieldError::Misfit { .. })), "{refused:?}");
    assert_eq!(kind(&index), FieldKind::Integer);
    add(&index, "e", 20.5);
    assert_eq!(kind(&index), FieldKind::Float);
    // The row of `c` is not flushed yet.
    let count = |query: &str| index.searcher().count(query).unwrap();
    assert_eq!((count("n:-3"), count("n:<20"), count("n:>20")), (1, 2, 2));
    // Of the segment that has both.
    add(&index, "f", 21);
    add(&index, "d", 0);
    index.flush().unwrap();
    add(&index, "g", 1e300);
    is_widened(&mut index.reader().unwrap());
    wait_until(|| reader.count("red").unwrap() == 8);
    is_widened(&mut reader);
    assert_eq!(kind(&follower), FieldKind::Float);
    // A query from before takes the whole parts.
    assert_eq!(reader.count(&old).unwrap(), 4);
    assert_eq!(index.reader().unwrap().count(&old).unwrap(), 4);
    assert_eq!(reader.search("red", page.after(cursor)).err(), Some(SearchError::Cursor));
    index.flush().unwrap();
    index.settle();
    check_columns(&index).unwrap();
    let backup = directory.path().join("backup");
    index.backup(&backup).unwrap();
    let killed = directory.killed();
    index.close().unwrap();
    let restored = Directory::new();
    Backup::at(&backup).restore(restored.path()).unwrap();
    for directory in [&directory, &restored, &killed] {
        for _ in 0..2 {
            let index = options(directory).open().unwrap();
            assert_eq!(kind(&index), FieldKind::Float);
            assert!(index.schema().by_name("n").unwrap().is_widened());
            is_widened(&mut index.reader().unwrap());
            check_columns(&index).unwrap();
            index.close().unwrap();
            let report = Index::check(directory.path()).unwrap();
            assert!(report.is_sound(), "{report}");
        }
    }
}

#[test]
fn a_declared_field_and_a_strict_index_keep_their_integers() {
    let directory = Directory::new();
    let index = options(&directory).field("n", FieldKind::Integer).open().unwrap();
    add(&index, "a", 20);
    index.close().unwrap();
    // Declared once is declared.
    let index = options(&directory).open().unwrap();
    let refused = index.add(Document::new().field("n", 20.5)).unwrap_err();
    assert!(matches!(refused, WriteError::Field(FieldError::Misfit { .. })), "{refused:?}");
    assert_eq!(kind(&index), FieldKind::Integer);
}
