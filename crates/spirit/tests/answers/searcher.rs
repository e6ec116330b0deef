//! Searchers: shared by threads, owned by nobody, and answered no more once their index is closed.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use spirit::facets::Facet;
use spirit::search::{Highlight, Limits};
use spirit::{
    Batch, Builder, Clause, Document, HitError, Hits, Index, Lenient, Mode, Operator, Query,
    Search, SearchError, Searcher, WriteError,
};

use crate::support::directory::Directory;

fn small() -> Builder {
    Index::builder().dram_bytes(8 << 20).segment_bytes(64 << 10).store(true)
}

fn library() -> Index {
    let index = small().open().unwrap();
    index.add("a grey heron in the reed").unwrap();
    index.put("moby", Document::new().text("the white whale").field("year", 1851)).unwrap();
    index.add(Document::from("a grey whale").field("year", 1900).field("tag", "sea")).unwrap();
    index
}

fn keys(hits: Hits<'_>) -> Vec<String> {
    hits.into_iter().map(|hit| hit.key().unwrap()).collect()
}

#[test]
fn it_can_go_anywhere() {
    fn is_shared<T: Clone + Send + Sync + std::fmt::Debug + 'static>() {}
    is_shared::<Searcher>();
    fn is_sent<T: Send + 'static>() {}
    is_sent::<spirit::Reader>();
}

/// Each form of a query finds what its text finds.
#[test]
fn each_form_of_a_query_is_answered() {
    let index = library();
    let searcher = index.searcher();
    let newest = Search::newest(9);
    let query = searcher.parse("grey AND whale").unwrap();
    let clause = Clause::all([Clause::term("grey"), Clause::term("whale")]);
    let found = [
        searcher.search("grey AND whale", newest.clone()),
        searcher.search(&"grey AND whale".to_owned(), newest.clone()),
        searcher.search(&query, newest.clone()),
        searcher.search(query.clone(), newest.clone()),
        searcher.search(&clause, newest.clone()),
        searcher.search(clause, newest.clone()),
        searcher.search(Lenient("(grey AND whale"), newest.clone()),
    ];
    let warned: Vec<usize> =
        found.iter().map(|hits| hits.as_ref().unwrap().warnings().len()).collect();
    assert_eq!(warned, [0, 0, 0, 0, 0, 0, 1]);
    found.into_iter().for_each(|hits| assert_eq!(keys(hits.unwrap()), ["2"]));
    assert_eq!(searcher.count("*"), Ok(3));
    assert!(matches!(searcher.count("(grey"), Err(SearchError::Parse(_))));
    let unknown = Clause::value("nothere", 3);
    assert!(matches!(searcher.count(unknown), Err(SearchError::Clause(_))));
}

#[test]
fn a_hit_has_all_that_is_known_of_it() {
    let index = library();
    let searcher = index.searcher();
    let mut highlighter = searcher.highlighter("whale", Highlight::default()).unwrap();
    let hits = searcher.search("whale", Search::best(9)).unwrap();
    assert!(hits.iter().rev().map(|hit| hit.key().unwrap()).eq(["moby", "2"]));
    for hit in &hits {
        let is_moby = hit.key().unwrap() == "moby";
        assert!(hit.score().unwrap() > 0.0 && hit.sort_value().is_none());
        assert_eq!(hit.sequence(), Ok(if is_moby { 1 } else { 2 }));
        assert_eq!(hit.text(), Ok(if is_moby { "the white whale" } else { "a grey whale" }));
        let year = hit.get("year").unwrap().and_then(|year| year.as_i64());
        assert_eq!(year, Some(if is_moby { 1851 } else { 1900 }));
        let tag = hit.get("tag").unwrap().and_then(|tag| tag.as_str());
        assert_eq!(tag, (!is_moby).then_some("sea"));
        assert_eq!(hit.get("year").unwrap().unwrap().as_str(), None);
        assert!(hit.snippets(&mut highlighter).unwrap()[0].marked("<", ">").ends_with("<whale>"));
    }
    let sorted = Search::by_field(9, "year", spirit::search::Direction::Descending);
    let hits = searcher.search("whale", sorted).unwrap();
    let years: Vec<_> = hits.iter().map(|hit| hit.sort_value().unwrap().as_i64()).collect();
    assert_eq!(years, [Some(1900), Some(1851)]);
    assert!(hits.get(2).is_none() && hits.iter().all(|hit| hit.score().is_none()));
}

#[test]
fn it_has_settings_of_its_own() {
    let index = library();
    let searcher = index.searcher();
    let strict = searcher.clone().default_operator(Operator::And);
    assert_eq!((searcher.count("grey whale"), strict.count("grey whale")), (Ok(3), Ok(1)));
    let none = Limits { timeout: Some(Duration::ZERO), ..Limits::default() };
    let stopped = Err(SearchError::TimedOut);
    assert_eq!(searcher.clone().limits(none).count("grey whale"), stopped);
    assert_eq!(searcher.count("grey whale"), Ok(3));
    let facet = Facet::Stats { field: "year".into() };
    assert_eq!(searcher.aggregate("*", &[facet]).unwrap().len(), 1);
    let best = Search::best(3);
    assert!(searcher.explain("whale", &best, "moby").unwrap().is_some());
    assert_eq!(searcher.plan("whale", &best).unwrap().executors().len(), 1);
    assert_eq!(searcher.count_up_to("whale", 1).unwrap(), spirit::search::Total::AtLeast(2));
}

/// Hits are kept without what found them. Each takes a reader; the one beyond the last is refused, and harms none.
#[test]
fn hits_are_kept_as_long_as_there_are_readers() {
    let index = small().readers_max(3).open().unwrap();
    index.add("a heron").unwrap();
    let kept: Vec<Hits<'static>> = {
        let searcher = index.searcher();
        let query = searcher.parse("heron").unwrap();
        (0..3).map(|_| searcher.search(&query, Search::newest(1)).unwrap()).collect()
    };
    let searcher = index.searcher();
    assert!(matches!(searcher.count("heron"), Err(SearchError::Readers { .. })));
    assert!(index.reader().is_err());
    for hits in &kept {
        assert_eq!(hits.texts().unwrap(), ["a heron"]);
    }
    drop(kept);
    // Idle, they are there for searchers and readers alike.
    assert_eq!(searcher.count("heron"), Ok(1));
    let mut readers: Vec<_> = (0..3).map(|_| index.reader().unwrap()).collect();
    assert!(index.reader().is_err() && searcher.count("heron").is_err());
    assert_eq!(readers[2].count("heron"), Ok(1));
    readers.clear();
    assert_eq!(searcher.count("heron"), Ok(1));
}

/// Threads that share a searcher find each document once it was added.
#[test]
fn threads_share_it_beside_a_stream() {
    for executors in [1, 2] {
        let index = small().executors(executors).open().unwrap();
        let (searcher, ended) = (index.searcher(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut seen = 0;
                    while !ended.load(Relaxed) {
                        let now = searcher.count("all").unwrap();
                        assert!(now >= seen, "{now} after {seen}");
                        seen = now;
                    }
                });
            }
            for n in 0..5000 {
                index.add(&format!("all own{n}")).unwrap();
                assert_eq!(searcher.count(&format!("own{n}")), Ok(1));
            }
            ended.store(true, Relaxed);
        });
        assert_eq!(searcher.count("all"), Ok(5000));
    }
}

#[test]
fn a_closed_index_answers_no_more() {
    for is_kept in [false, true] {
        let directory = Directory::new();
        let options = if is_kept { small().directory(directory.path()) } else { small() };
        let index = options.clone().open().unwrap();
        index.add("a heron").unwrap();
        let (searcher, mut reader) = (index.searcher(), index.reader().unwrap());
        let hits = searcher.search("heron", Search::newest(1)).unwrap();
        index.close().unwrap();
        assert_eq!(hits.keys(), Err(HitError::Closed));
        assert_eq!(searcher.count("heron"), Err(SearchError::Closed));
        assert_eq!(reader.count("heron"), Err(SearchError::Closed));
        let again = options.open().unwrap();
        again.add("a heron").unwrap();
        assert_eq!(again.searcher().count("heron"), Ok(1 + u64::from(is_kept)));
        assert_eq!(searcher.count("heron"), Err(SearchError::Closed));
    }
}

/// An index is closed while it is asked: each answer is whole, or says that it is closed.
#[test]
fn closing_waits_for_answers() {
    for round in 0..20 {
        let directory = Directory::new();
        let index = small().directory(directory.path()).mode(Mode::Crash).open().unwrap();
        let documents: Vec<String> = (0..300).map(|n| format!("all own{n}")).collect();
        index.add_all(&documents).unwrap();
        let searcher = index.searcher();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    loop {
                        match searcher.search("all", Search::newest(300)) {
                            Ok(hits) => match hits.keys() {
                                Ok(keys) => assert_eq!(keys.len(), 300),
                                Err(error) => assert_eq!(error, HitError::Closed),
                            },
                            Err(error) => return assert_eq!(error, SearchError::Closed),
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_micros(200 * round));
            index.close().unwrap();
        });
    }
}

/// A process that only reads is not closed: it asks the process that writes.
#[test]
fn a_searcher_of_a_reading_process_outlives_its_index() {
    let directory = Directory::new();
    let writer = small().directory(directory.path()).open().unwrap();
    writer.add("a heron").unwrap();
    let searcher = small().directory(directory.path()).read_only(true).open().unwrap().searcher();
    assert_eq!(searcher.count("heron"), Ok(1));
    writer.add("a heron").unwrap();
    assert_eq!(searcher.count("heron"), Ok(2));
}

/// A batch is all there or not at all, in memory too; one without an offset leaves the last one.
#[test]
fn a_batch_is_whole() {
    let index = library();
    let mut batch = Batch::from_iter(["one heron", "two herons"]);
    batch.put("moby", "a heron");
    assert_eq!((batch.len(), index.write(batch)), (3, Ok(())));
    let searcher = index.searcher();
    assert_eq!((searcher.count("heron"), searcher.count("year:1851")), (Ok(3), Ok(0)));
    let refused = index.write(Batch::from_iter([(None, "fish"), (Some(""), "fish")]));
    assert_eq!(refused, Err(WriteError::Key { bytes: 0 }));
    assert_eq!((searcher.count("fish"), index.accepted()), (Ok(0), 6));
    assert_eq!(index.write(Batch::new().offset(b"x")), Err(WriteError::OffsetNotKept));
    assert_eq!(index.add("next"), Ok(6));

    for executors in [1, 2] {
        let directory = Directory::new();
        let open = || small().directory(directory.path()).executors(executors).open().unwrap();
        let index = open();
        index.write(Batch::from_iter(["all one"])).unwrap();
        assert_eq!(index.offset(), Ok(None));
        index.write(Batch::from_iter(["all two"]).offset(b"line 2")).unwrap();
        index.write(Batch::from_iter(["all three"])).unwrap();
        assert_eq!(index.offset(), Ok(Some(b"line 2".to_vec())));
        drop(index);
        let index = open();
        assert_eq!(index.offset(), Ok(Some(b"line 2".to_vec())));
        assert_eq!(index.searcher().count("all"), Ok(3));
    }
}

/// A reader and a searcher keep the query that they were asked last, in whatever form it came.
#[test]
fn a_short_query_does_not_limit_the_next_one() {
    let index = library();
    let long: Vec<String> = (0..200).map(|number| format!("word{number}")).collect();
    let long = format!("{} OR heron", long.join(" OR "));
    let short = || Query::all_of(&["heron"]).unwrap();
    let mut reader = index.reader().unwrap();
    let searcher = index.searcher();
    let kept = (short(), Clause::term("heron"));
    for _ in 0..2 {
        assert_eq!(reader.search(short(), Search::newest(9)).unwrap().len(), 1);
        assert_eq!(reader.search(&long, Search::newest(9)).unwrap().len(), 1);
        assert_eq!(reader.search(&kept.1, Search::newest(9)).unwrap().len(), 1);
        assert_eq!(reader.search(&long, Search::newest(9)).unwrap().len(), 1);
        assert_eq!(searcher.search(&kept.0, Search::newest(9)).unwrap().len(), 1);
        assert_eq!(searcher.search(short(), Search::newest(9)).unwrap().len(), 1);
        assert_eq!(searcher.search(&long, Search::newest(9)).unwrap().len(), 1);
    }
}
