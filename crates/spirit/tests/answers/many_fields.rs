//! Documents of many fields: those whose numbers have a code of two bytes are asked in every way, in every form that segments have,
//! and what the schema has no room for is text.

use std::collections::BTreeMap;

use spirit::facets::{Aggregate, Facet};
use spirit::lab::Postings;
use spirit::search::Direction;
use spirit::{Document, FieldKind, Index, OnFull, Search, Value};

use crate::support::directory::Directory;
use crate::support::{Chance, in_each_form, tiny};

const KEYWORDS: usize = 130;
const NUMBERS: usize = 130;
const TEXTS: usize = 127;
const DOCUMENTS: usize = 1500;

/// The fields of a document: a few of each kind. Those of text have numbers from 261 on.
fn fields_of(n: usize) -> Vec<(String, Field)> {
    let text = |at: usize, word: usize| (format!("t{at}"), Field::Text(format!("heron{word} sea")));
    vec![
        (format!("kw{}", n % (KEYWORDS - 1)), Field::Text(format!("value {}", n % 7))),
        ("kw129".into(), Field::Text(format!("a longer value of keywords {}", n % 5))),
        (format!("i{}", n % (NUMBERS - 1)), Field::Number(n as i64)),
        ("i129".into(), Field::Number((n * 7919 % DOCUMENTS) as i64)),
        text(n % TEXTS, n % 11),
        text(126, n % 300),
    ]
}

#[derive(Clone, Debug)]
enum Field {
    Text(String),
    Number(i64),
}

fn add(index: &Index, n: usize) {
    let fields = fields_of(n);
    let add = |document: Document<'_>| index.add(document).unwrap();
    let value = |field: &Field| match field {
        Field::Text(text) => Value::Text(Box::leak(text.clone().into_boxed_str())),
        Field::Number(number) => Value::Integer(*number),
    };
    let document = Document::new().text("all");
    add(fields.iter().fold(document, |all, (name, field)| all.field(name, value(field))));
}

/// The first document brings every field, in the order of their kinds.
fn add_all_fields(index: &Index) {
    let names =
        |kind: &str, count: usize| (0..count).map(|n| format!("{kind}{n}")).collect::<Vec<_>>();
    let (numbers, texts) = (names("i", NUMBERS), names("t", TEXTS));
    let document = Document::new().text("first");
    let document = numbers.iter().fold(document, |all, name| all.field(name, -1));
    let document = texts.iter().fold(document, |all, name| all.field(name, "nothing else"));
    index.add(document).unwrap();
    let schema = index.schema();
    assert_eq!(schema.fields().len(), 1 + KEYWORDS + NUMBERS + TEXTS);
    assert_eq!(schema.by_name("t0").unwrap().id.0, 261);
    assert!(schema.fields()[261..].iter().all(|field| field.kind.is_text()));
}

fn words(field: &Field) -> Vec<&str> {
    match field {
        Field::Text(text) => text.split(' ').collect(),
        Field::Number(_) => Vec::new(),
    }
}

fn check(index: &Index) {
    let documents: Vec<_> = (0..DOCUMENTS).map(fields_of).collect();
    let count = |is_match: &dyn Fn(&str, &Field) -> bool| {
        let has = |fields: &&Vec<(String, Field)>| fields.iter().any(|(name, f)| is_match(name, f));
        documents.iter().filter(has).count() as u64
    };
    let begins = |wanted: &'static str, prefix: &'static str| {
        move |name: &str, field: &Field| {
            name == wanted && words(field).iter().any(|word| word.starts_with(prefix))
        }
    };
    let is = |wanted: &'static str, word: &'static str| {
        move |name: &str, field: &Field| name == wanted && words(field).contains(&word)
    };
    let mut reader = index.reader().unwrap();
    let mut found = |query: &str| reader.count(query).unwrap();
    assert_eq!(found("t126:heron42"), count(&is("t126", "heron42")));
    assert_eq!(found("t126:\"heron42 sea\""), count(&is("t126", "heron42")));
    assert_eq!(found("t126:\"sea heron42\""), 0);
    assert_eq!(found("t3:heron4"), count(&is("t3", "heron4")));
    assert_eq!(found("t126:heron1*"), count(&begins("t126", "heron1")));
    assert_eq!(found("t126:\"heron1\"*"), count(&begins("t126", "heron1")));
    assert_eq!(found("t126:h?ron29?"), 10 * (DOCUMENTS / 300) as u64);
    assert_eq!(
        found("t126:/heron2?9/"),
        count(&|name, field| {
            is("t126", "heron9")(name, field) || is("t126", "heron29")(name, field)
        })
    );
    assert_eq!(found("t126:xheron299~1"), count(&is("t126", "heron299")));
    assert_eq!(found("t126:[heron297 TO heron299]"), 3 * (DOCUMENTS / 300) as u64);
    assert_eq!(found("kw129:\"a longer value of keywords 3\""), (DOCUMENTS / 5) as u64);
    assert_eq!(found("i129:[10 TO 19]"), 10);
    assert_eq!(found("i129:*"), 1 + DOCUMENTS as u64);
    // Without a field's name, in all 128.
    let anywhere = |word: &'static str| {
        move |name: &str, field: &Field| name.starts_with('t') && words(field).contains(&word)
    };
    assert_eq!(found("heron10"), count(&anywhere("heron10")));
    assert_eq!(found("heron298 sea"), DOCUMENTS as u64);
    assert_eq!(found("heron29?"), 10 * (DOCUMENTS / 300) as u64);
    assert_eq!(found("nothing"), 1);

    let facets =
        [Facet::Terms { field: "kw129".into(), top: 9 }, Facet::Stats { field: "i129".into() }];
    let answers = reader.aggregate("all", &facets).unwrap();
    let [Aggregate::Terms(terms), Aggregate::Stats(Some(stats))] = &answers[..] else {
        panic!("{answers:?}")
    };
    let top: BTreeMap<_, _> = terms.top.iter().cloned().collect();
    let each = |n| (format!("a longer value of keywords {n}"), (DOCUMENTS / 5) as u64);
    assert_eq!(top, (0..5).map(each).collect());
    assert_eq!((stats.min, stats.max), (0.0, (DOCUMENTS - 1) as f64));
    let by = Search::by_field(3, "i129", Direction::Descending);
    let hits = reader.search("all", by).unwrap();
    let value = |hit: spirit::Hit<'_>| hit.sort_value().and_then(|value| value.as_i64());
    let values: Vec<_> = hits.iter().map(value).collect();
    let last = (DOCUMENTS - 1) as i64;
    assert_eq!(values, [0, 1, 2].map(|n| Some(last - n)));
    drop(hits);
    // The rarer a word is in its field, and the shorter the field, the better.
    let best = reader.search("t126:heron7 t7:heron7", Search::best(DOCUMENTS)).unwrap();
    let found = best.len() as u64;
    assert_eq!(
        found,
        count(&|name, field| is("t126", "heron7")(name, field) || is("t7", "heron7")(name, field))
    );
    let pruned = best.keys().unwrap();
    drop(best);
    let exhaustive = Search::best(DOCUMENTS).exhaustive();
    let all = reader.search("t126:heron7 t7:heron7", exhaustive).unwrap().keys().unwrap();
    assert_eq!(pruned, all);
}

#[test]
fn fields_of_two_bytes_are_asked_as_others_are() {
    for postings in [Postings::Raw, Postings::Packed] {
        let directory = Directory::new();
        let options = || {
            let options = tiny(1, 64 << 20).segment_bytes(128 << 10).document_bytes_max(32 << 10);
            let names = (0..KEYWORDS).map(|n| format!("kw{n}"));
            let options = names.fold(options, |all, name| all.field(&name, FieldKind::Keyword));
            let options = options.directory(directory.path()).postings(postings).store(true);
            options.nvm_bytes(64 << 20).log_bytes(1 << 20)
        };
        let index = options().open().unwrap();
        add_all_fields(&index);
        (0..DOCUMENTS).for_each(|n| add(&index, n));
        let index = in_each_form(index, options, check);
        {
            let hits = index.searcher().search("t126:heron299", Search::newest(1)).unwrap();
            let hit = hits.iter().next().unwrap();
            assert_eq!(hit.get("t126").unwrap().unwrap().as_str(), Some("heron299 sea"));
        }
        index.close().unwrap();
        let report = Index::check(directory.path()).unwrap();
        assert!(report.is_sound(), "{report}");
    }
}

/// The strings of a document are words and keywords, so its row has two values for each field of text and more.
#[test]
fn a_document_has_as_many_strings_as_it_may_have_values() {
    const VALUES: usize = 4096;
    let directory = Directory::new();
    let options = || {
        let options = Index::builder().dram_bytes(64 << 20).nvm_bytes(64 << 20);
        options.document_bytes_max(64 << 10).directory(directory.path())
    };
    let values: Vec<_> =
        (0..VALUES).map(|n| (format!("t{}", n % TEXTS), format!("Value {n}"))).collect();
    let document = |values: &'static [(String, String)]| {
        values
            .iter()
            .fold(Document::new().text("all"), |all, (name, value)| all.field(name, value.as_str()))
    };
    let values: &'static [_] = values.leak();
    let index = options().open().unwrap();
    index.add(document(values)).unwrap();
    index.add(Document::new().text("all").field("t0", "Another")).unwrap();
    let check = |index: &Index| {
        let mut reader = index.reader().unwrap();
        for (query, count) in [
            ("t126.keyword:\"Value 4063\"", 1),
            ("t31.keyword:\"Value 4095\"", 1),
            ("t31.keyword:\"value 4095\"", 0),
            ("t31:4095", 1),
            ("t0.keyword:*", 2),
        ] {
            assert_eq!(reader.count(query), Ok(count), "{query}");
        }
        let facets = [0, 31, 126].map(|n| Facet::Cardinality { field: format!("t{n}") });
        let distinct = reader.aggregate("all", &facets).unwrap();
        let wanted = [0, 31, 126].map(|n| {
            Aggregate::Cardinality((VALUES - n).div_ceil(TEXTS) as u64 + u64::from(n == 0))
        });
        assert_eq!(distinct, wanted);
        let hits = reader.search("all", Search::by_field(2, "t0", Direction::Ascending)).unwrap();
        let first = hits.iter().map(|hit| hit.sort_value().unwrap().as_str().unwrap().to_owned());
        assert_eq!(first.collect::<Vec<_>>(), ["Another", "Value 0"]);
    };
    in_each_form(index, options, check);
}

/// A stream that brings ever new members: all of its documents go in, and all of their values are found.
#[test]
fn what_a_schema_has_no_room_for_is_found_as_text() {
    let directory = Directory::new();
    let options = || {
        let options = Index::builder().dram_bytes(64 << 20).nvm_bytes(64 << 20).store(true);
        options.directory(directory.path())
    };
    let index = options().open().unwrap();
    for n in 0..1100 {
        let (number, text) = (format!("n.{n}"), format!("text.{n}"));
        let document = Document::new().text("all").field(&number, n);
        index.add(document.field(&text, "grey heron")).unwrap();
    }
    let check = |index: &Index| {
        let fields = index.schema().fields().len();
        assert_eq!(fields, 1024 + 1);
        let searcher = index.searcher();
        for (query, count) in [
            ("all", 1100),
            // Also without a name.
            ("\"grey heron\"", 1100),
            ("n.800:800", 1),
            ("text.126:heron", 1),
            ("_more:\"text.127: grey heron\"", 1),
            ("_more:\"n.1099: 1099\"", 1),
            ("\"n.1099: 1099\"", 1),
            ("_more:grey", 1100 - 127),
        ] {
            assert_eq!(searcher.count(query), Ok(count), "{query}");
        }
        let hits = searcher.search("_more:\"n.1099: 1099\"", Search::newest(1)).unwrap();
        let hit = hits.iter().next().unwrap();
        let stored = format!("{:?}", hit.stored().unwrap());
        assert!(
            stored.contains("n.1099: 1099") && stored.contains("text.1099: grey heron"),
            "{stored}"
        );
    };
    check(&index);
    index.close().unwrap();
    check(&options().open().unwrap());
}

/// Each segment has a column for nearly each of a thousand fields. The least heap holds what is in
/// flight, so that nothing is refused.
#[test]
fn the_least_heap_is_enough_for_a_thousand_columns() {
    let directory = Directory::new();
    let options = |dram_bytes| {
        let options = Index::builder().dram_bytes(dram_bytes).segment_bytes(64 << 10);
        options.nvm_bytes(64 << 20).on_full(OnFull::Refuse).directory(directory.path())
    };
    let mut sizes = (16..).map(|extents| extents * (64 << 10));
    let index = sizes.find_map(|dram_bytes| options(dram_bytes).open().ok()).unwrap();
    let names: Vec<String> = (0..1000).map(|n| format!("f{n}")).collect();
    let mut chance = Chance::new(5);
    for n in 0..20_000 {
        let text = format!("all w{n}");
        let document = (0..20).fold(Document::new().text(&text), |all, _| {
            let name = &names[chance.below(1000) as usize];
            all.field(name, chance.below(1 << 62) as i64)
        });
        index.add(document).unwrap();
    }
    assert_eq!(index.searcher().count("all"), Ok(20_000));
}
