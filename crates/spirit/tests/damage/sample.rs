//! Small indexes with a bit of everything in them: segments that are merged and some that are not, keys of each kind, dead
//! rows, dense lists, long terms, documents with fields, and operations that are in the log alone.

use std::collections::BTreeMap;

use spirit::facets::{DateInterval, Facet};
use spirit::lab::Postings;
use spirit::search::Direction;
use spirit::{
    Analyzer, Builder, Document, FieldKind, HitError, Index, OnFull, Reader, Search, SearchError,
    WriteError,
};

use crate::support::directory::Directory;

/// How the samples are opened. What they are made with they keep.
pub(crate) fn options(directory: &Directory) -> Builder {
    Index::builder()
        .directory(directory.path())
        .dram_bytes(3 << 19)
        .segment_bytes(64 << 10)
        .nvm_bytes(640 << 10)
        .log_bytes(64 << 10)
        .document_bytes_max(4 << 10)
        .readers_max(4)
        .store(true)
        .analyzer(Analyzer::Simple)
        .on_full(OnFull::DropOldest)
        .field("channel", FieldKind::Keyword)
}

/// Values of a field of keywords.
const CHANNELS: [&str; 3] = ["news", "talk", "a channel with a long name"];

/// The text of document `number`: a word that all have, frequent, rarer and rare ones, and a long one.
fn text(number: usize) -> String {
    let long = number % 13;
    let dots = "..".repeat(number % 5);
    format!("all m{} r{} averyveryverylongword{long}{dots} all", number % 7, number % 151)
}

/// The `number`th explicit key: short, long, or a number.
pub(crate) fn key(number: usize) -> String {
    match number % 3 {
        0 => format!("k{number}"),
        1 => format!("a_key_that_does_not_fit_in_a_row_{number}"),
        _ => format!("{}", 1_000_000 + number),
    }
}

/// All segments are merged, and some operations are in the log.
pub(crate) fn settled() -> Directory {
    settled_with(Postings::Raw)
}

/// The same with packed lists.
pub(crate) fn packed() -> Directory {
    settled_with(Postings::Packed)
}

fn settled_with(postings: Postings) -> Directory {
    let directory = Directory::new();
    let index = filled(options(&directory).postings(postings));
    index.close().unwrap();
    directory
}

/// The same with raw lists, killed before any segment was merged: the next start does that. Nothing is in the log alone, whose end
/// nobody can tell from zeros before the index is closed.
pub(crate) fn to_be_merged() -> Directory {
    let directory = Directory::new();
    let index = filled(options(&directory).merge_after(16));
    index.flush().unwrap();
    let states = index.stats().unwrap().segments.into_iter().map(|segment| segment.state);
    assert!(states.skip(1).all(|state| state == "engraved"));
    let killed = directory.killed();
    drop(index);
    killed
}

fn filled(options: Builder) -> Index {
    let index = options.open().unwrap();
    for segment in 0..4 {
        for number in 0..[700, 90, 120, 60][segment] {
            index.add(&text(segment * 1000 + number)).unwrap();
            if number % 9 == 0 {
                put_with_fields(&index, &key(number / 9), number + 5);
            }
        }
        for number in 0..10 {
            index.delete(&key(segment * 5 + number * 7)).unwrap();
            index.delete(&(segment * 60 + number).to_string()).unwrap();
        }
        index.flush().unwrap();
    }
    for number in 0..30 {
        index.add(&text(5000 + number)).unwrap();
        put_with_fields(&index, &key(number * 3 + 1), number);
        index.delete(&key(number * 4)).unwrap();
    }
    index
}

/// A document with fields, of which there are more than there were now and then.
pub(crate) fn put_with_fields(index: &Index, key: &str, number: usize) {
    let text = text(number);
    let document = Document::new().key(key).text(&text).field("views", number as i64);
    let document = document.field("title", "all red").field("title", "m3");
    let document =
        document.field("channel", CHANNELS[number / 9 % 3]).field("odd", number % 2 == 1);
    let document = document.field("views", number as i64 / 5).field("score", number as f64 / 8.0);
    let later = if number.is_multiple_of(4) {
        document.field("seen", "2026-11-22T19:00:00Z")
    } else {
        document
    };
    index.add(&later).unwrap();
}

/// The merged dictionary is full, so that the newest segments are not merged.
pub(crate) fn unmerged() -> Directory {
    let directory = Directory::new();
    with_unique_words(options(&directory));
    directory
}

/// The same with packed lists, which the dictionary has always room for: merged is what is closed, not what was killed.
pub(crate) fn packed_unmerged() -> Directory {
    let directory = Directory::new();
    let index = with_unique_words(options(&directory).postings(Postings::Packed).merge_after(16));
    let killed = directory.killed();
    drop(index);
    killed
}

fn with_unique_words(options: Builder) -> Index {
    let index = options.on_full(OnFull::Refuse).open().unwrap();
    for segment in 0..3 {
        for number in 0..350 {
            index
                .put(&key(number), &format!("all unique{segment}x{number} m{}", number % 7))
                .unwrap();
        }
        let flushed = index.flush();
        assert!(matches!(flushed, Ok(()) | Err(WriteError::HeapFull)), "{flushed:?}");
    }
    index
}

/// How [`deleted`] is opened: with larger segments, and a log for them.
pub(crate) fn larger(directory: &Directory) -> Builder {
    let options = options(directory).segment_bytes(256 << 10).dram_bytes(5 << 20);
    options.nvm_bytes(4 << 20).log_bytes(1 << 20)
}

/// Segments with packed lists of which every third row is dead, and whose death stamps take pages of their own.
pub(crate) fn deleted() -> Directory {
    let directory = Directory::new();
    let index = larger(&directory).postings(Postings::Packed).open().unwrap();
    for number in 0..6000 {
        index.add(&format!("m{}", number % 7)).unwrap();
    }
    index.flush().unwrap();
    for number in (0..6000).step_by(3) {
        assert!(index.delete(&number.to_string()).unwrap());
    }
    index.close().unwrap();
    directory
}

/// The oldest segments are gone, and others lie where they lay.
pub(crate) fn retained() -> Directory {
    let directory = Directory::new();
    let index = options(&directory).open().unwrap();
    let mut number = 0;
    while index.stats().unwrap().dropped_segments < 5 {
        for _ in 0..200 {
            index.add(&text(number)).unwrap();
            index.put(&key(number % 50), &text(number)).unwrap();
            number += 1;
        }
    }
    // With operations in the log a start would drop more.
    index.flush().unwrap();
    index.close().unwrap();
    directory
}

/// Of each kind one.
pub(crate) fn all() -> [Directory; 5] {
    [settled(), unmerged(), retained(), packed(), packed_unmerged()]
}

/// Next to nothing: quickly opened.
pub(crate) fn small() -> Directory {
    let directory = Directory::new();
    let index = options(&directory).nvm_bytes(544 << 10).open().unwrap();
    for number in 0..40 {
        index.add(&text(number)).unwrap();
    }
    index.flush().unwrap();
    index.close().unwrap();
    let index = options(&directory).open().unwrap();
    index.put("k0", &text(7)).unwrap();
    index.close().unwrap();
    directory
}

/// What is asked of any sample.
const QUERIES: [&str; 25] = [
    "all",
    "\"all m3\"",
    "\"m3 all\"~4",
    "\"unique0x7 m0\"",
    "*",
    "m3",
    "r7",
    "r149",
    "averyveryverylongword4",
    "unique0x7",
    "unique2x349",
    "nothinglikeit",
    "all AND m3",
    "m1 AND r8",
    "m1 OR r8 OR r9",
    "+all -m2",
    "averyveryverylongword1 AND m2",
    "key:k0",
    "key:k42",
    "key:a_key_that_does_not_fit_in_a_row_1",
    "key:a_key_that_does_not_fit_in_a_row_25",
    "key:1000002",
    "key:1000047",
    "key:65",
    "key:165",
];

/// The answer where damage was found.
pub(crate) const REFUSED: &str = "refused";

/// That answer, if an error says so clearly.
fn refused(error: SearchError) -> String {
    let text = error.to_string();
    let is_clear = text.contains(" at 0x") && text.contains("spirit salvage");
    assert!(matches!(error, SearchError::Corrupt { .. }) && is_clear, "{text}");
    REFUSED.to_owned()
}

/// Counts, newest hits and their texts, of all of them; the best of some and why, and facets.
pub(crate) fn answers(index: &Index) -> Vec<String> {
    let mut reader = index.reader().unwrap();
    let ask = |query: &str| {
        let count = match reader.count(query) {
            // A root may say that they are not kept.
            Err(error @ SearchError::NoPositions) => return format!("{query}: {error}"),
            Err(error) => return refused(error),
            Ok(count) => count,
        };
        let hits = match reader.search(query, Search::newest(500)) {
            Ok(hits) => hits,
            Err(error) => return refused(error),
        };
        let keys = match hits.keys() {
            Ok(keys) => keys,
            Err(HitError::Corrupt { .. }) => return REFUSED.to_owned(),
            Err(error) => panic!("{error}"),
        };
        let mut texts = Vec::new();
        let read = (0..hits.len())
            .map(|hit| hits.get(hit).unwrap().write_text(&mut texts))
            .filter(Result::is_ok);
        let read = read.count();
        if read < hits.len() {
            return REFUSED.to_owned();
        }
        format!("{query}: {count} {keys:?} {read} texts {:x}", crc32c::crc32c(&texts))
    };
    let mut answers: Vec<String> = QUERIES.into_iter().map(ask).collect();
    answers.extend(facets().map(|facet| {
        match reader.aggregate("*", std::slice::from_ref(&facet)) {
            Err(error @ SearchError::Corrupt { .. }) => refused(error),
            // Not every sample has every field.
            found => format!("{facet:?}: {:?}", found.ok()),
        }
    }));
    for query in ["all m3", "r7 AND m2", "all*"] {
        answers.push(best(&mut reader, query).unwrap_or_else(refused));
    }
    // An order by a keyword has no entry in the result cache, but its clauses have.
    for query in ["+all* +(m1 m2 m3)", "+all -\"all m3\" -r7*"] {
        answers.push(match by_channel(&mut reader, query) {
            Err(error @ SearchError::NoPositions) => format!("{query}: {error}"),
            found => found.unwrap_or_else(refused),
        });
    }
    answers
}

/// All hits of a query, in the order of a keyword.
fn by_channel(reader: &mut Reader, query: &str) -> Result<String, SearchError> {
    let found = reader.search(query, Search::by_field(500, "channel", Direction::Ascending))?;
    Ok(match found.keys() {
        Err(HitError::Corrupt { .. }) => REFUSED.to_owned(),
        keys => format!("{query}: {:?}", keys.unwrap()),
    })
}

/// The best hits of a query, and why.
fn best(reader: &mut Reader, query: &str) -> Result<String, SearchError> {
    let best = Search::best(3);
    let keys = match reader.search(query, best.clone())?.keys() {
        Err(HitError::Corrupt { .. }) => return Ok(REFUSED.to_owned()),
        keys => keys.unwrap(),
    };
    let explained = keys.iter().map(|key| reader.explain(query, &best, key));
    let explained = explained.collect::<Result<Vec<_>, _>>()?;
    // Plans also say how far the DRAM dictionary has come.
    reader.plan(query, &best)?;
    Ok(format!("{query}: {explained:?}"))
}

fn facets() -> impl Iterator<Item = Facet> {
    let field = |name: &str| name.to_owned();
    [
        Facet::Terms { field: field("channel"), top: 5 },
        Facet::Terms { field: field("odd"), top: 5 },
        Facet::Cardinality { field: field("views") },
        Facet::Histogram { field: field("views"), interval: 10.0 },
        Facet::Stats { field: field("views") },
        Facet::Percentiles { field: field("score"), at: vec![50.0, 99.0] },
        Facet::Dates { field: field("seen"), interval: DateInterval::Week },
    ]
    .into_iter()
}

/// The text of each document, by key; none where it cannot be read.
pub(crate) fn texts(index: &Index) -> BTreeMap<String, Option<String>> {
    let mut reader = index.reader().unwrap();
    let Ok(hits) = reader.search("*", Search::newest(10_000)) else { return BTreeMap::new() };
    let text = |hit| {
        let mut text = Vec::new();
        let read = hits.get(hit).unwrap().write_text(&mut text);
        assert!(read.is_ok() || text.is_empty(), "an error leaves what there was");
        read.is_ok().then(|| String::from_utf8(text).unwrap())
    };
    hits.keys()
        .unwrap_or_default()
        .into_iter()
        .enumerate()
        .map(|(hit, key)| (key, text(hit)))
        .collect()
}
