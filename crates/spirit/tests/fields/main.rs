//! Documents with fields against the naive index: random schemas and documents, flushed, engraved, merged, closed and killed
//! between the operations. Terms are found in their field alone, documents are given back as they came, and the values of rows, in
//! the columns of their segment or not flushed yet, are those of their documents.

mod act;
mod asks;
mod columns;
mod facets;
mod naive;
mod room;
mod rules;
mod stages;
#[path = "../support/mod.rs"]
mod support;
mod widening;

use std::collections::BTreeSet;

use act::{Act, Given, act};
use naive::{positions, stored, terms, values};
use proptest::prelude::*;
use spirit::lab::FieldId;
use spirit::lab::{EngravePolicy, PointerUpdate};
use spirit::schema::{FieldError, Schema, TimeUnit};
use spirit::{
    Analyzer, Batch, Document, FieldKind, Index, Mode, OnFull, Query, Search, Value, WriteError,
};
use spirit_index::ground::SegmentId;
use spirit_index::ground::Term;
use spirit_index::ground::{RowValue, ValueKind};
use spirit_index::snapshot::Snapshot;
use spirit_oracle::{self as oracle, Oracle};
use support::columns::check_columns;
use support::directory::Directory;
use support::field_lengths::check_field_lengths;

#[derive(Clone, Copy, Debug)]
struct Policy {
    executors: usize,
    engrave: EngravePolicy,
    pointer_update: PointerUpdate,
    merge_after: usize,
    store: bool,
    positions: bool,
    volatile: bool,
    /// The kind of `channel`: text if nothing is declared.
    declared: bool,
}

fn policy() -> impl Strategy<Value = Policy> {
    let engrave = prop_oneof![Just(EngravePolicy::Eager), Just(EngravePolicy::Lazy)];
    let update = prop_oneof![Just(PointerUpdate::Eager), Just(PointerUpdate::Lazy)];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (1usize..3, engrave, update, 1usize..4, flags).prop_map(
        |(executors, engrave, pointer_update, merge_after, flags)| Policy {
            executors,
            engrave,
            pointer_update,
            merge_after,
            store: flags.0,
            positions: flags.1,
            volatile: flags.2,
            declared: flags.3,
        },
    )
}

fn open(directory: &Directory, policy: Policy) -> Index {
    let executors = policy.executors as u64;
    let mut options = Index::builder()
        .executors(policy.executors)
        .dram_bytes(executors * (4 << 20))
        .segment_bytes(64 << 10)
        .document_bytes_max(64 << 10)
        .store(policy.store)
        .positions(policy.positions)
        .analyzer(Analyzer::Simple)
        .on_full(OnFull::Refuse);
    if policy.declared {
        options = options
            .field("channel", FieldKind::Keyword)
            .field("score", FieldKind::Float)
            .field("seen", FieldKind::Time(TimeUnit::Seconds))
            .field("body.part", FieldKind::Text(Analyzer::English));
    }
    if policy.volatile {
        return options.mode(Mode::Volatile).open().unwrap();
    }
    options
        .directory(directory.path())
        .engrave(policy.engrave)
        .pointer_update(policy.pointer_update)
        .merge_after(policy.merge_after)
        .nvm_bytes(executors * (16 << 20))
        .log_bytes(512 << 10)
        .open()
        .unwrap()
}

fn key(number: Option<u8>) -> Option<String> {
    let long = |n| if n % 3 == 0 { "withalongkey" } else { "" };
    number.map(|n| format!("k{n}{}", long(n)))
}

fn value(given: &oracle::Value) -> Value<'_> {
    match given {
        oracle::Value::Text(text) | oracle::Value::Words(text) => Value::Text(text),
        oracle::Value::Integer(number) => Value::Integer(*number),
        oracle::Value::Float(number) => Value::Float(*number),
        oracle::Value::Time(time) => Value::Time(*time),
        oracle::Value::Boolean(yes) => Value::Boolean(*yes),
    }
}

fn given<'a>(key: &'a Option<String>, text: &'a str, fields: &'a [Given]) -> Document<'a> {
    let mut document = Document::new().text(text);
    if let Some(key) = key {
        document = document.key(key);
    }
    fields.iter().fold(document, |document, (name, given)| document.field(name, value(given)))
}

/// Whether a document's first values make the schema such that all its values fit: what is not declared has the kind of the first.
fn fits(schema: &Schema, fields: &[Given]) -> bool {
    let mut grown = schema.clone();
    let values = || fields.iter().map(|(name, given)| (&**name, value(given)));
    grown.grow(values()).is_ok() && grown.encode(values(), &mut Vec::new()).is_ok()
}

/// The values as the index holds them: in a field of integers a float is the integer that it is. One
/// that was widened has no -0.0, since it had none before.
fn held(schema: &Schema, fields: &[Given]) -> Vec<Given> {
    let is_widened = |name: &str| schema.by_name(name).is_some_and(|field| field.is_widened());
    let held = |(name, given): &Given| match (schema.by_name(name).map(|field| field.kind), given) {
        (Some(FieldKind::Float), oracle::Value::Float(0.0)) if is_widened(name) => {
            (name.clone(), oracle::Value::Float(0.0))
        }
        (Some(FieldKind::Integer), oracle::Value::Float(number)) => {
            (name.clone(), oracle::Value::Integer(*number as i64))
        }
        (Some(FieldKind::Float), oracle::Value::Integer(number)) => {
            (name.clone(), oracle::Value::Float(*number as f64))
        }
        _ => (name.clone(), given.clone()),
    };
    fields.iter().map(held).collect()
}

/// What the schema has widened, the naive index has as floating-point numbers.
fn widen(index: &Index, oracle: &mut Oracle) {
    index
        .schema()
        .fields()
        .iter()
        .filter(|field| field.is_widened())
        .for_each(|field| oracle.widen(&field.name));
}

fn add(index: &Index, oracle: &mut Oracle, number: Option<u8>, text: &str, fields: &[Given]) {
    let key = key(number);
    let before = index.schema().fields().len();
    let fits = fits(&index.schema(), fields);
    let added = index.add(given(&key, text, fields));
    if fits {
        let held = held(&index.schema(), fields);
        let expected = oracle.add_document(key.as_deref(), text, held);
        let number = added.unwrap().to_string();
        assert_eq!(key.as_ref().unwrap_or(&number), &expected);
        widen(index, oracle);
    } else {
        assert!(matches!(added, Err(WriteError::Field(FieldError::Misfit { .. }))), "{added:?}");
        assert_eq!(index.schema().fields().len(), before, "what is refused leaves nothing");
    }
}

fn apply(index: &Index, oracle: &mut Oracle, act: &Act) {
    match act {
        Act::Add(number, text, fields) => add(index, oracle, *number, text, fields),
        Act::Many(documents, grouped) => {
            let keys: Vec<_> = documents.iter().map(|(number, ..)| key(*number)).collect();
            let all = documents.iter().zip(&keys);
            let all: Vec<_> =
                all.map(|((_, text, fields), key)| given(key, text, fields)).collect();
            // Over several executors a group has another order.
            let can_group = index.settings().mode == Mode::Crash && index.settings().executors == 1;
            let added = if *grouped && can_group {
                let batch = Batch::from_iter(&all).offset(b"offset");
                index.write(batch).map(|()| all.len() as u64).map_err(|_| 0)
            } else {
                index.add_all(&all).map_err(|error| match error {
                    WriteError::AfterSome { added, .. } => added,
                    other => panic!("{other}"),
                })
            };
            let added = added.unwrap_or_else(|added| added) as usize;
            for ((_, text, fields), key) in documents.iter().zip(&keys).take(added) {
                oracle.add_document(key.as_deref(), text, held(&index.schema(), fields));
            }
            widen(index, oracle);
        }
        Act::Delete(number) => {
            let key = key(Some(*number)).unwrap();
            assert_eq!(index.delete(&key).unwrap(), oracle.delete(&key));
        }
        Act::Fill(count) => {
            for n in 0..*count {
                let text = format!("w{} fill{}", n % 3, n % 70);
                let fields = if n % 4 == 0 {
                    vec![]
                } else {
                    let title = oracle::Value::Text(format!("w{} title{n}", n % 5));
                    vec![
                        ("title".to_owned(), title),
                        ("views".into(), oracle::Value::Integer(n.into())),
                    ]
                };
                add(index, oracle, None, &text, &fields);
            }
        }
        Act::Misfit => {
            add(index, oracle, None, "w1", &[("flag".into(), oracle::Value::Boolean(true))]);
            let refused = index.add(Document::new().text("w0").field("flag", 3));
            assert!(matches!(refused, Err(WriteError::Field(FieldError::Misfit { .. }))));
        }
        Act::Ask(ask) => asks::check(index, oracle, ask),
        Act::Flush => index.flush().unwrap(),
        Act::Reopen | Act::Kill => {}
    }
}

fn check(index: &Index, oracle: &Oracle) {
    index.settle();
    let schema = index.schema();
    let newest_first: Vec<_> = oracle.documents().collect::<Vec<_>>().into_iter().rev().collect();
    let terms_of: Vec<_> = newest_first.iter().map(|document| terms(&schema, document)).collect();
    let mut reader = index.reader().unwrap();
    let all: BTreeSet<(FieldId, Vec<u8>)> = terms_of
        .iter()
        .flatten()
        .flat_map(|(field, terms)| terms.iter().map(|term| (*field, term.clone())))
        .chain((0..9).map(|field| (FieldId(field), b"w1".to_vec())))
        .collect();
    // The rare words of what fills are many.
    for (field, term) in all.iter().filter(|(_, term)| !term.starts_with(b"title")) {
        let has = |terms: &Vec<(FieldId, Vec<Vec<u8>>)>| {
            terms.iter().any(|(of, terms)| of == field && terms.contains(term))
        };
        let expected = newest_first.iter().zip(&terms_of).filter(|(_, terms)| has(terms));
        let expected: Vec<_> = expected.map(|(document, _)| document.key.clone()).collect();
        let query = Query::of_term(*field, term).unwrap();
        assert_eq!(reader.count(&query).unwrap(), expected.len() as u64, "{field:?} {term:?}");
        let found =
            reader.search(&query, Search::newest(Search::HITS_MAX)).unwrap().keys().unwrap();
        assert_eq!(found, expected, "{field:?} {term:?}");
    }
    if index.settings().store {
        check_columns(index).unwrap();
        check_field_lengths(index);
    }
    facets::check_facets(index, &newest_first);
    let hits = reader.search("*", Search::newest(Search::HITS_MAX)).unwrap();
    assert_eq!(hits.keys().unwrap(), newest_first.iter().map(|d| &*d.key).collect::<Vec<_>>());
    for (at, document) in newest_first.iter().enumerate() {
        if !index.settings().store {
            break;
        }
        let found = hits.get(at).unwrap().stored().cloned().unwrap();
        let fields = document.fields.iter();
        let fields: Vec<_> =
            fields.map(|(name, given)| (name.clone(), stored(&schema, name, given))).collect();
        assert_eq!((found.text, found.fields), (document.text.clone(), fields));
    }
    let addresses: Vec<_> = hits.rows().collect();
    let memories: Vec<_> = index.memories().collect();
    for ((executor, segment, local), document) in addresses.into_iter().zip(&newest_first) {
        let snapshot = Snapshot::take(memories[executor as usize]);
        let Some(segment) = snapshot.fresh().find(|fresh| fresh.id().0 == segment) else {
            let segment = snapshot.of(SegmentId(segment));
            columns::check_row(&schema, &segment, local, document);
            continue;
        };
        let bytes_of = |value: RowValue| match value.kind {
            ValueKind::Text => {
                u64::from(segment.length_of(value.field, local)).to_le_bytes().to_vec()
            }
            ValueKind::Keyword => {
                let record = segment.extent().record(value.bits as u32);
                record.key().low.to_le_bytes().to_vec()
            }
            _ => value.bits.to_le_bytes().to_vec(),
        };
        let current = |schema: &Schema, value: RowValue| {
            let is_widened = schema.get(value.field).is_some_and(|field| field.is_widened());
            if is_widened && value.kind == ValueKind::Integer {
                let number = value.bits.cast_signed() as f64;
                return (value.field, ValueKind::Float, number.to_bits().to_le_bytes().to_vec());
            }
            (value.field, value.kind, bytes_of(value))
        };
        let mut found: Vec<_> =
            segment.values(local).map(|value| current(&schema, value)).collect();
        // A length has two.
        found.dedup_by(|b, a| b.1 == ValueKind::Text && (a.0, a.1) == (b.0, b.1));
        let mut expected = values(&schema, document);
        for (field, kind, bytes) in &mut expected {
            if *kind == ValueKind::Keyword {
                *bytes = Term::new(*field, bytes).unwrap().key.low.to_le_bytes().to_vec();
            }
        }
        assert_eq!(found, expected, "{document:?}");
        if index.settings().positions {
            let row = segment.vector_row(local);
            let ordinals = segment.vectors().ordinals(row.vector(), row.tokens());
            let found = ordinals.map(|o| o.map(|o| segment.extent().record(o).key()));
            let expected = positions(&schema, document);
            assert_eq!(found.collect::<Vec<_>>(), expected, "{document:?}");
        }
    }
}

fn run(policy: Policy, acts: &[Act]) {
    let mut directory = Directory::new();
    let mut index = open(&directory, policy);
    let mut oracle = Oracle::default();
    for act in acts {
        apply(&index, &mut oracle, act);
        let is_restart = matches!(act, Act::Reopen | Act::Kill);
        if !is_restart || policy.volatile {
            continue;
        }
        check(&index, &oracle);
        let fields = index.schema().fields().to_vec();
        if matches!(act, Act::Kill) {
            index.settle();
            let killed = directory.killed();
            drop(index);
            directory = killed;
        } else {
            index.close().unwrap();
        }
        index = open(&directory, policy);
        assert_eq!(index.schema().fields(), fields);
        check(&index, &oracle);
    }
    check(&index, &oracle);
    if !policy.volatile {
        index.close().unwrap();
        let report = Index::check(directory.path()).unwrap();
        assert!(report.is_sound(), "{report}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(150), ..ProptestConfig::default() })]

    #[test]
    fn documents_with_fields_are_those_of_the_naive_index(
        policy in policy(),
        acts in prop::collection::vec(act(), 1..40),
    ) {
        run(policy, &acts);
    }
}
