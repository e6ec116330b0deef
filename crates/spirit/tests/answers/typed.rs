//! What people type and paste: stop words, lines of any text, empty values, and odd names.

use proptest::prelude::*;
use spirit::{Analyzer, Document, FieldKind, Index, Lenient, Operator, Search};

use crate::support::tiny;

fn keys(index: &Index, query: &str) -> Vec<String> {
    let mut reader = index.reader().unwrap();
    let found = reader.search(query, Search::newest(100)).unwrap().keys().unwrap();
    assert_eq!(reader.count(query).unwrap(), found.len() as u64, "{query}");
    let mut best = reader.search(query, Search::best(100)).unwrap().keys().unwrap();
    best.sort_by_key(|key| found.iter().position(|other| other == key));
    assert_eq!(best, found, "{query}");
    found
}

/// A query of words, of which some are stop words.
#[derive(Clone, Debug)]
enum Asked {
    Word(&'static str),
    Stop(&'static str),
    Group(Vec<(Sign, Asked)>),
}

#[derive(Clone, Copy, Debug)]
enum Sign {
    And,
    Or,
    Not,
    Must,
}

fn asked() -> impl Strategy<Value = Asked> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["one", "two", "red"]).prop_map(Asked::Word),
        prop::sample::select(vec!["the", "of", "\"to be\"", "\"?\"", "(the)"])
            .prop_map(Asked::Stop),
    ];
    let sign = prop::sample::select(vec![Sign::And, Sign::Or, Sign::Not, Sign::Must]);
    leaf.prop_recursive(3, 12, 4, move |inner| {
        prop::collection::vec((sign.clone(), inner), 1..4).prop_map(Asked::Group)
    })
}

/// The query in the language, with a boolean for whether groups are joined by `AND`.
fn written(asked: &Asked) -> String {
    match asked {
        Asked::Word(word) | Asked::Stop(word) => (*word).to_owned(),
        Asked::Group(members) => {
            let member = |(sign, asked): &(Sign, Asked)| {
                let text = written(asked);
                match sign {
                    Sign::And => format!("(+{text})"),
                    Sign::Or => text,
                    Sign::Not => format!("-{text}"),
                    Sign::Must => format!("+{text}"),
                }
            };
            format!("({})", members.iter().map(member).collect::<Vec<_>>().join(" "))
        }
    }
}

/// The query without its stop words, and without groups of nothing else.
fn without_stop_words(asked: &Asked) -> Option<Asked> {
    match asked {
        Asked::Word(word) => Some(Asked::Word(word)),
        Asked::Stop(_) => None,
        Asked::Group(members) => {
            let kept = |(sign, asked): &(Sign, Asked)| Some((*sign, without_stop_words(asked)?));
            let members: Vec<(Sign, Asked)> = members.iter().filter_map(kept).collect();
            (!members.is_empty()).then_some(Asked::Group(members))
        }
    }
}

/// All sets of three words, in a fresh segment and in a flushed one.
fn of_three_words() -> Index {
    let index = tiny(1, 8 << 20).analyzer(Analyzer::English).open().unwrap();
    for set in 0..8 {
        let has = |bit: &usize| set & (1 << *bit) != 0;
        let words: Vec<&str> = (0..3).filter(has).map(|bit| ["one", "two", "red"][bit]).collect();
        index.add(&*format!("sky {}", words.join(" "))).unwrap();
        if set == 4 {
            index.flush().unwrap();
        }
    }
    index
}

#[test]
fn a_group_of_stop_words_takes_no_part() {
    let index = of_three_words();
    proptest!(|(query in asked())| {
        let typed = written(&query);
        let expected = without_stop_words(&query).map(|query| keys(&index, &written(&query)));
        prop_assert_eq!(keys(&index, &typed), expected.unwrap_or_default(), "{}", typed);
        let joined = format!("sky AND {typed}");
        let expected = without_stop_words(&query)
            .map_or("sky".to_owned(), |query| format!("sky AND {}", written(&query)));
        prop_assert_eq!(keys(&index, &joined), keys(&index, &expected), "{}", joined);
    });
}

/// Parts of lines as people paste them.
const PARTS: [&str; 43] = [
    "heron",
    "Grey",
    "don't",
    "wi-fi",
    " ",
    " ",
    " ",
    "  ",
    "\t",
    "https://a.org/find?q=otter&page=2#top",
    "http://x.y/(a)",
    "GET /v1/items?id=42 HTTP/1.1",
    "std::map<int>::insert(x)",
    "a@b.example",
    "-rf",
    "--all",
    "–",
    "—so",
    "NOT",
    "AND",
    "OR",
    "&&",
    "||",
    "!x",
    "key:42",
    "text:",
    "level:error",
    "{\"user\":\"ann lee\",\"n\":3}",
    "C:\\dir\\new",
    "\\",
    "“so”",
    "«",
    "2*3",
    "**bold**",
    "~1",
    "x^2",
    "\"a b\"~3",
    "/srv/ww*",
    "/srv/",
    "/a.b/",
    " /*(x*/",
    "h?ron",
    "[1 TO 5]",
];

fn line() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        3 => prop::sample::select(&PARTS[..]).prop_map(str::to_owned),
        1 => "[ -~]{1,3}",
        1 => "[*?~^:/{}\\[\\]\"'()+!&|<>=,;.#@$%_`-]{1,2}",
    ];
    prop::collection::vec(part, 0..12)
        .prop_map(|parts| format!("{} reed tide moon sand dune", parts.concat()))
}

/// A line that somebody pastes is found, whatever it means in the query language.
#[test]
fn a_pasted_line_finds_its_document() {
    for analyzer in [Analyzer::Simple, Analyzer::Standard, Analyzer::English, Analyzer::Social] {
        let config = ProptestConfig { cases: 24, ..ProptestConfig::default() };
        proptest!(config, |(lines in prop::collection::vec(line(), 1..24))| {
            let index = tiny(1, 8 << 20).analyzer(analyzer).field("level", FieldKind::Keyword);
            let index = index.open().unwrap();
            for (number, line) in lines.iter().enumerate() {
                index.put(&number.to_string(), line.as_str()).unwrap();
            }
            let mut reader = index.reader().unwrap();
            reader.default_operator(Operator::And);
            for (number, line) in lines.iter().enumerate() {
                let found = reader.search(Lenient(line), Search::newest(100)).unwrap();
                let found = found.keys().unwrap();
                prop_assert!(found.contains(&number.to_string()), "{analyzer:?}: {line}");
            }
        });
    }
}

#[test]
fn empty_keywords_are_found_and_excluded() {
    let index = tiny(1, 8 << 20).field("kind", FieldKind::Keyword).open().unwrap();
    for flushed in [true, false] {
        for (key, kind) in [("a", Some("x")), ("b", Some("")), ("c", None), ("d", Some("\0"))] {
            let document = Document::new().key(key).text("sea");
            let document = match kind {
                Some(kind) => document.field("kind", kind),
                None => document,
            };
            index.add(&document).unwrap();
        }
        for (query, expected) in [
            ("kind:\"\"", vec!["b"]),
            ("NOT kind:\"\"", vec!["d", "c", "a"]),
            ("sea AND kind:\"\"", vec!["b"]),
            ("kind:IN [\"\" x]", vec!["b", "a"]),
            ("kind:(\"\" OR x)", vec!["b", "a"]),
            ("kind:*", vec!["d", "b", "a"]),
            ("kind:[* TO x}", vec!["d", "b"]),
            ("kind:?", vec!["d", "a"]),
        ] {
            assert_eq!(keys(&index, query), expected, "{query}, flushed: {flushed}");
        }
        if flushed {
            index.flush().unwrap();
        }
    }
}

/// Each name that a field can have can be written in a query.
#[test]
fn any_name_of_a_field_can_be_asked_for() {
    let names = [
        "user name",
        "$type",
        "1st",
        "x-y",
        "größe",
        "a.b",
        "a:b",
        "-x",
        "名",
        "a\"b",
        "a\\b",
        "(x)",
        "*",
        "AND",
        "http",
        "10",
        "so“",
        " ",
        "it's",
        "?",
        "a/b",
        "e\u{301}",
    ];
    let mut options = tiny(1, 8 << 20);
    for name in names {
        options = options.field(name, FieldKind::Keyword);
    }
    let index = options.open().unwrap();
    for name in names {
        index.add(Document::new().key(name).text("sea").field(name, "curl")).unwrap();
    }
    for name in names {
        let escaped: String = name.chars().flat_map(|c| ['\\', c]).collect();
        let quoted = format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
        for name_typed in [&escaped, &quoted] {
            for value in ["curl", "\"curl\"", "(curl)", "IN [curl x]", ">=curl", "cu*", "*"] {
                let query = format!("{name_typed}:{value}");
                assert_eq!(keys(&index, &query), [name], "{query}");
            }
        }
        let built = spirit::Clause::value(name, "curl").to_string();
        assert_eq!(keys(&index, &built), [name], "{built}");
    }
    for plain in ["$type", "1st", "x-y", "größe", "a.b", "名", "10", "e\u{301}"] {
        assert_eq!(keys(&index, &format!("{plain}:curl")), [plain]);
    }
    for unknown in ["gröse", "user-agnt", "名前", "$typ", "user\\ nme", "\"user nme\"", "ё"] {
        for value in ["x", "\"x\"", "(x)", ">x", "[a TO b]", "x*"] {
            let query = format!("sea {unknown}:{value}");
            let error = index.reader().unwrap().count(&*query).unwrap_err().to_string();
            assert!(error.contains("no such field"), "{query}: {error}");
        }
    }
}
