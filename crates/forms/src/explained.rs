//! Plans and explanations as JSON.

use serde::ser::{Serialize, Serializer};
use serde_json::{Value, json};
use spirit::lab::{
    ClausePlan, Evaluator, ExecutorPlan, ExplainedClause, Frequency, Occur, PartPlan, Source, Worth,
};
use spirit::search::{Explanation, QueryPlan};

/// How a query is evaluated: an array with an object for each executor.
pub struct Planned(pub QueryPlan);

/// Why a document has its score.
pub struct Explained(pub Explanation);

impl Serialize for Planned {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let executor = |executor: &ExecutorPlan| json!({ "fresh": part(&executor.fresh), "registered": part(&executor.registered) });
        serializer.collect_seq(self.0.executors().iter().map(executor))
    }
}

impl Serialize for Explained {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        explanation(self.0.tree()).serialize(serializer)
    }
}

fn part(plan: &PartPlan) -> Value {
    let mut value = json!({
        "segments": plan.segments,
        "older": plan.older,
        "evaluator": name_of(&plan.evaluator),
        "clause": clause(&plan.clause),
    });
    match &plan.evaluator {
        Evaluator::Intersection(meetings) | Evaluator::Phrase(meetings) => {
            value["algorithm"] = json!(meetings.algorithm.to_string());
            value["lists"] = json!(meetings.lists);
            value["probes"] = json!(meetings.probes);
            value["bitmaps"] = json!(meetings.bitmaps);
            value["singles"] = json!(meetings.singles);
        }
        Evaluator::BlockMaxAll(algorithm) | Evaluator::BlockMaxPhrase(algorithm) => {
            value["algorithm"] = json!(algorithm.to_string());
        }
        _ => {}
    }
    value
}

fn name_of(evaluator: &Evaluator) -> &'static str {
    match evaluator {
        Evaluator::Nothing => "nothing",
        Evaluator::Key => "key",
        Evaluator::List => "list",
        Evaluator::Intersection(_) => "intersection",
        Evaluator::BlockMaxTerm => "block-max-term",
        Evaluator::Phrase(_) => "phrase",
        Evaluator::BlockMaxAll(_) => "block-max-all",
        Evaluator::BlockMaxPhrase(_) => "block-max-phrase",
        Evaluator::ListsInTurn => "lists-in-turn",
        Evaluator::MaxScore => "max-score",
        Evaluator::Merge => "merge",
        Evaluator::Leapfrog => "leapfrog",
        Evaluator::Windows => "windows",
        _ => "other",
    }
}

fn clause(plan: &ClausePlan) -> Value {
    let mut value = json!({ "clause": plan.clause, "occur": occur(plan.occur) });
    match &plan.source {
        Source::Lists(lists) => {
            value["documents"] = json!(lists.documents);
            value["lists"] = json!(lists.lists);
            value["bitmaps"] = json!(lists.bitmaps);
        }
        Source::Expansion(expansion) => {
            value["documents"] = json!(expansion.documents);
            value["terms"] = json!(expansion.terms);
            value["first"] = json!(expansion.first);
        }
        _ => {}
    }
    if !plan.clauses.is_empty() {
        value["clauses"] = plan.clauses.iter().map(clause).collect();
    }
    value
}

fn explanation(explained: &ExplainedClause) -> Value {
    let mut value = json!({
        "clause": explained.clause,
        "occur": occur(explained.occur),
        "matches": explained.matches,
        "value": number(explained.value),
    });
    match &explained.worth {
        Worth::Frequency(parts) => value["bm25"] = frequency(parts),
        Worth::Place { first } => value["first"] = json!(first),
        Worth::Closeness { distance } => value["distance"] = json!(distance),
        _ => {}
    }
    if !explained.clauses.is_empty() {
        value["clauses"] = explained.clauses.iter().map(explanation).collect();
    }
    value
}

fn frequency(parts: &Frequency) -> Value {
    json!({
        "idf": parts.idf,
        "documents": parts.documents,
        "with_terms": parts.with_terms,
        "boost": number(parts.boost),
        "frequency": number(parts.frequency),
        "length": parts.length,
        "average": parts.average,
        "k1": number(parts.parameters.k1),
        "b": number(parts.parameters.b),
    })
}

/// With the digits that it is good for.
fn number(value: f32) -> Value {
    json!(value.to_string().parse::<f64>().ok())
}

fn occur(occur: Occur) -> &'static str {
    match occur {
        Occur::Must => "must",
        Occur::Should => "should",
        Occur::Not => "not",
    }
}
