//! What is done to an index of documents with fields.

use proptest::prelude::*;
use spirit_oracle as oracle;

use crate::asks::{Ask, ask};

/// Fields that documents have: a name has values of one kind, some of which are declared to be of another that they fit.
const NAMES: [&str; 8] =
    ["title", "body.part", "channel", "views", "score", "@timestamp", "flag", "seen"];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        (0u32..12).prop_map(|n| format!("w{n}")),
        (0u32..9).prop_map(|n| format!("averylongwordthatdoesnotfitinakey{n}")),
    ]
}

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(word(), 0..7).prop_map(|words| words.join(" "))
}

pub(crate) type Given = (String, oracle::Value);

fn value_of(name: &'static str) -> BoxedStrategy<oracle::Value> {
    use oracle::Value::{Boolean, Float, Integer, Text, Time};
    match name {
        "title" | "body.part" => words().prop_map(Text).boxed(),
        "channel" => prop_oneof![word(), Just(String::new())].prop_map(Text).boxed(),
        // Not declared: whole numbers, until another number comes.
        "views" => {
            let edges = [i64::MIN, i64::MAX, 1 << 53, (1 << 53) + 1, i64::MAX - 511];
            let edge = prop::sample::select(edges.to_vec());
            prop_oneof![
                12 => any::<i64>().prop_map(Integer),
                12 => (-9i64..9).prop_map(Integer),
                8 => edge.prop_map(Integer),
                1 => (-18i64..18).prop_map(|n| Float(n as f64 / 2.0)),
                1 => prop_oneof![-1e19..1e19, Just(9.3e18), Just(0.5)].prop_map(Float),
            ]
            .boxed()
        }
        "score" => {
            let edges = [0.0, -0.0, f64::MIN, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, 5e-324];
            let edge = prop::sample::select(edges.to_vec());
            prop_oneof![
                (-1e9..1e9).prop_map(Float),
                edge.prop_map(Float),
                (-9i64..9).prop_map(Integer)
            ]
            .boxed()
        }
        "@timestamp" => (0i64..9_000_000_000).prop_map(Time).boxed(),
        "seen" => (0i64..9_000_000).prop_map(Integer).boxed(),
        _ => any::<bool>().prop_map(Boolean).boxed(),
    }
}

fn field() -> impl Strategy<Value = Given> {
    let name = prop::sample::select(&NAMES[..]);
    name.prop_flat_map(|name| value_of(name).prop_map(move |value| (name.to_owned(), value)))
}

#[derive(Clone, Debug)]
pub(crate) enum Act {
    Add(Option<u8>, String, Vec<Given>),
    /// Several of one call, and as a group.
    Many(Vec<(Option<u8>, String, Vec<Given>)>, bool),
    Delete(u8),
    /// This many documents with fields and without.
    Fill(u16),
    /// One with a value that does not fit its field.
    Misfit,
    Flush,
    Ask(Box<Ask>),
    Reopen,
    Kill,
}

fn document() -> impl Strategy<Value = (Option<u8>, String, Vec<Given>)> {
    let key = prop_oneof![Just(None), (0u8..30).prop_map(Some)];
    (key, words(), prop::collection::vec(field(), 0..9))
}

pub(crate) fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => document().prop_map(|(key, text, fields)| Act::Add(key, text, fields)),
        2 => (prop::collection::vec(document(), 0..9), any::<bool>()).prop_map(|(d, g)| Act::Many(d, g)),
        1 => (0u8..30).prop_map(Act::Delete),
        1 => (0u16..600).prop_map(Act::Fill),
        1 => Just(Act::Misfit),
        2 => Just(Act::Flush),
        4 => ask().prop_map(|ask| Act::Ask(Box::new(ask))),
        1 => Just(Act::Reopen),
        1 => Just(Act::Kill),
    ]
}
