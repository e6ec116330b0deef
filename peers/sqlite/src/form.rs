//! A query of the file as FTS5 wants it. What only scores would show, a boost for instance, is left out.

use spirit_peer_protocol::{Clauses, Query, TEXT, Unsupported};

/// The expression after `MATCH`.
pub(crate) fn form(query: &Query) -> Result<String, Unsupported> {
    match query {
        Query::Term { field, value } => quoted(field, value),
        Query::Phrase { field, terms, slop: 0 } => quoted(field, &terms.join(" ")),
        Query::Phrase { .. } => no("a phrase with slop: NEAR counts otherwise"),
        Query::PhrasePrefix { field, terms } => Ok(quoted(field, &terms.join(" "))? + " *"),
        Query::Prefix { field, value } => Ok(quoted(field, value)? + " *"),
        Query::Wildcard { .. } => no("wildcards"),
        Query::Fuzzy { .. } => no("fuzzy terms"),
        Query::Bool(clauses) => bool(clauses),
        Query::Constant { query, .. } | Query::Boost { query, .. } => form(query),
        Query::All {} => no("every document"),
        Query::Range { .. } | Query::OneOf { .. } => no("the table has no columns"),
    }
}

fn no(what: &str) -> Result<String, Unsupported> {
    Err(Unsupported(what.to_owned()))
}

/// Terms are alphanumeric, so quoting needs no escapes.
fn quoted(field: &str, words: &str) -> Result<String, Unsupported> {
    if field != TEXT {
        return no("columns beside the text");
    }
    Ok(format!("\"{words}\""))
}

fn bool(clauses: &Clauses) -> Result<String, Unsupported> {
    let mut wanted: Vec<String> = clauses.must.iter().map(form).collect::<Result<_, _>>()?;
    match clauses.should_min() {
        0 => {}
        1 => wanted.push(any_of(&clauses.should)?),
        least if least == clauses.should.len() => {
            for query in &clauses.should {
                wanted.push(form(query)?);
            }
        }
        _ => return no("some of several clauses"),
    }
    if wanted.is_empty() {
        return no("a query of exclusions only");
    }
    let wanted = format!("({})", wanted.join(" AND "));
    if clauses.not.is_empty() {
        return Ok(wanted);
    }
    Ok(format!("({wanted} NOT {})", any_of(&clauses.not)?))
}

fn any_of(queries: &[Query]) -> Result<String, Unsupported> {
    let all: Vec<String> = queries.iter().map(form).collect::<Result<_, _>>()?;
    Ok(format!("({})", all.join(" OR ")))
}
