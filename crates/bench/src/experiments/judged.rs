//! `judged`: how good BM25 is on test collections with judged documents.
//!
//! Measured: for each collection and engine MAP over the best 1000, P@10 and nDCG@10, as trec_eval computes them, of an
//! OR of all words of the question. The words are plain: cut and lower-cased, nothing stemmed, and a small list of
//! common ones dropped from documents and questions before any engine sees them, since our analyzers drop words only where they stem
//! too. k1 and b are 0.9 and 0.4, for which figures are published: the bar is that ours are theirs. Beside them the engines' own, 1.2 and
//! 0.75, and our `english` analyzer, which stems, on the documents as they are. These are figures of a formula: engines with the
//! same one differ by the rounding of lengths, and by which of equal documents are the last of 1000.
//!
//! Collections: the archive of judged documents in the folder of shared data. The seed has no part in it.
//!
//! Caveats: tantivy has one pair of parameters, SQLite no comparable scores.

use serde_json::json;
use spirit::lab::Parameters;
use spirit::{Analyzer, Clause, Query, Search};
use spirit_peer_protocol::{Answer, Named, Query as Tree};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::engine;
use crate::judged::{self, ARCHIVE, Collection, Measures, Ranking};
use crate::peers::{Call, Outcome, System};
use crate::report::{Bound, Table, bar};

/// How deep rankings go, as is usual.
const DEPTH: usize = 1000;
/// Those of the published figures, and the engines' own.
const PARAMETERS: [Parameters; 2] =
    [Parameters { k1: 0.9, b: 0.4 }, Parameters { k1: 1.2, b: 0.75 }];
const METRICS: [&str; 3] = ["map", "p_10", "ndcg_10"];

/// An engine with its settings.
#[derive(Clone, Copy)]
enum Engine {
    Ours(Analyzer),
    Peer(System),
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let Some(folder) = bench.data_with(ARCHIVE) else {
        println!("not measured: no folder of shared data with {ARCHIVE}");
        return Ok(());
    };
    let head = ["collection, system, k1, b", "MAP", "P@10", "nDCG@10", "questions", "− published"];
    let mut table = Table::new("BM25 on judged collections", &head);
    let mut ours = Vec::new();
    for collection in judged::load(&folder)? {
        let plain = collection.plain();
        bench.begin("judged", &collection.corpus, &[("depth", json!(DEPTH))]);
        for parameters in PARAMETERS {
            let simple = Engine::Ours(Analyzer::Simple);
            let measures = measure(bench, &plain, simple, parameters, &mut table)?;
            if parameters == PARAMETERS[0] {
                ours.push((collection.corpus.name.clone(), measures));
            }
            for system in [System::Lucene, System::Tantivy] {
                if bench.peers.wants(system) {
                    measure(bench, &plain, Engine::Peer(system), parameters, &mut table)?;
                }
            }
        }
        measure(bench, &collection, Engine::Ours(Analyzer::English), PARAMETERS[0], &mut table)?;
    }
    table.print();
    for (name, measures) in ours {
        let above = measures.and_then(|measures| judged::above(&name, &measures));
        let largest = above.and_then(|above| above.map(i32::abs).into_iter().max());
        let difference = largest.map(|thousandths| f64::from(thousandths) / 1000.0);
        let difference = difference.ok_or_else(|| "nothing to compare".to_owned());
        bar(&name, Bound::AtMost(0.01), "", "from what is published", &difference);
    }
    Ok(())
}

/// A line of the table, and its means; it says why if there are none.
fn measure(
    bench: &mut Bench,
    collection: &Collection,
    engine: Engine,
    parameters: Parameters,
    table: &mut Table,
) -> Fallible<Option<Measures>> {
    let Parameters { k1, b } = parameters;
    let (system, way) = match engine {
        Engine::Ours(analyzer) => ("spirit", analyzer.name()),
        Engine::Peer(system) => (system.name(), Analyzer::Simple.name()),
    };
    let name = format!("{:<9} {system:<7} {way:<7} {k1}, {b}", collection.corpus.name);
    let answers = match engine {
        Engine::Ours(analyzer) => self::ours(collection, analyzer, parameters)?,
        Engine::Peer(system) => peers(bench, collection, system, parameters)?,
    };
    let measures = match answers.and_then(|answers| evaluate(collection, &answers)) {
        Ok(measures) => measures,
        Err(reason) => {
            table.not_measured(&name, &reason);
            return Ok(None);
        }
    };
    let mean = Measures::mean(&measures);
    let figures = [mean.map, mean.p_10, mean.ndcg_10];
    let config = [("k1", json!(k1)), ("b", json!(b)), ("analyzer", json!(way))];
    for (metric, value) in METRICS.iter().zip(figures) {
        bench.report.row(system, &config, metric, "share", &[value])?;
    }
    let cells = figures.map(|value| format!("{value:.3}"));
    let published = (parameters == PARAMETERS[0]).then(|| above(&collection.corpus.name, &mean));
    let last = [measures.len().to_string(), published.unwrap_or_default()];
    table.line([name].into_iter().chain(cells).chain(last));
    Ok(Some(mean))
}

/// How far the figures are above the published ones.
fn above(collection: &str, measures: &Measures) -> String {
    let above = judged::above(collection, measures).unwrap_or_default();
    above.map(|thousandths| format!("{:+.3}", f64::from(thousandths) / 1000.0)).join(" ")
}

/// What came of all questions.
type Answers = Result<Vec<Outcome>, String>;

fn ours(collection: &Collection, analyzer: Analyzer, parameters: Parameters) -> Fallible<Answers> {
    let options = engine::options(&collection.corpus).analyzer(analyzer);
    let index = engine::filled(options, &collection.corpus)?;
    let mut reader = index.reader()?;
    let mut answer = |(_, text): &(String, String)| -> Fallible<Outcome> {
        let words = judged::distinct(analyzer, text);
        let query = Query::new_of(&Clause::any(words.iter().map(|word| Clause::term(word))))
            .map_err(|problem| problem.to_string())?;
        let hits = reader.search(&query, Search::best(DEPTH).bm25(parameters.k1, parameters.b))?;
        let keys = hits.keys()?.iter().map(|key| key.parse()).collect::<Result<_, _>>()?;
        let scores = hits.iter().filter_map(|hit| hit.score()).collect();
        Ok(Ok(Answer { count: hits.len() as u64, keys, scores, differs: None }))
    };
    Ok(Ok(collection.questions.iter().map(&mut answer).collect::<Fallible<_>>()?))
}

fn peers(
    bench: &mut Bench,
    collection: &Collection,
    system: System,
    Parameters { k1, b }: Parameters,
) -> Fallible<Answers> {
    let docs = bench.peers.docs_file(&collection.corpus)?;
    let queries = Some(bench.peers.query_file("questions.jsonl", &questions(collection))?);
    let options =
        vec![("--k", DEPTH.to_string()), ("--k1", k1.to_string()), ("--b", b.to_string())];
    let call = Call { task: "answers", docs, queries, on: On::Both, options };
    Ok(bench.peers.answers(system, &call))
}

/// Each question as an OR of its words.
fn questions(collection: &Collection) -> String {
    let question = |(name, text): &(String, String)| {
        let words = judged::distinct(Analyzer::Simple, text);
        let query = Tree::any_of(words.iter().map(|word| Tree::term(word)).collect());
        Named { name: name.clone(), query }.line()
    };
    collection.questions.iter().map(question).collect()
}

/// The measures of each question to which something is relevant.
fn evaluate(collection: &Collection, answers: &[Outcome]) -> Result<Vec<Measures>, String> {
    let mut measures = Vec::new();
    for ((name, _), answer) in collection.questions.iter().zip(answers) {
        let answer = answer.as_ref().map_err(ToString::to_string)?;
        let id = |key: &u64| collection.ids[*key as usize].as_str();
        let found: Ranking<'_> =
            answer.keys.iter().map(id).zip(answer.scores.iter().copied()).collect();
        let relevance = collection.relevance.get(name);
        measures.extend(relevance.and_then(|relevance| Measures::of(found, relevance)));
    }
    if measures.is_empty() { Err("no question was judged".to_owned()) } else { Ok(measures) }
}
