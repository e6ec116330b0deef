//! Fields of random documents: their values, and what is asked of them.

use std::ops::Bound;

use proptest::prelude::*;
use spirit::schema::TimeUnit;
use spirit::{Analyzer, Builder, Clause, Document, FieldKind, Value};
use spirit_oracle as oracle;

/// The values of a document's fields, in the order given.
pub(crate) type Fields = Vec<(String, oracle::Value)>;

/// All fields.
const NAMES: [&str; 6] = ["title", "channel", "views", "score", "at", "flag"];

/// An index with these fields.
pub(crate) fn declared(options: Builder) -> Builder {
    options
        .field("title", FieldKind::Text(Analyzer::Simple))
        .field("channel", FieldKind::Keyword)
        .field("views", FieldKind::Integer)
        .field("score", FieldKind::Float)
        .field("at", FieldKind::Time(TimeUnit::Milliseconds))
        .field("flag", FieldKind::Boolean)
}

/// The document of a text and these values.
pub(crate) fn document<'d>(text: &'d str, fields: &'d Fields) -> Document<'d> {
    let value = |given: &'d oracle::Value| match given {
        oracle::Value::Text(text) | oracle::Value::Words(text) => Value::Text(text),
        oracle::Value::Integer(number) => Value::Integer(*number),
        oracle::Value::Float(number) => Value::Float(*number),
        oracle::Value::Time(time) => Value::Time(*time),
        oracle::Value::Boolean(yes) => Value::Boolean(*yes),
    };
    let text = Document::new().text(text);
    fields.iter().fold(text, |document, (name, given)| document.field(name, value(given)))
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (0u32..6).prop_map(|n| format!("w{n}")),
        1 => (0u32..400).prop_map(|n| format!("w{n}")),
    ]
}

fn integer() -> impl Strategy<Value = i64> {
    prop_oneof![4 => -9i64..9, 2 => 0i64..70_000, 1 => Just(i64::MIN), 1 => Just(i64::MAX)]
}

fn float() -> impl Strategy<Value = f64> {
    let edges = prop::sample::select(vec![0.0, -0.0, f64::MAX, f64::NEG_INFINITY, 5e-324]);
    prop_oneof![3 => (-9i64..9).prop_map(|n| n as f64 / 2.0), 1 => -1e9..1e9f64, 1 => edges]
}

/// Moments of which some share a day.
fn moment() -> impl Strategy<Value = i64> {
    (0i64..20, 0i64..4).prop_map(|(day, part)| day * 86_400_000 + part * 20_000_000)
}

fn value_of(name: &'static str) -> BoxedStrategy<oracle::Value> {
    use oracle::Value::{Boolean, Float, Integer, Text, Time, Words};
    match name {
        "title" => prop::collection::vec(word(), 0..5).prop_map(|w| Words(w.join(" "))).boxed(),
        "channel" => prop_oneof![9 => word(), 1 => Just(String::new())].prop_map(Text).boxed(),
        "views" => integer().prop_map(Integer).boxed(),
        "score" => float().prop_map(Float).boxed(),
        "at" => moment().prop_map(Time).boxed(),
        _ => any::<bool>().prop_map(Boolean).boxed(),
    }
}

/// None for every other document; some have several values of one field.
pub(crate) fn fields() -> impl Strategy<Value = Fields> {
    let field = prop::sample::select(&NAMES[..])
        .prop_flat_map(|name| value_of(name).prop_map(move |value| (name.to_owned(), value)));
    prop_oneof![Just(Vec::new()), prop::collection::vec(field, 1..8)]
}

/// A value as it is written in a query.
fn written(name: &'static str) -> BoxedStrategy<String> {
    match name {
        "title" | "channel" => word().boxed(),
        "views" => integer().prop_map(|n| n.to_string()).boxed(),
        "score" => (-9i64..9).prop_map(|n| (n as f64 / 2.0).to_string()).boxed(),
        "at" => moment().prop_map(|time| time.to_string()).boxed(),
        _ => any::<bool>().prop_map(|yes| yes.to_string()).boxed(),
    }
}

fn end(name: &'static str) -> impl Strategy<Value = Bound<String>> {
    prop_oneof![
        1 => Just(Bound::Unbounded),
        3 => written(name).prop_map(Bound::Included),
        2 => written(name).prop_map(Bound::Excluded),
    ]
}

/// What is asked of one field: a value, a range, a set, or whether there is any.
pub(crate) fn asked_of_field() -> impl Strategy<Value = Clause> {
    prop::sample::select(&NAMES[..]).prop_flat_map(|name| {
        prop_oneof![
            3 => written(name).prop_map(move |value| Clause::value(name, value)),
            4 => (end(name), end(name))
                .prop_map(move |(from, to)| Clause::Range { field: name.to_owned(), from, to }),
            2 => prop::collection::vec(written(name), 0..4)
                .prop_map(move |values| Clause::one_of(name, values)),
            1 => Just(Clause::exists(name)),
        ]
    })
}
