//! What readers say of how they answer: the plan of a query, and why a document has its score. That scores are explained to the bit is
//! proved where random queries are asked.

use std::time::Duration;

use spirit::lab::{Algorithm, Evaluator, ExecutorPlan, Occur, Source, Worth};
use spirit::schema::TimeUnit;
use spirit::search::Direction;
use spirit::{Analyzer, Document, FieldKind, Index, Search, Value};

use crate::support::tiny;

/// Documents in three flushed segments and a fresh one: `sea` in all, `sky` in every third, `rare` once in a segment, `some` in few.
fn shore() -> Index {
    let index = tiny(1, 8 << 20).field("by", FieldKind::Keyword).open().unwrap();
    for segment in 0..4 {
        for n in 0..600 {
            let sky = if n % 3 == 0 { " sky" } else { "" };
            let some = if n % 100 == 7 { format!(" some some{n}") } else { String::new() };
            let rare = if n == 300 { " rare" } else { "" };
            index.add(&format!("sea{sky}{some}{rare}")).unwrap();
        }
        if segment < 3 {
            index.flush().unwrap();
            index.settle();
        }
    }
    index
}

fn plan(index: &Index, query: &str, search: &Search) -> ExecutorPlan {
    let plan = index.reader().unwrap().plan(query, search).unwrap();
    let [only] = plan.executors() else { panic!("{plan}") };
    only.clone()
}

#[test]
fn each_shape_has_its_evaluators() {
    let index = shore();
    let (newest, best) = (Search::newest(10), Search::best(10));
    let of = |query: &str, search: &Search| {
        let plan = plan(&index, query, search);
        assert_eq!((plan.fresh.segments, plan.registered.segments), (1, 3), "{query}");
        (plan.fresh.evaluator, plan.registered.evaluator)
    };
    use Evaluator::{
        BlockMaxAll, BlockMaxTerm, Key, Leapfrog, List, ListsInTurn, MaxScore, Merge, Nothing,
        Windows,
    };
    assert_eq!(of("sea", &newest), (List, List));
    assert_eq!(of("sea", &best), (List, BlockMaxTerm));
    assert_eq!(of("key:7", &newest), (Key, Key));
    assert_eq!(of("sea sky", &newest), (Merge, Merge));
    assert_eq!(of("sea sky", &Search::newest(1000)), (Windows, Windows));
    assert_eq!(of("sea sky", &best), (MaxScore, MaxScore));
    assert_eq!(of("+sea sky", &best), (Windows, ListsInTurn));
    assert_eq!(of("+sea +(sky some)", &newest), (Leapfrog, Leapfrog));
    assert_eq!(of("sea sky -some", &newest), (Leapfrog, Leapfrog));
    assert_eq!(of("+(sea a) +(sky b) +(some c)", &newest), (Windows, Windows));
    let by_field = Search::by_field(10, "by", Direction::Ascending);
    assert_eq!(of("sea AND sky", &by_field), (Windows, Windows));
    assert_eq!(of("sea AND sky", &best), (Windows, BlockMaxAll(Algorithm::Simd)));
    assert_eq!(of("some*", &best), (Windows, Windows));
    assert_eq!(of("(sea | sky) some", &best), (MaxScore, MaxScore));
    assert_eq!(of("(sea | sky)~0.3", &best), (Windows, Windows));
    assert_eq!(of("", &newest), (Nothing, Nothing));
    for query in ["sea", "sea AND sky", "sea sky", "key:7"] {
        for search in [newest.clone(), best.clone()] {
            assert_eq!(of(query, &search.windows()), (Windows, Windows), "{query}");
        }
    }
}

#[test]
fn lists_meet_as_they_are() {
    let index = shore();
    let meetings =
        |query: &str, search: Search| match plan(&index, query, &search).registered.evaluator {
            Evaluator::Intersection(meetings) => {
                let [lists, probes, bitmaps, singles] =
                    [meetings.lists, meetings.probes, meetings.bitmaps, meetings.singles];
                (meetings.algorithm, [lists, probes, bitmaps, singles])
            }
            other => panic!("{query} by {other:?}"),
        };
    let newest = || Search::newest(10);
    assert_eq!(meetings("sea AND sky", newest()), (Algorithm::Simd, [0, 0, 3, 0]));
    assert_eq!(meetings("sea AND some", newest()), (Algorithm::Simd, [0, 3, 0, 0]));
    assert_eq!(meetings("sea AND rare", newest()), (Algorithm::Simd, [0, 0, 0, 3]));
    for algorithm in [Algorithm::Naive, Algorithm::Binary, Algorithm::Finger, Algorithm::Simd] {
        let forced = || newest().algorithm(algorithm);
        for query in ["sea AND sky", "sea AND some", "sea AND rare"] {
            assert_eq!(meetings(query, forced()), (algorithm, [3, 0, 0, 0]), "{query}");
        }
        let ranked = plan(&index, "sea AND sky", &Search::best(1).algorithm(algorithm));
        assert_eq!(ranked.registered.evaluator, Evaluator::BlockMaxAll(algorithm));
    }
}

#[test]
fn a_plan_says_what_clauses_find() {
    let index = shore();
    let plan = plan(&index, "+sky -some* \"sea sky\"^2", &Search::newest(10));
    let [sky, some, phrase] = &plan.registered.clause.clauses[..] else { panic!("{plan}") };
    assert_eq!((&*sky.clause, sky.occur), ("sky", Occur::Must));
    let Source::Lists(lists) = sky.source else { panic!("{plan}") };
    assert_eq!((lists.documents, lists.lists, lists.bitmaps), (600, 3, 3));
    let Source::Expansion(expansion) = &some.source else { panic!("{plan}") };
    assert_eq!((&*some.clause, some.occur), ("some*", Occur::Not));
    assert_eq!((expansion.terms, expansion.documents), (21, 36));
    assert_eq!(expansion.first[..3], ["some", "some107", "some207"]);
    assert_eq!((&*phrase.clause, phrase.clauses.len()), ("\"sea sky\"^2", 2));
    let fresh = &plan.fresh.clause.clauses[0].source;
    assert_eq!(fresh.to_string(), ": 200 documents in 1 lists");
    let text = plan.to_string();
    assert!(text.contains("registered segments: 3, windows\n    (...)\n      +sky: 600"), "{text}");
    assert!(text.contains("\n      -some*: 36 documents of 21 terms (some, some107,"), "{text}");
}

#[test]
fn a_phrase_prefix_says_what_it_stands_for() {
    let index = shore();
    let plan = plan(&index, "\"sea s\"*^2", &Search::best(10));
    assert_eq!(plan.registered.evaluator, Evaluator::Windows);
    let clause = &plan.registered.clause;
    let Source::Expansion(expansion) = &clause.source else { panic!("{plan}") };
    assert_eq!((&*clause.clause, &*expansion.first[0]), ("\"sea s\"*^2", "sea"));
    let [sea] = &clause.clauses[..] else { panic!("{plan}") };
    assert_eq!((&*sea.clause, sea.occur), ("sea", Occur::Must));
}

#[test]
fn a_score_is_made_of_its_parts() {
    let index = tiny(1, 8 << 20).analyzer(Analyzer::Simple).open().unwrap();
    for text in ["sea sea sky", "sea and reed", "sky"] {
        index.add(text).unwrap();
    }
    index.put("named", "the sea").unwrap();
    let mut reader = index.reader().unwrap();
    let search = Search::best(9);
    let mut explain = |query: &str, key: &str| {
        reader.explain(query, &search, key).unwrap().map(|found| found.tree().clone())
    };
    let found = explain("sea^2 sky -reed", "0").unwrap();
    assert!(found.matches && found.worth == Worth::Sum);
    let [sea, sky, reed] = &found.clauses[..] else { panic!("{found}") };
    assert_eq!(found.value, sea.value + sky.value);
    let Worth::Frequency(parts) = &sea.worth else { panic!("{found}") };
    assert_eq!((parts.frequency, parts.length, parts.boost), (2.0, 3, 2.0));
    assert_eq!((parts.documents, &parts.with_terms[..], parts.average), (4, &[3][..], 9.0 / 4.0));
    let by_hand = 2.0 * parts.idf * 2.0 / (2.0 + 1.2 * (0.25 + 0.75 * 3.0 / parts.average));
    assert!((f64::from(sea.value) - by_hand).abs() < 1e-6);
    assert!(!reed.matches && reed.worth == Worth::Nothing && reed.occur == Occur::Not);
    let excluded = explain("sea^2 sky -reed", "1").unwrap();
    assert!(!excluded.matches && excluded.value == 0.0 && excluded.clauses[2].matches);
    assert!(excluded.to_string().contains("-reed  matches, and must not"), "{excluded}");
    let phrase = explain("\"sea sky\"", "0").unwrap();
    let Worth::Frequency(parts) = &phrase.worth else { panic!("{phrase}") };
    assert_eq!(parts.with_terms, [3, 2]);
    assert!(explain("sea", "named").unwrap().matches);
    assert_eq!(explain("sea", "nobody"), None);
    assert_eq!(explain("se* *^=3", "0").unwrap().value, 4.0);
    let begun = explain("\"sea s\"*^3", "0").unwrap();
    assert_eq!((begun.value, begun.worth), (3.0, Worth::Constant));
    assert!(!explain("\"sea r\"*", "1").unwrap().matches);
}

/// An explanation ends with the score of the hit whatever that is made of: parameters, age, and what the first page's scores were
/// computed from, in any executor.
#[test]
fn scores_are_explained_as_they_were_asked_for() {
    let options = tiny(3, 8 << 20).field("at", FieldKind::Time(TimeUnit::Seconds));
    let index = options.analyzer(Analyzer::Simple).open().unwrap();
    let text = |n: i64| format!("sea {}", "and sky ".repeat(n as usize % 5));
    let add = |n: i64| {
        let at = Value::Time(n * 1000);
        index.add(Document::new().text(&text(n)).field("at", at)).unwrap();
    };
    (0..100).for_each(add);
    index.flush().unwrap();
    (100..150).for_each(add);
    let mut reader = index.reader().unwrap();
    let by = |k1, b| Search::best(20).bm25(k1, b);
    let fading = by(1.2, 0.75).recency_as_of("at", Duration::from_secs(40), 150_000);
    for search in [by(1.2, 0.75), by(0.3, 1.0), by(0.0, 0.5), fading] {
        for query in ["sea", "sea^2 sky", "sea AND sky", "\"and sky\"", "sky* sea", "(sea sky)~2"] {
            let mut page = search.clone();
            for _ in 0..2 {
                let hits = reader.search(query, page.clone()).unwrap();
                let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.score()).collect();
                let found: Vec<_> = hits.keys().unwrap().into_iter().zip(scores).collect();
                let cursor = hits.cursor().unwrap().unwrap();
                drop(hits);
                for (key, score) in &found {
                    let why = reader.explain(query, &page, key).unwrap().unwrap();
                    assert_eq!(why.score().to_bits(), score.to_bits(), "{key} by {query}:\n{why}");
                }
                // What was added since counts on no further page.
                add(200);
                page = search.clone().after(cursor);
            }
        }
    }
}
