//! Scores of documents with several fields of text: each by its own lengths, average and number of documents. Long lists, in every form that
//! segments have, with and without early termination.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use spirit::lab::Counts;
use spirit::lab::Parameters;
use spirit::lab::Postings;
use spirit::lab::Worth;
use spirit::query::Word;
use spirit::search::Direction;
use spirit::{
    Analyzer, Batch, Builder, Clause, Document, FieldKind, Index, Query, Search, WriteError,
};
use spirit_oracle::{Collection, Oracle, Value, terms_of};

use crate::support::directory::Directory;
use crate::support::field_lengths::check_field_lengths;
use crate::support::{Chance, join, size_of_run, tiny};

const DOCUMENTS: u64 = 4000;

fn options() -> Builder {
    tiny(1, 64 << 20)
        .segment_bytes(1 << 20)
        .store(true)
        .field("title", FieldKind::Text(Analyzer::Simple))
        .field("note", FieldKind::Text(Analyzer::Simple))
        .field("level", FieldKind::Keyword)
}

/// Words of which the first are frequent; short texts now and then, and long ones.
fn words(chance: &mut Chance, most: u64) -> String {
    let count = if chance.below(9) == 0 { most * 7 } else { chance.below(most + 1) };
    let word = |chance: &mut Chance| format!("w{} ", chance.below(20).min(chance.below(20)));
    (0..count).map(|_| word(chance)).collect()
}

/// Most have a title, few a note, and some no text.
fn fill(index: &Index, oracle: &mut Oracle, chance: &mut Chance) {
    for number in 0..DOCUMENTS {
        let text = if number % 11 == 0 { String::new() } else { words(chance, 30) };
        let (title, note) = (words(chance, 5), words(chance, 12));
        let mut given = vec![("level", ["info", "error"][usize::from(number % 5 == 0)])];
        if number % 10 > 0 {
            given.push(("title", &*title));
        }
        if number % 97 == 0 {
            given.push(("note", &*note));
            given.push(("note", "w1 again"));
        }
        let document = Document::new().text(&text);
        let document = given.iter().fold(document, |all, (name, value)| all.field(name, *value));
        let fields = given.iter().map(|(name, value)| match *name {
            "level" => ((*name).to_owned(), Value::Text((*value).to_owned())),
            _ => ((*name).to_owned(), Value::Words((*value).to_owned())),
        });
        let added = index.add(&document).unwrap();
        assert_eq!(added, number);
        oracle.add_document(None, &text, fields.collect());
        if number % 1500 == 1499 {
            index.flush().unwrap();
        }
    }
}

fn queries() -> Vec<Clause> {
    let of = |field: &str, word: &str| {
        Clause::Term(Word { field: field.to_owned(), text: word.to_owned() })
    };
    let phrase = |field: &str| {
        let words = ["w0", "w1"].map(|word| Some(word.to_owned())).to_vec();
        Clause::Phrase { field: field.to_owned(), words, slop: 0 }
    };
    let begin = |field: &str, words: &[&str], prefix: &str| {
        let words = words.iter().map(|word| Some((*word).to_owned())).collect();
        Clause::PhrasePrefix { field: field.to_owned(), words, prefix: prefix.to_owned() }
    };
    let (text, title, note) = (of("text", "w0"), of("title", "w0"), of("note", "w1"));
    vec![
        title.clone(),
        note.clone(),
        of("title", "w19"),
        of("level", "error"),
        Clause::any([text.clone(), title.clone()]),
        Clause::any([of("text", "w17"), of("title", "w18"), of("title", "w3")]),
        Clause::any([title.clone(), note.clone(), of("level", "error"), of("text", "w12")]),
        Clause::all([text.clone(), title.clone()]),
        Clause::all([of("title", "w0"), of("title", "w1"), of("text", "w2")]),
        Clause::all([of("level", "info"), of("title", "w5")]),
        phrase("title"),
        phrase("text"),
        Clause::any([phrase("title"), text.clone()]),
        begin("title", &["w0"], "w1"),
        begin("note", &["w1", "w0"], "w"),
        begin("level", &[], "err"),
        Clause::any([begin("title", &["w1"], "w").boost(2.0), text.clone()]),
        Clause::all([Clause::any([text, note]), title, Clause::Everything]),
    ]
}

fn best(index: &Index, query: &Query, search: Search) -> (Vec<(String, f32)>, Counts) {
    let mut reader = index.reader().unwrap();
    let hits = reader.search(query, search).unwrap();
    let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.score()).collect();
    (hits.keys().unwrap().into_iter().zip(scores).collect(), hits.counts().unwrap().clone())
}

fn check(index: &Index, oracle: &Oracle) {
    let [lengths, blocks] = check_field_lengths(index);
    let are_packed = index.settings().packed;
    assert!(lengths > DOCUMENTS / 2 && (blocks > 0 || are_packed));
    let schema = index.schema();
    for asked in queries() {
        let query = Query::in_schema(&asked, &schema).unwrap();
        let (all, counts) = best(index, &query, Search::best(10_000).exhaustive());
        let named =
            counts.fields.iter().map(|(id, of)| (schema.get(*id).unwrap().name.clone(), of));
        let fields = named.chain([("text".to_owned(), &counts.statistics)]);
        let collection = Collection {
            fields: fields.map(|(name, of)| (name, (of.documents, of.tokens))).collect(),
            with_term: terms_of(&asked, &|_| true)
                .into_iter()
                .zip(counts.with_term.iter().copied())
                .collect::<HashMap<_, _>>(),
            parameters: Parameters::default(),
            frequency_max: usize::MAX,
        };
        let scores: HashMap<&str, f32> = all.iter().map(|(key, score)| (&**key, *score)).collect();
        assert_eq!(all.len(), oracle.matches(&asked).count(), "{asked}");
        for document in oracle.matches(&asked) {
            let expected = collection.score(&asked, document).unwrap();
            let score = f64::from(scores[&*document.key]);
            let near = (score - expected).abs() <= 1e-4 * expected.max(1e-3);
            assert!(near, "{} scores {score}, not {expected}, by {asked}", document.key);
        }
        for k in [1, 10, 300] {
            for search in [Search::best(k), Search::best(k).windows()] {
                let (found, _) = best(index, &query, search);
                assert_eq!(found, all[..k.min(all.len())], "the best {k} of {asked}");
            }
        }
        check_pages(index, &query, &all);
    }
}

fn check_pages(index: &Index, query: &Query, all: &[(String, f32)]) {
    let mut reader = index.reader().unwrap();
    let (mut paged, mut search) = (Vec::new(), Search::best(13));
    for _ in 0..4 {
        let hits = reader.search(query, search).unwrap();
        paged.extend(hits.keys().unwrap());
        let Some(cursor) = hits.cursor().unwrap() else { break };
        let cursor = cursor.to_string().parse().unwrap();
        search = Search::best(13).after(cursor);
    }
    let expected: Vec<&String> = all.iter().take(4 * 13).map(|(key, _)| key).collect();
    assert!(paged.iter().eq(expected));
}

#[test]
fn fields_are_scored_by_themselves_in_memory() {
    let index = options().open().unwrap();
    let mut oracle = Oracle::default();
    fill(&index, &mut oracle, &mut Chance::new(1));
    check(&index, &oracle);
    index.flush().unwrap();
    index.settle();
    check(&index, &oracle);
}

#[test]
fn fields_are_scored_by_themselves_in_the_second_tier() {
    for (postings, positions) in
        [(Postings::Raw, true), (Postings::Packed, true), (Postings::Packed, false)]
    {
        let directory = Directory::new();
        let options = || {
            let options = options().directory(directory.path()).nvm_bytes(64 << 20);
            options.log_bytes(4 << 20).postings(postings).positions(positions)
        };
        let index = options().open().unwrap();
        let mut oracle = Oracle::default();
        fill(&index, &mut oracle, &mut Chance::new(2));
        index.settle();
        if positions {
            check(&index, &oracle);
        }
        index.close().unwrap();
        let report = Index::check(directory.path()).unwrap();
        assert!(report.is_sound(), "{report}");
        let index = options().open().unwrap();
        index.settle();
        if positions {
            check(&index, &oracle);
        }
    }
}

#[test]
fn a_score_says_which_field_it_is_of() {
    let index = options().open().unwrap();
    let documents = [
        Document::new().text("sea and sky").field("title", "the sea").field("level", "info"),
        Document::new().text("sea").field("title", "an old man and the sea"),
        Document::new().field("title", "sky"),
    ];
    for state in 0..3 {
        if state == 0 {
            for document in &documents {
                index.add(document).unwrap();
            }
        } else {
            index.flush().unwrap();
            index.settle();
        }
        let mut reader = index.reader().unwrap();
        let search = Search::best(9);
        let mut explain =
            |query: &str| reader.explain(query, &search, "0").unwrap().unwrap().tree().clone();
        for (query, length, documents, average) in
            [("text:sea", 3, 2, 2.0), ("title:sea", 2, 3, 3.0), ("title:\"the sea\"", 2, 3, 3.0)]
        {
            let found = explain(query);
            let Worth::Frequency(parts) = &found.worth else { panic!("{found}") };
            let said = (parts.length, parts.documents, parts.average);
            assert_eq!(said, (length, documents, average), "{query} in state {state}");
        }
        // Without a field's name, the best of all texts.
        let (best, title) = (explain("sea"), explain("title:sea"));
        assert_eq!(
            (best.worth, best.value, best.clauses.len()),
            (Worth::Best(0.0), title.value, 3)
        );
        let level = explain("level:info");
        assert_eq!((level.worth, level.value), (Worth::Constant, 1.0));
    }
}

/// A field of text that comes between two pages is not looked into: the second page is of the same query.
#[test]
fn pages_keep_the_fields_of_the_first() {
    let options = Index::builder().dram_bytes(64 << 20);
    let index = options.analyzer(Analyzer::Simple).open().unwrap();
    for n in 0..30 {
        index.add(Document::new().text("sea").field("n", n)).unwrap();
    }
    let orders = [Search::best(10), Search::by_field(10, "n", Direction::Descending)];
    for (number, order) in orders.into_iter().enumerate() {
        let searcher = index.searcher();
        let first = searcher.search("sea*^2 sea", order.clone()).unwrap();
        let title = format!("title{number}");
        index.add(Document::new().text("sea").field(&title, "the sea").field("n", 3)).unwrap();
        let mut keys = first.keys().unwrap();
        let mut cursor = first.cursor().unwrap();
        while let Some(after) = cursor {
            let after = after.to_string().parse().unwrap();
            let hits = searcher.search("sea*^2 sea", order.clone().after(after)).unwrap();
            keys.extend(hits.keys().unwrap());
            cursor = hits.cursor().unwrap();
        }
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 30 + number, "by {order:?}");
        assert_eq!(searcher.count(&format!("{title}:sea")), Ok(1));
    }
}

/// Fields that all documents have, most, or few: those that are dense have arrays of lengths while they are fresh.
#[test]
fn dense_and_sparse_fields_have_lengths_of_their_own() {
    let index = options().dram_bytes(64 << 20).segment_bytes(1 << 20).open().unwrap();
    let words = |count: u64| vec!["heron"; count as usize].join(" ");
    for n in 0..1_000u64 {
        let [title, tag, body] = [words(1 + n % 7), words(1 + n % 5), words(1 + n % 11)];
        let mut document = Document::new().text("all").field("title", &*title);
        if n % 4 != 0 {
            document = document.field("tag", &*tag);
        }
        if n % 9 == 0 {
            document = document.field("body", &*body);
        }
        index.add(document).unwrap();
        if n % 97 == 96 {
            check_field_lengths(&index);
        }
    }
    assert_eq!(check_field_lengths(&index)[0], 1_000 + 750 + 112);
}

/// Rows that are given up since a key of their group finds no place count in no field.
#[test]
fn rows_that_were_given_up_have_no_lengths() {
    let directory = Directory::new();
    let options = options().segment_bytes(64 << 10).directory(directory.path());
    let options = options.nvm_bytes(64 << 20).log_bytes(1 << 20).document_bytes_max(4 << 10);
    let (index, crowd) = (options.open().unwrap(), crate::support::crowd());
    let (memory, mut given_up) = (index.memories().next().unwrap(), 0);
    for group in 0..40u64 {
        let title = format!("all titles of group{group}");
        let document = || Document::new().text("all").field("title", &*title);
        let documents: Vec<_> = (0..200).map(|_| document()).collect();
        index.write(Batch::from_iter(&documents).offset(&group.to_le_bytes())).unwrap();
        check_field_lengths(&index);
        if group % 10 == 3 {
            let keyed = crowd.iter().map(|key| document().key(key));
            let refused = index.write(keyed.collect::<Batch<'_>>()).unwrap_err();
            assert_eq!(refused, WriteError::KeysFull);
            given_up += crate::support::rows_given_up(memory);
            check_field_lengths(&index);
        }
    }
    index.settle();
    assert_eq!(check_field_lengths(&index)[0], 40 * 200);
    assert!(given_up >= 4 * 120, "{given_up} rows of refused groups");
    index.close().unwrap();
    let report = Index::check(directory.path()).unwrap();
    assert!(report.is_sound(), "{report}");
}

/// Whatever a snapshot sees of a field adds up, while documents are added, flushed, engraved and dropped beside it.
#[test]
fn snapshots_add_up_while_segments_move() {
    let directory = Directory::new();
    let options = tiny(1, 3 << 20).directory(directory.path()).nvm_bytes(3 << 20).store(true);
    let options = options.log_bytes(256 << 10).document_bytes_max(64 << 10).merge_after(2);
    let index = options.field("title", FieldKind::Text(Analyzer::Simple)).open().unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let look = || {
            let mut looks = 0;
            while !done.load(Relaxed) {
                check_field_lengths(&index);
                looks += 1;
            }
            looks
        };
        let reader = scope.spawn(look);
        let chance = &mut Chance::new(7);
        for number in 0..4 * size_of_run("SPIRIT_STEPS", 1500) {
            let (key, title) = (format!("k{}", chance.below(2000)), words(chance, 6));
            let document = Document::new().key(&key).text("some text");
            let document =
                if number % 3 == 0 { document } else { document.field("title", &*title) };
            index.add(&document).unwrap();
        }
        done.store(true, Relaxed);
        assert!(join([reader])[0] > 0);
    });
}
