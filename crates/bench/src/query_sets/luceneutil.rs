//! The tasks of luceneutil: lines `CLASS: TEXT [+OPTION]... # freq=N ...`.
//!
//! Dropped are tasks that sort, group, filter, highlight or ask other fields, those of other queries (spans, intervals,
//! vectors, suggestions), and ranges, since our documents do not have their fields.

use std::path::Path;

use spirit_peer_protocol::{Clauses, Query as Tree};

use super::{ARCHIVE, QuerySet, classic};
use crate::{Fallible, archive};

/// Tasks that have most classes between them; a class that several have is taken from all.
const FILES: [&str; 4] = [
    "luceneutil/wikimedium500.tasks",
    "luceneutil/wikimedium.10M.tasks",
    "luceneutil/wikimedium.10M.nostopwords.tasks",
    "luceneutil/wikinightly.tasks",
];

/// A task for the spelling checker, whose text looks like a term.
const NO_QUERIES: &str = "Respell";

/// At most `most` of each class, from the archive in the folder of shared data.
pub(crate) fn load(data: &Path, most: usize, seed: u64) -> Fallible<QuerySet> {
    let mut set = QuerySet::default();
    for (_, text) in archive::texts(&data.join(ARCHIVE), |name| FILES.contains(&name))? {
        read(&text, &mut set);
    }
    Ok(set.sampled(most, seed))
}

fn read(text: &str, set: &mut QuerySet) {
    for line in
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (class, task) = line.split_once(':').unwrap_or((line, ""));
        let query = if class == NO_QUERIES { Err("no query".to_owned()) } else { self::task(task) };
        set.push(class, query);
    }
}

/// The query of a task, without what follows ` # `.
fn task(text: &str) -> Result<Tree, String> {
    let text = text.split(" # ").next().unwrap_or_default().trim();
    let text = text.strip_prefix("count(").and_then(|t| t.strip_suffix(')')).unwrap_or(text);
    if let Some((other, _)) = text.split_once("//") {
        return Err(format!("another kind: {other}"));
    }
    let (mut words, mut options) = (Vec::new(), Vec::new());
    for word in text.split(' ') {
        if is_option(word) { options.push(word) } else { words.push(word) }
    }
    let query = words.join(" ");
    if query.contains(':') {
        return Err(format!("another field: {query}"));
    }
    options.into_iter().try_fold(classic::parse(&query)?, with)
}

fn is_option(word: &str) -> bool {
    word.starts_with('+') && (word.contains(['=', ':']) || word == "+constantScore")
}

fn with(query: Tree, option: &str) -> Result<Tree, String> {
    if option == "+constantScore" {
        return Ok(Tree::Constant { query: Box::new(query), score: 1.0 });
    }
    let least = option.strip_prefix("+minShouldMatch=").and_then(|least| least.parse().ok());
    match (least, query) {
        (Some(least), query) => at_least(least, query),
        (None, _) => Err(format!("another option: {option}")),
    }
}

/// The clauses may have been given a constant score already.
fn at_least(least: usize, query: Tree) -> Result<Tree, String> {
    match query {
        Tree::Bool(clauses) => {
            Ok(Tree::Bool(Clauses { minimum_should_match: Some(least), ..clauses }))
        }
        Tree::Constant { query, score } => {
            Ok(Tree::Constant { query: Box::new(at_least(least, *query)?), score })
        }
        other => Err(format!("no clauses: {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<Tree> {
        words.iter().map(|word| Tree::term(word)).collect()
    }

    #[test]
    fn tasks_are_queries_with_options_and_notes() {
        assert_eq!(task("the # freq=8159148"), Ok(Tree::term("the")));
        assert_eq!(task("+as +2009 # freq=1 freq=2"), Ok(Tree::all_of(words(&["as", "2009"]))));
        assert_eq!(task("\"and the\"~4 # freq=1"), Ok(Tree::phrase(&["and", "the"], 4)));
        assert_eq!(task("count(\"it was\") # freq=9"), Ok(Tree::phrase(&["it", "was"], 0)));
        let two = Tree::Bool(Clauses {
            should: words(&["ref", "also", "url"]),
            minimum_should_match: Some(2),
            ..Clauses::default()
        });
        assert_eq!(task("ref also url +minShouldMatch=2"), Ok(two.clone()));
        let constant = Tree::Constant { query: Box::new(two), score: 1.0 };
        assert_eq!(task("ref also url +constantScore +minShouldMatch=2"), Ok(constant));
    }

    #[test]
    fn what_we_have_no_words_for_is_dropped_by_class() {
        let text = "# a note\n\nTerm: a\nRespell: biker\nSpanNear: near//to the # freq=1\nTerm: b
FilteredTerm: 0 +filter=5%\nBrowse: *:* +facets:taxonomy:Date\nrange:day:0-5\nrange:day:5-9";
        let mut set = QuerySet::default();
        read(text, &mut set);
        assert_eq!(set.classes(), [("Term", 2)]);
        let dropped: Vec<_> =
            set.dropped.iter().map(|(name, (n, _))| (name.as_str(), *n)).collect();
        let others = [("Browse", 1), ("FilteredTerm", 1), ("Respell", 1), ("SpanNear", 1)];
        assert_eq!(dropped[..4], others);
        assert_eq!(dropped[4], ("range", 2));
    }
}
