//! A small index that tests search, with the same documents as the OpenSearch it was compared with.
#![allow(dead_code, reason = "each test binary uses its part")]

pub(crate) mod aggregates;
pub(crate) mod answers;
pub(crate) mod missing;
pub(crate) mod pipelines;
pub(crate) mod refusals;

use spirit::{Clause, Document, FieldKind, Index, Search, Value};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;
use spirit_opensearch::query::{self, Context};

/// 2026-11-29T03:30:15.250Z.
pub(crate) const NOW: i64 = 1_795_923_015_250;

/// A document's values by their fields' names, after its title.
type Values = &'static [(&'static str, Value<'static>)];

const DOCUMENTS: [(&str, Values); 5] = [
    (
        "the grey heron stands in the reed",
        &[
            ("level", Value::Text("Warn")),
            ("tag", Value::Text("bird")),
            ("views", Value::Integer(3)),
            ("price", Value::Float(1.5)),
            ("at", Value::Text("2026-11-22T10:00:00Z")),
            ("ok", Value::Boolean(true)),
            ("users", Value::Object),
            ("users.name", Value::Text("ann")),
            ("users.role", Value::Text("admin")),
            ("users", Value::Object),
            ("users.name", Value::Text("bob")),
            ("users.role", Value::Text("guest")),
        ],
    ),
    (
        "a grey wolf and a heron",
        &[
            ("level", Value::Text("Info")),
            ("tag", Value::Text("Mixed")),
            ("views", Value::Integer(40)),
            ("price", Value::Float(2.0)),
            ("at", Value::Text("2026-11-22T23:59:59.999Z")),
            ("ok", Value::Boolean(false)),
        ],
    ),
    (
        "herring gull, grey sky",
        &[
            ("level", Value::Text("warn too late")),
            ("tag", Value::Text("bird")),
            ("views", Value::Integer(-7)),
            ("at", Value::Text("2026-11-23T00:00:00Z")),
            ("users", Value::Object),
            ("users.name", Value::Text("ann")),
            ("users.role", Value::Text("guest")),
        ],
    ),
    (
        "wolf",
        &[
            ("level", Value::Text("ERROR")),
            ("tag", Value::Text("beast")),
            ("views", Value::Integer(10)),
            ("price", Value::Float(10.25)),
            ("at", Value::Text("2026-12-01T12:30:00Z")),
            ("ok", Value::Boolean(true)),
        ],
    ),
    ("the wi-fi of the sea", &[("tag", Value::Text("net")), ("views", Value::Integer(10))]),
];

/// Returns the index. `level`, `users.name` and `users.role` are fields that documents bring along.
pub(crate) fn index() -> Index {
    let builder = Index::builder().dram_bytes(64 << 20).text_field("title");
    let builder = builder.field("tag", FieldKind::Keyword).field("views", FieldKind::Integer);
    let builder = builder.field("price", FieldKind::Float).field("ok", FieldKind::Boolean);
    let index = builder.field("at", FieldKind::Time(Default::default())).open().unwrap();
    for (key, (title, values)) in (1..).zip(DOCUMENTS) {
        let key = key.to_string();
        let mut document = Document::new().key(&key).field("title", title);
        for (name, value) in values {
            document = document.field(name, *value);
        }
        index.add(document).unwrap();
    }
    index
}

/// Returns the clause of a query.
pub(crate) fn clause(index: &Index, query: &str) -> Result<Clause, Refusal> {
    let schema = index.schema();
    query::clause(&Json::parse(query.as_bytes())?, &Context { schema: &schema, now: NOW })
}

/// Returns the keys that a query finds, ascending.
pub(crate) fn found(index: &Index, query: &str) -> Result<String, Refusal> {
    let clause = clause(index, query)?;
    let searcher = index.searcher();
    let hits = searcher.search(clause, Search::best(100)).map_err(|error| Refusal::from(&error))?;
    let mut keys = hits.keys().unwrap();
    keys.sort();
    Ok(keys.join(" "))
}

/// Returns an index that all cases of a property share.
pub(crate) fn shared() -> &'static Index {
    static INDEX: std::sync::OnceLock<Index> = std::sync::OnceLock::new();
    INDEX.get_or_init(index)
}
