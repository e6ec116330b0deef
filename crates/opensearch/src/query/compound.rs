//! `bool`, `constant_score`, `boosting`, `dis_max` and `function_score`: combinations of queries.

use spirit::Clause;
use spirit::query::Bool;

use super::members::{Common, boosted, constant, object, text, unknown};
use super::several::{best, tie};
use super::{Asked, minimum};
use crate::error::Refusal;
use crate::json::Json;
use crate::read;

/// The clauses of a `bool`.
#[derive(Default)]
struct Group {
    clauses: Bool,
    /// The least number of optional clauses, if it is given.
    minimum: Option<String>,
    common: Common,
}

impl Asked<'_> {
    /// Reads `bool`.
    pub(super) fn group(&self, body: &Json, depth: usize) -> Result<Clause, Refusal> {
        let mut group = Group::default();
        for (name, value) in object("bool", body)? {
            match name.as_str() {
                "must" => group.clauses.must.extend(self.list(name, value, depth)?),
                "filter" => {
                    let filters = self.list(name, value, depth)?.into_iter();
                    group.clauses.must.extend(filters.map(|filter| constant(filter, 0.0)));
                }
                "should" => group.clauses.should.extend(self.list(name, value, depth)?),
                "must_not" => group.clauses.not.extend(self.list(name, value, depth)?),
                "minimum_should_match" => {
                    group.minimum = match value {
                        Json::Null => None,
                        value => Some(text("bool", name, value)?),
                    };
                }
                // Lucene needs it where all clauses exclude. Here they need no help.
                "adjust_pure_negative" => read::boolean(value).map(drop)?,
                name if group.common.takes(name, value)? => {}
                name => return Err(unknown("bool", name)),
            }
        }
        group.clause()
    }

    /// Reads one query or several.
    fn list(&self, name: &str, value: &Json, depth: usize) -> Result<Vec<Clause>, Refusal> {
        match value {
            Json::Null => Ok(Vec::new()),
            Json::Object(_) => Ok(vec![self.query(value, depth)?]),
            Json::Array(queries) => queries.iter().map(|query| self.query(query, depth)).collect(),
            other => {
                let token = other.token();
                let what = format!("{name} doesn't support values of type: {token}");
                Err(Refusal::content(format!("[bool] {what}")))
            }
        }
    }

    /// Reads `constant_score`.
    pub(super) fn constant(&self, body: &Json, depth: usize) -> Result<Clause, Refusal> {
        let (mut common, mut filter) = (Common::default(), None);
        for (name, value) in object("constant_score", body)? {
            match (name.as_str(), value) {
                ("filter", Json::Array(_)) => {
                    return Err(Refusal::parsing("unexpected token [START_ARRAY]"));
                }
                ("filter", query) => filter = Some(self.query(query, depth)?),
                (name, value) if common.takes(name, value)? => {}
                (name, _) => return Err(unknown("constant_score", name)),
            }
        }
        let missing = || Refusal::parsing("[constant_score] requires a 'filter' element");
        Ok(constant(filter.ok_or_else(missing)?, common.boost()))
    }

    /// Reads `boosting`: what matches the negative query too scores less.
    pub(super) fn boosting(&self, body: &Json, depth: usize) -> Result<Clause, Refusal> {
        let (mut common, mut factor) = (Common::default(), None);
        let (mut positive, mut negative) = (None, None);
        for (name, value) in object("boosting", body)? {
            match name.as_str() {
                "positive" => positive = Some(self.query(value, depth)?),
                "negative" => negative = Some(self.query(value, depth)?),
                "negative_boost" => factor = Some(read::float(value)?),
                name if common.takes(name, value)? => {}
                name => return Err(unknown("boosting", name)),
            }
        }
        let missing = |what: &str| Refusal::parsing(format!("[boosting] query requires {what}"));
        let positive = positive.ok_or_else(|| missing("'positive' query to be set'"))?;
        let negative = negative.ok_or_else(|| missing("'negative' query to be set'"))?;
        let factor = factor.filter(|factor| *factor >= 0.0);
        let factor =
            factor.ok_or_else(|| missing("'negative_boost' to be set to be a positive value'"))?;
        // The positive query is there twice, once for the documents of each factor.
        self.spend(size(&positive) + size(&negative))?;
        Ok(common.of(either(positive, negative, factor)))
    }

    /// Reads `dis_max`.
    pub(super) fn best(&self, body: &Json, depth: usize) -> Result<Clause, Refusal> {
        let (mut common, mut factor, mut clauses) = (Common::default(), 0.0, None);
        for (name, value) in object("dis_max", body)? {
            match (name.as_str(), value) {
                ("queries", Json::Array(queries)) => {
                    let read = queries.iter().map(|query| self.query(query, depth));
                    clauses = Some(read.collect::<Result<Vec<_>, _>>()?);
                }
                ("queries", query) => clauses = Some(vec![self.query(query, depth)?]),
                ("tie_breaker", value) => factor = tie(value)?,
                (name, value) if common.takes(name, value)? => {}
                (name, _) => return Err(unknown("dis_max", name)),
            }
        }
        let missing =
            || Refusal::parsing("[dis_max] requires 'queries' field with at least one clause");
        let clauses = clauses.filter(|clauses| !clauses.is_empty()).ok_or_else(missing)?;
        Ok(common.of(best(clauses, factor)))
    }

    /// Reads `function_score` with no function but a weight.
    pub(super) fn function_score(&self, body: &Json, depth: usize) -> Result<Clause, Refusal> {
        const QUERY: &str = "function_score";
        let (mut common, mut weight, mut query) = (Common::default(), 1.0, None);
        for (name, value) in object(QUERY, body)? {
            match (name.as_str(), value) {
                ("query", value) => query = Some(self.query(value, depth)?),
                ("weight", value) => weight = read::boost(value)?,
                ("functions", Json::Array(functions)) if functions.is_empty() => {}
                ("boost_mode" | "score_mode", Json::String(mode)) if mode == "multiply" => {}
                (
                    "functions" | "boost_mode" | "score_mode" | "max_boost" | "min_score"
                    | "script_score" | "random_score" | "field_value_factor" | "gauss" | "exp"
                    | "linear",
                    _,
                ) => return Err(Refusal::unsupported(format_args!("[{QUERY}] with [{name}]"))),
                (name, value) if common.takes(name, value)? => {}
                (name, _) => {
                    let what = format!("query. field [{name}] is not supported");
                    return Err(Refusal::parsing(format!("failed to parse [{QUERY}] {what}")));
                }
            }
        }
        let query = query.unwrap_or(Clause::Everything.constant(1.0));
        Ok(common.of(boosted(query, weight)))
    }
}

impl Group {
    /// Returns the clause of the group. One without clauses matches all documents.
    fn clause(self) -> Result<Clause, Refusal> {
        let Group { mut clauses, minimum, common } = self;
        let optional = clauses.should.len();
        let minimum = minimum.map_or(Ok(0), |spec| match optional {
            0 => Ok(0),
            _ => minimum::of(&spec, optional),
        })?;
        if minimum > optional {
            return Ok(Clause::Nothing);
        }
        clauses.minimum = u32::try_from(minimum).unwrap_or(u32::MAX);
        let requires = !clauses.must.is_empty() || optional > 0;
        if !requires {
            let score = if clauses.not.is_empty() { 1.0 } else { 0.0 };
            let everything = Clause::Everything.constant(score);
            if clauses.not.is_empty() {
                return Ok(common.of(everything));
            }
            clauses.must.push(everything);
        }
        if clauses.should.is_empty() && clauses.not.is_empty() && clauses.must.len() == 1 {
            return Ok(common.of(clauses.must.remove(0)));
        }
        Ok(common.of(Clause::Bool(clauses)))
    }
}

/// Returns a clause for the documents of `positive`, with scores multiplied where `negative` matches.
fn either(positive: Clause, negative: Clause, factor: f32) -> Clause {
    let both =
        Bool { must: vec![positive.clone(), constant(negative.clone(), 0.0)], ..Bool::default() };
    Clause::any([Clause::Bool(both).boost(factor), positive.and_not(negative)])
}

/// Returns the number of clauses of a clause. It ends: its depth is bounded.
fn size(clause: &Clause) -> usize {
    let all = |clauses: &[Clause]| clauses.iter().map(size).sum::<usize>();
    1 + match clause {
        Clause::Boost(inner, _) | Clause::Constant(inner, _) => size(inner),
        Clause::Best { clauses, .. } => all(clauses),
        Clause::Bool(group) => all(&group.must) + all(&group.should) + all(&group.not),
        Clause::OneOf { values, .. } => values.len(),
        _ => 0,
    }
}
