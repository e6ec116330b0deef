//! The queries: lines `NAME KIND TERM [TERM]...`, grouped into workloads by NAME.

use crate::Fallible;
use std::path::Path;

/// How the terms of a query go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One term.
    Term,
    /// All terms.
    And,
    /// At least one term.
    Or,
    /// The terms in this order, next to each other.
    Phrase,
}

/// One query; its terms are already lower-cased tokens.
#[derive(Clone, Debug)]
pub struct Query {
    /// How the terms go together.
    pub kind: Kind,
    /// One term or more.
    pub terms: Vec<String>,
}

/// The queries of one name, in the order of the file.
#[derive(Clone, Debug)]
pub struct Workload<Q> {
    /// For instance `MM`.
    pub name: String,
    /// At least one.
    pub queries: Vec<Q>,
}

impl<Q> Workload<Q> {
    /// The same workload with each query in the engine's own form.
    pub fn prepare<P>(self, form: impl FnMut(&Q) -> P) -> Workload<P> {
        let queries = self.queries.iter().map(form).collect();
        Workload { name: self.name, queries }
    }
}

/// Reads a query file.
pub fn read_workloads(path: &Path) -> Fallible<Vec<Workload<Query>>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read the queries {}: {error}", path.display()))?;
    let mut workloads: Vec<Workload<Query>> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (name, query) = parse(line)
            .map_err(|reason| format!("{} line {}: {reason}", path.display(), number + 1))?;
        match workloads.iter_mut().find(|workload| workload.name == name) {
            Some(workload) => workload.queries.push(query),
            None => workloads.push(Workload { name: name.to_owned(), queries: vec![query] }),
        }
    }
    if workloads.is_empty() {
        return Err(format!("{} holds no queries", path.display()).into());
    }
    Ok(workloads)
}

fn parse(line: &str) -> Result<(&str, Query), String> {
    let mut words = line.split_whitespace();
    let (Some(name), Some(kind)) = (words.next(), words.next()) else {
        return Err("a query is NAME KIND TERM [TERM]...".to_owned());
    };
    let kind = match kind {
        "term" => Kind::Term,
        "and" => Kind::And,
        "or" => Kind::Or,
        "phrase" => Kind::Phrase,
        _ => return Err(format!("no such kind of query: {kind}")),
    };
    let terms: Vec<String> = words.map(str::to_owned).collect();
    if (kind == Kind::Term) != (terms.len() == 1) || terms.is_empty() {
        return Err("a term query has one term, any other at least two".to_owned());
    }
    Ok((name, Query { kind, terms }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_name_kind_terms() {
        let (name, query) = parse("MM and big data").expect("well formed");
        assert_eq!((name, query.kind, query.terms.len()), ("MM", Kind::And, 2));
        assert!(parse("MM and big").is_err());
        assert!(parse("M term big data").is_err());
        assert!(parse("M near big data").is_err());
        assert!(parse("M").is_err());
    }
}
