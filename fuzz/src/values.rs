//! Any text as the value of a field: it is refused, or a value that ends not before it begins; moments that are written are read
//! back; and what a range says of one value, `views:3`, `views:[3 TO 3]` and `views:IN [3]` say alike.

use std::cell::RefCell;
use std::sync::OnceLock;

use spirit::schema::TimeUnit;
use spirit::{Builder, Document, FieldKind, Index, Reader};
use spirit_schema::{everything, format_time, parse_time, typed};

/// Fields of each kind that has values which are no words.
const FIELDS: [(&str, FieldKind); 5] = [
    ("views", FieldKind::Integer),
    ("score", FieldKind::Float),
    ("at", FieldKind::Time(TimeUnit::Milliseconds)),
    ("second", FieldKind::Time(TimeUnit::Seconds)),
    ("flag", FieldKind::Boolean),
];

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let options = Index::builder().dram_bytes(2 << 20).segment_bytes(64 << 10);
        let declared =
            |options: Builder, (name, kind): (&str, FieldKind)| options.field(name, kind);
        let index = FIELDS.into_iter().fold(options, declared).open().expect("good settings");
        for n in 0..40_i64 {
            let document = Document::new().field("views", n % 5).field("score", n as f64 / 2.0);
            let document = document.field("at", n * 86_400_000).field("second", n * 86_400);
            let document = document.field("flag", n % 3 == 0);
            index.add(&document).expect("the heap is large enough");
            if n == 25 {
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

/// Takes `data`, as far as it is text, for a value of each kind.
pub fn values(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for (name, kind) in FIELDS {
        let Some(found) = typed(kind, &text) else { continue };
        let all = everything(kind).expect("values that are no words have an order");
        assert!(found.start() <= found.end(), "{text:?} as {kind}");
        assert!(all.contains(found.start()) && all.contains(found.end()), "{text:?} as {kind}");
        // What `now` is goes on between two questions.
        if !text.contains("now") {
            READER.with_borrow_mut(|reader| ask(reader, name, &text));
        }
    }
    if let Some(time) = parse_time(&text) {
        assert_eq!(parse_time(&format_time(time)), Some(time), "{text:?}");
    }
}

fn ask(reader: &mut Reader, name: &str, text: &str) {
    let quoted = format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut count =
        |query: &str| reader.count(query).unwrap_or_else(|why| panic!("{query}: {why}"));
    let own = count(&format!("{name}:{quoted}"));
    assert_eq!(own, count(&format!("{name}:[{quoted} TO {quoted}]")), "{name}:{quoted}");
    assert_eq!(own, count(&format!("{name}:IN [{quoted} {quoted}]")), "{name}:{quoted}");
    let [below, above] =
        [format!("{name}:<{quoted}"), format!("{name}:>{quoted}")].map(|q| count(&q));
    assert_eq!(below + own + above, count(&format!("{name}:*")), "{name}:{quoted}");
}
