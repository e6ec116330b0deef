//! Snippets of hits, in every stage of a stored text and by every analyzer.

use spirit::search::{Highlight, Snippet};
use spirit::{
    Analyzer, Clause, Document, FieldKind, HitError, Index, Operator, Query, Search, SearchError,
};

use crate::support::directory::Directory;
use crate::support::tiny;

/// The snippets of the newest hits of `query`, marked.
fn snippets(index: &Index, query: &str, how: Highlight) -> Vec<Vec<String>> {
    let mut reader = index.reader().unwrap();
    let mut highlighter = reader.highlighter(query, how).unwrap();
    let hits = reader.search(query, Search::newest(100)).unwrap();
    let marked = |hit| {
        let snippets = hits.get(hit).unwrap().snippets(&mut highlighter).unwrap();
        snippets.iter().map(|snippet| snippet.marked("[", "]")).collect()
    };
    (0..hits.len()).map(marked).collect()
}

fn one(index: &Index, query: &str) -> String {
    snippets(index, query, Highlight::default()).concat().concat()
}

#[test]
fn hits_are_highlighted_in_every_stage() {
    let directory = Directory::new();
    let options = tiny(1, 2 << 20).analyzer(Analyzer::English).store(true);
    let options = options.directory(directory.path()).nvm_bytes(8 << 20).log_bytes(1 << 20);
    let index = options.document_bytes_max(128 << 10).open().unwrap();
    let long = format!("{} Herons’ nests. {}", "Water. ".repeat(900), "Reed. ".repeat(900));
    let assert_found = |index: &Index, texts: usize| {
        let found = snippets(index, "heron", Highlight::default().characters(30));
        assert_eq!(found.len(), texts);
        for snippet in found {
            let [snippet] = &snippet[..] else { panic!("{snippet:?}") };
            assert!(snippet.contains("[Herons]’ nests."), "{snippet}");
        }
    };
    for number in 1..=4 {
        index.add(&long).unwrap();
        assert_found(&index, number);
    }
    index.flush().unwrap();
    assert_found(&index, 4);
    index.close().unwrap();
}

#[test]
fn each_analyzer_marks_what_it_finds() {
    let text = "The Herons of https://reed.org/x, #Reed: don’t e-mail 日本";
    for (analyzer, query, expected) in [
        (Analyzer::Simple, "don", "The Herons of https://reed.org/x, #Reed: [don]’t e-mail 日本"),
        (Analyzer::Standard, "本", "The Herons of https://reed.org/x, #Reed: don’t e-mail 日[本]"),
        (Analyzer::Social, "#reed", "The Herons of https://reed.org/x, [#Reed]: don’t e-mail 日本"),
        (
            Analyzer::English,
            "heron",
            "The [Herons] of https://reed.org/x, #Reed: don’t e-mail 日本",
        ),
        (Analyzer::Keyword, &*format!("\"{text}\""), &*format!("[{text}]")),
    ] {
        let index = tiny(1, 2 << 20).analyzer(analyzer).store(true).open().unwrap();
        index.add(text).unwrap();
        assert_eq!(one(&index, query), expected, "{analyzer}");
    }
}

/// Each field is cut by its own analyzer, and what is asked for in another one is not marked in it.
#[test]
fn what_is_found_in_a_field_is_marked_in_its_values() {
    let options = tiny(1, 4 << 20).store(true).field("by", FieldKind::Keyword);
    let options = options.field("title", FieldKind::Text(Analyzer::English));
    let index = options.field("n", FieldKind::Integer).open().unwrap();
    let first = Document::new().text("The herons of Ann").field("title", "Nests").field("n", 7);
    let first = first.field("title", "Grey Herons").field("title", "A heron").field("by", "Ann");
    index.add(&first).unwrap();
    index.add(Document::new().text("title: herons").field("by", "Heron Bo")).unwrap();
    let query = "title:heron OR by:\"Heron Bo\" OR by:A* OR herons";
    for flushed in [false, true] {
        if flushed {
            index.flush().unwrap();
            index.settle();
        }
        let mut reader = index.reader().unwrap();
        let mut marked = |field: &str, query: &str, snippets: usize| {
            let how = Highlight::default().snippets(snippets);
            let mut highlighter = reader.highlighter_in(field, query, how).unwrap();
            let hits = reader.search(query, Search::newest(9)).unwrap();
            let snippets = |hit| hits.get(hit).unwrap().snippets(&mut highlighter).unwrap();
            let snippets = (0..hits.len()).map(snippets).collect::<Vec<_>>();
            let marked = |all: &Vec<Snippet>| all.iter().map(|one| one.marked("[", "]")).collect();
            snippets.iter().map(marked).collect::<Vec<Vec<String>>>()
        };
        let none = Vec::<String>::new;
        assert_eq!(
            marked("title", query, 9),
            [none(), vec!["Grey [Herons]".into(), "A [heron]".into()]]
        );
        assert_eq!(marked("title", query, 1), [none(), vec!["Grey [Herons]".into()]]);
        assert_eq!(marked("title", "title:\"Grey herons\"", 9), [["[Grey] [Herons]"]]);
        assert_eq!(marked("title", "ann", 9), [["Nests"]]);
        assert_eq!(marked("by", query, 1), [["[Heron Bo]"], ["[Ann]"]]);
        assert_eq!(marked("text", query, 1), [["title: [herons]"], ["The [herons] of Ann"]]);
    }
    let mut reader = index.reader().unwrap();
    for (name, kind) in [("n", Some(FieldKind::Integer)), ("nobody", None)] {
        let refused = reader.highlighter_in(name, "a", Highlight::default()).err();
        assert_eq!(refused, Some(SearchError::Unmarkable { field: name.into(), kind }));
    }
}

#[test]
fn a_query_that_a_program_built_is_highlighted() {
    let index = tiny(1, 2 << 20).open().unwrap();
    let clause = Clause::near(&["grey", "heron"], 1).and_not(Clause::term("reed"));
    let query = Query::new_of(&clause).unwrap();
    let mut highlighter = index.searcher().highlighter(query, Highlight::default()).unwrap();
    let snippet = &highlighter.snippets("A grey old heron; reed & heron")[0];
    assert_eq!(
        snippet.marked_html("<b>", "</b>"),
        "A <b>grey</b> old <b>heron</b>; reed &amp; heron"
    );
}

#[test]
fn words_mean_what_they_mean_to_the_reader() {
    let index = tiny(1, 2 << 20).store(true).open().unwrap();
    index.add("the heron and the reed").unwrap();
    let mut reader = index.reader().unwrap();
    reader.default_operator(Operator::And);
    assert!(reader.highlighter("(", Highlight::default()).is_err());
    let mut highlighter = reader.highlighter("heron reed", Highlight::default()).unwrap();
    let hits = reader.search("heron reed", Search::newest(1)).unwrap();
    let snippets = hits.get(0).unwrap().snippets(&mut highlighter).unwrap();
    assert_eq!(snippets[0].marked("<", ">"), "the <heron> and the <reed>");
}

#[test]
fn an_index_that_does_not_store_says_so() {
    let index = tiny(1, 2 << 20).open().unwrap();
    index.add("the sea").unwrap();
    let mut reader = index.reader().unwrap();
    let mut highlighter = reader.highlighter("sea", Highlight::default()).unwrap();
    let hits = reader.search("sea", Search::newest(1)).unwrap();
    assert_eq!(hits.get(0).unwrap().snippets(&mut highlighter), Err(HitError::NotStored));
}
