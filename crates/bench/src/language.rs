//! A query tree in the words of our own query language, for what the language has words for.

use spirit_peer_protocol::{Clauses, Query as Tree, TEXT};

/// The query as one would type it, or what cannot be said.
pub(crate) fn text(query: &Tree) -> Result<String, &'static str> {
    match query {
        Tree::Bool(clauses) => self::clauses(clauses),
        leaf => primary(leaf),
    }
}

/// The same for people to read: what cannot be said is shown as the tree that it is.
pub(crate) fn shown(query: &Tree) -> String {
    text(query).unwrap_or_else(|_| format!("{query:?}"))
}

/// What an operator can stand before or after.
fn primary(query: &Tree) -> Result<String, &'static str> {
    match query {
        Tree::Term { field, value } if field == TEXT => Ok(value.clone()),
        Tree::Term { field, value } => Ok(of_field(field, &quoted(value))),
        Tree::Phrase { field, terms, slop } => {
            let near = if *slop == 0 { String::new() } else { format!("~{slop}") };
            Ok(of_field(field, &format!("\"{}\"{near}", terms.join(" "))))
        }
        Tree::PhrasePrefix { field, terms } => {
            Ok(of_field(field, &format!("\"{}\"*", terms.join(" "))))
        }
        Tree::Prefix { field, value } => Ok(of_field(field, &format!("{value}*"))),
        Tree::Wildcard { field, value } => Ok(of_field(field, value)),
        Tree::Fuzzy { field, value, distance, transpositions: true, prefix_length: 0 } => {
            Ok(of_field(field, &format!("{value}~{distance}")))
        }
        Tree::Fuzzy { .. } => Err("fuzzy terms with other edits than usual"),
        Tree::Bool(clauses) => Ok(format!("({})", self::clauses(clauses)?)),
        Tree::Constant { .. } => Err("a constant score"),
        Tree::Boost { query, by } => Ok(format!("{}^{by}", primary(query)?)),
        Tree::All {} => Ok("*".to_owned()),
        Tree::OneOf { field, values } => {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            Ok(format!("{field}:IN [{}]", values.join(" ")))
        }
        Tree::Range { field, from, to, include_from, include_to } => {
            let from = from.map_or(Some(None), |from| inside(from, *include_from, 1));
            let to = to.map_or(Some(None), |to| inside(to, *include_to, -1));
            let (Some(from), Some(to)) = (from, to) else { return Err("a range of nothing") };
            range(field, from, to)
        }
    }
}

fn of_field(field: &str, leaf: &str) -> String {
    if field == TEXT { leaf.to_owned() } else { format!("{field}:{leaf}") }
}

/// A keyword, between quotation marks where it is more than a word.
fn quoted(keyword: &str) -> String {
    let is_word = !keyword.is_empty() && keyword.chars().all(char::is_alphanumeric);
    if is_word { keyword.to_owned() } else { format!("{keyword:?}") }
}

/// The bound itself or, if it is not within, its neighbour; none if there is no such number.
fn inside(bound: i64, included: bool, step: i64) -> Option<Option<i64>> {
    if included { Some(Some(bound)) } else { bound.checked_add(step).map(Some) }
}

fn range(field: &str, from: Option<i64>, to: Option<i64>) -> Result<String, &'static str> {
    match (from, to) {
        (Some(from), Some(to)) => Ok(format!("{field}:[{from} TO {to}]")),
        (Some(from), None) => Ok(format!("{field}:>={from}")),
        (None, Some(to)) => Ok(format!("{field}:<={to}")),
        (None, None) => Ok(format!("{field}:*")),
    }
}

/// Clauses side by side. Where something must match, those of which one has to are a clause of their own.
fn clauses(clauses: &Clauses) -> Result<String, &'static str> {
    let mut parts = Vec::new();
    let mut all = |sign: &str, queries: &[Tree]| -> Result<(), &'static str> {
        queries.iter().try_for_each(|query| {
            parts.push(format!("{sign}{}", primary(query)?));
            Ok(())
        })
    };
    all("+", &clauses.must)?;
    let should = &clauses.should;
    match clauses.should_min() {
        n if n == should.len() && n > 0 => all("+", should)?,
        0 => all("", should)?,
        1 if clauses.must.is_empty() => all("", should)?,
        1 => all("+", &[Tree::any_of(should.clone())])?,
        _ => return Err("some of several clauses"),
    }
    all("-", &clauses.not)?;
    if parts.is_empty() {
        return Err("a query of no clauses");
    }
    Ok(parts.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirit_peer_protocol::Named;

    use crate::bm25::{Bm25, Convention, Document, Statistics};
    use crate::corpus::Corpus;
    use crate::engine;
    use crate::peers::System;
    use crate::query_sets::drawn;

    fn words(words: &[&str]) -> Vec<Tree> {
        words.iter().map(|word| Tree::term(word)).collect()
    }

    fn range(from: Option<i64>, to: Option<i64>, include: bool) -> Tree {
        let field = "ts".to_owned();
        Tree::Range { field, from, to, include_from: include, include_to: include }
    }

    #[test]
    fn leaves_are_typed_as_everywhere() {
        let channel = || "channel".to_owned();
        let tag = |value: &str| Tree::Term { field: channel(), value: value.to_owned() };
        let values = ["a", "b c"].map(str::to_owned).to_vec();
        let cases = [
            (Tree::term("big"), "big"),
            (tag("rust"), "channel:rust"),
            (tag("a b"), "channel:\"a b\""),
            (Tree::OneOf { field: channel(), values }, "channel:IN [a \"b c\"]"),
            (Tree::phrase(&["big", "data"], 0), "\"big data\""),
            (Tree::phrase(&["big", "data"], 2), "\"big data\"~2"),
            (Tree::phrase_prefix(&["big", "da"]), "\"big da\"*"),
            (Tree::prefix("bi"), "bi*"),
            (Tree::wildcard("b?g*a"), "b?g*a"),
            (Tree::fuzzy("big", 1), "big~1"),
            (Tree::All {}, "*"),
            (range(Some(1), Some(5), true), "ts:[1 TO 5]"),
            (range(Some(1), Some(5), false), "ts:[2 TO 4]"),
            (range(Some(1), None, false), "ts:>=2"),
            (range(None, Some(5), true), "ts:<=5"),
            (range(None, None, true), "ts:*"),
        ];
        for (tree, typed) in cases {
            assert_eq!(text(&tree).as_deref(), Ok(typed), "{tree:?}");
        }
    }

    #[test]
    fn clauses_keep_what_must_and_what_may_match_apart() {
        let clauses = |must: &[&str], should: &[&str], not: &[&str], least| {
            text(&Tree::Bool(Clauses {
                must: words(must),
                should: words(should),
                not: words(not),
                minimum_should_match: least,
            }))
        };
        let said = |text: &str| Ok(text.to_owned());
        assert_eq!(clauses(&["a", "b"], &[], &[], None), said("+a +b"));
        assert_eq!(clauses(&[], &["a", "b"], &["c"], None), said("a b -c"));
        assert_eq!(clauses(&["a"], &["b", "c"], &[], None), said("+a b c"));
        assert_eq!(clauses(&["a"], &["b", "c"], &[], Some(1)), said("+a +(b c)"));
        assert_eq!(clauses(&[], &["b", "c"], &[], Some(2)), said("+b +c"));
        assert!(clauses(&[], &["a", "b", "c"], &[], Some(2)).is_err());
        assert!(clauses(&[], &[], &[], None).is_err());
    }

    fn is_of_terms(query: &Tree) -> bool {
        match query {
            Tree::Term { .. } => true,
            Tree::Bool(Clauses { must, should, not, .. }) => {
                must.iter().chain(should).chain(not).all(is_of_terms)
            }
            _ => false,
        }
    }

    /// Terms and clauses are what every version of the engine has.
    #[test]
    fn the_engine_understands_what_is_typed() {
        let corpus = Corpus::generate(3, Some(1000));
        let index = engine::filled(engine::options(&corpus).prefault(false), &corpus).unwrap();
        let mut reader = index.reader().unwrap();
        let statistics = Statistics::of(&corpus);
        let convention = Convention::of(System::Lucene).unwrap();
        let bm25 = Bm25 { statistics: &statistics, convention };
        let documents: Vec<Document> = corpus.iter().map(Document::new).collect();
        let mut typed = 0;
        for Named { query, .. } in drawn::draw(&corpus, 5, 42).queries {
            let Some(text) = text(&query).ok().filter(|_| is_of_terms(&query)) else { continue };
            let matches = |document: &&Document| bm25.score(&query, document).unwrap().is_some();
            let expected = documents.iter().filter(matches).count() as u64;
            assert_eq!(reader.count(&text).unwrap(), expected, "{text}");
            typed += 1;
        }
        assert!(typed > 50, "{typed}");
    }

    #[test]
    fn what_is_inside_another_stands_in_parentheses() {
        let either = Tree::any_of(words(&["b", "c"]));
        let both = Tree::all_of(vec![Tree::term("a"), either.clone()]);
        assert_eq!(text(&both).as_deref(), Ok("+a +(b c)"));
        let louder = Tree::Boost { query: Box::new(either.clone()), by: 2.5 };
        assert_eq!(text(&louder).as_deref(), Ok("(b c)^2.5"));
        let constant = Tree::Constant { query: Box::new(either), score: 1.0 };
        assert!(text(&Tree::any_of(vec![constant])).is_err());
    }
}
