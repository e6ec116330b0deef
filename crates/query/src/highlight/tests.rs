//! Marks compared with those of an exhaustive search, and properties of snippets of any text.

use std::collections::BTreeSet;
use std::ops::Range;

use proptest::prelude::*;
use spirit_index::ground::FieldId;
use spirit_text::Analyzer;

use super::{Highlight, Highlighter, Snippet, near, snippet};
use crate::clause::{Bool, Clause};
use crate::query::Query;
use crate::slop::Slot;
use crate::{fuzzy, pattern};

fn highlighter(clause: &Clause, analyzer: Analyzer, how: Highlight) -> Highlighter {
    let query = Query::new_of(clause).unwrap();
    Highlighter::new(&query, FieldId(0), analyzer, 1 << 21, how)
}

/// Returns a text with `[]` around its marks.
fn marked(clause: &Clause, text: &str) -> String {
    let how = Highlight::default().characters(usize::MAX);
    let snippets = highlighter(clause, Analyzer::Simple, how).snippets(text);
    snippets.iter().map(|snippet| snippet.marked("[", "]")).collect()
}

#[test]
fn what_is_asked_for_is_marked_and_nothing_else() {
    let heron = Clause::term("heron");
    assert_eq!(marked(&heron, "A Heron, not a herons."), "A [Heron], not a herons.");
    let phrase = Clause::phrase(&["grey", "heron"]);
    assert_eq!(marked(&phrase, "grey heron, heron grey"), "[grey] [heron], heron grey");
    let near = Clause::near(&["grey", "heron"], 2);
    assert_eq!(marked(&near, "heron grey; grey"), "[heron] [grey]; grey");
    // Words between those of a match are not part of it.
    let apart = Clause::near(&["test", "with", "from", "zero"], 2);
    let text = "test with slop different from zero";
    assert_eq!(marked(&apart, text), "[test] [with] slop different [from] [zero]");
    let both = Clause::any([phrase, heron.clone()]);
    assert_eq!(marked(&both, "heron; grey; grey heron"), "[heron]; grey; [grey] [heron]");
    let without = heron.and_not(Clause::any([Clause::term("sea"), Clause::prefix("gr")]));
    assert_eq!(marked(&without, "sea, grey, heron"), "sea, grey, [heron]");
    assert_eq!(marked(&Clause::prefix("her"), "HERON hero he"), "[HERON] [hero] he");
    assert_eq!(marked(&Clause::wildcard("h?r*"), "hare herons ahr"), "[hare] [herons] ahr");
    assert_eq!(marked(&Clause::regex("h[ae]r.*"), "Hare herons ahr"), "[Hare] [herons] ahr");
    assert_eq!(marked(&Clause::fuzzy("heron", 1), "hern hers heorn"), "[hern] hers [heorn]");
    let begun = Clause::phrase_prefix(&["grey"], "her");
    assert_eq!(marked(&begun, "grey herons, hero, grey hawk"), "[grey] [herons], hero, grey hawk");
    let both = Clause::any([begun.clone(), Clause::phrase_prefix(&["her"], "he")]);
    assert_eq!(marked(&both, "grey her hero her"), "[grey] [her] [hero] her");
    assert_eq!(marked(&Clause::term("sea").and_not(begun), "grey herons"), "grey herons");
    // A phrase's term stays one, even if something else matches it too.
    let phrase = Clause::any([Clause::phrase(&["a", "b"]), Clause::prefix("a")]);
    assert_eq!(marked(&phrase, "a ab b a b"), "[a] [ab] b [a] [b]");
    for nothing in [Clause::Everything, Clause::Nothing, Clause::key("heron")] {
        assert_eq!(marked(&nothing, "heron"), "heron");
    }
}

#[test]
fn neighbours_without_a_gap_are_one_mark() {
    let clause = Clause::phrase(&["日", "本"]);
    let mut highlighter = highlighter(&clause, Analyzer::Standard, Highlight::default());
    assert_eq!(highlighter.marks("今日本語").len(), 1);
    assert_eq!(highlighter.snippets("今日本語")[0].marked("<", ">"), "今<日本>語");
}

#[test]
fn other_fields_are_not_marked() {
    let query = Query::new_of(&Clause::any([Clause::term("sea"), Clause::prefix("s")])).unwrap();
    let how = Highlight::default();
    let mut other = Highlighter::new(&query, FieldId(1), Analyzer::Simple, 100, how);
    assert!(other.marks("sea").is_empty());
}

#[test]
fn what_is_behind_the_limit_is_shown_and_not_marked() {
    let clause = Clause::any([Clause::term("her"), Clause::term("heron")]);
    let limited = |bytes, text: &str| {
        let how = Highlight::default().bytes_max(bytes);
        highlighter(&clause, Analyzer::Simple, how).snippets(text)[0].marked("[", "]")
    };
    assert_eq!(limited(11, "heron heron"), "[heron] [heron]");
    assert_eq!(limited(10, "heron heron"), "[heron] heron");
    assert_eq!(limited(3, "heron heron"), "heron heron");
    assert_eq!(limited(0, "heron"), "heron");
    // It is also cut in a language without blanks.
    let sun = Clause::term("日");
    let how = Highlight::default().bytes_max(7);
    let first = 0..3;
    assert_eq!(highlighter(&sun, Analyzer::Standard, how).marks("日日日"), [first]);
    let how = Highlight::default().bytes_max(2);
    assert!(highlighter(&Clause::term("ab"), Analyzer::Keyword, how).marks("ab ").is_empty());
}

#[test]
fn the_best_parts_are_shown_in_their_order() {
    let clause = Clause::any([Clause::term("sea"), Clause::term("heron"), Clause::term("reed")]);
    let filler = "Something else is said here. ".repeat(20);
    let text = format!("The sea. {filler}A heron in the reed. {filler}A reed by the sea, a reed.");
    let shown = |snippets| {
        let how = Highlight::default().characters(30).snippets(snippets);
        let snippets = highlighter(&clause, Analyzer::Simple, how).snippets(&text);
        snippets.iter().map(|snippet| snippet.marked("[", "]")).collect::<Vec<_>>()
    };
    let [heron, reed] = ["A [heron] in the [reed].", "A [reed] by the [sea], a [reed]."];
    assert_eq!(shown(1), [reed]);
    assert_eq!(shown(2), [heron, reed]);
    assert_eq!(shown(9), ["The [sea]. Something else is", heron, reed]);
}

#[test]
fn the_beginning_is_shown_if_nothing_is_marked() {
    let clause = Clause::term("heron");
    let how = Highlight::default().characters(20);
    let mut highlighter = highlighter(&clause, Analyzer::Simple, how);
    let snippets = highlighter.snippets("\n The old man is by the sea, and so on.");
    assert_eq!((&*snippets[0].text, snippets[0].range.clone()), ("The old man is by", 2..19));
    assert!(!snippets[0].more_before && snippets[0].more_after);
    assert_eq!(highlighter.snippets(" short ")[0].text, " short ");
    assert_eq!(highlighter.snippets(" \n"), []);
}

/// Texts on which the rules of segmentation look far ahead, or every word is marked.
#[test]
fn hostile_texts_take_no_longer_than_others() {
    let clause = Clause::any([Clause::near(&["a", "a", "b"], 1000), Clause::fuzzy("aa", 2)]);
    let how = Highlight::default().snippets(3).characters(10_000);
    for piece in ["a ", "a b ", "(", ". (", "\u{301}", "👩\u{200d}", "🇫", "a.", "ab", "日", " "]
    {
        let text = piece.repeat((1 << 19) / piece.len());
        for analyzer in Analyzer::ALL {
            let snippets = highlighter(&clause, analyzer, how).snippets(&text);
            check(&text, &snippets, 10_000);
        }
    }
}

/// Checks the properties of snippets of any text.
fn check(text: &str, snippets: &[Snippet], characters: usize) {
    let mut end = 0;
    for snippet in snippets {
        let Range { start, end: behind } = snippet.range;
        assert!(end <= start && start < behind, "{:?}", snippet.range);
        end = behind;
        assert_eq!(snippet.text, text[start..behind]);
        assert_eq!(snippet.more_before, !text[..start].trim().is_empty());
        assert_eq!(snippet.more_after, !text[behind..].trim().is_empty());
        let pieces: String = snippet.pieces().map(|(piece, _)| piece).collect();
        assert_eq!(pieces, snippet.text);
        assert!(snippet.marks.windows(2).all(|pair| pair[0].end < pair[1].start));
        assert!(snippet.marks.iter().all(|mark| mark.start < mark.end));
        let single = matches!(&*snippet.marks, [mark] if *mark == (0..snippet.text.len()));
        assert!(single || snippet.text.chars().count() <= characters, "{}", snippet.text);
    }
}

/// Returns the places in a text of words that `clause` marks, by exhaustive search.
fn naive(clause: &Clause, words: &[String]) -> BTreeSet<usize> {
    let those = |test: &dyn Fn(&str) -> bool| {
        (0..words.len()).filter(|at| test(&words[*at])).collect::<BTreeSet<usize>>()
    };
    let characters = |text: &str| text.chars().collect::<Vec<char>>();
    match clause {
        Clause::Term(word) => those(&|term| term == word.text),
        Clause::Prefix(word) => those(&|term| term.starts_with(&word.text)),
        Clause::Wildcard(word) => {
            those(&|term| pattern::tests::naive(&characters(&word.text), &characters(term)))
        }
        Clause::Regex(word) => {
            let whole = regex::Regex::new(&format!("^(?:{})$", word.text)).unwrap();
            those(&|term| whole.is_match(term))
        }
        Clause::Fuzzy { word, distance, .. } => {
            those(&|term| fuzzy::tests::naive(&word.text, term, true) <= usize::from(*distance))
        }
        Clause::Phrase { words: phrase, slop, .. } => naive_phrase(phrase, *slop, words),
        Clause::PhrasePrefix { words: others, prefix, .. } => {
            let last = words.iter().filter(|word| word.starts_with(prefix)).cloned().map(Some);
            let phrase = |last| [others.as_slice(), &[last]].concat();
            last.flat_map(|last| naive_phrase(&phrase(last), 0, words)).collect()
        }
        Clause::Bool(Bool { must, should, .. }) => {
            must.iter().chain(should).flat_map(|clause| naive(clause, words)).collect()
        }
        Clause::Best { clauses, .. } => clauses.iter().flat_map(|one| naive(one, words)).collect(),
        Clause::Boost(clause, _) | Clause::Constant(clause, _) => naive(clause, words),
        _ => BTreeSet::new(),
    }
}

fn naive_phrase(phrase: &[Option<String>], slop: u32, words: &[String]) -> BTreeSet<usize> {
    let number = |word: &String| {
        let known = phrase.iter().position(|term| term.as_ref() == Some(word));
        known.map_or(u32::MAX, |at| at as u32)
    };
    let slots = (0..).zip(phrase);
    let slots: Vec<Slot> =
        slots.filter_map(|(at, term)| Some(Slot { term: number(term.as_ref()?), at })).collect();
    if slots.is_empty() {
        return BTreeSet::new();
    }
    let numbers: Vec<u32> = words.iter().map(number).collect();
    near::tests::naive(&numbers, &slots, i64::from(slop), &mut Vec::new())
}

/// Words that are near each other, in lower case.
fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{1,2}", "[ab]{1,3}", "[abé]{1,3}"]
}

fn clause() -> impl Strategy<Value = Clause> {
    let leaf = prop_oneof![
        3 => word().prop_map(|word| Clause::term(&word)),
        1 => "[ab]{1,2}".prop_map(|word| Clause::prefix(&word)),
        1 => "[ab?*]{1,3}".prop_map(|word| Clause::wildcard(&word)),
        1 => prop::sample::select(vec!["a|b", "ab?", "[ab]+", ".", "a.*", "(a|bé)b", "[^a]{2}"])
            .prop_map(Clause::regex),
        1 => (word(), 0u8..3).prop_map(|(word, distance)| Clause::fuzzy(&word, distance)),
        4 => (proptest::collection::vec(proptest::option::weighted(0.9, "[ab]{1}"), 1..4), 0u32..4)
            .prop_map(|(words, slop)| Clause::Phrase { field: "text".to_owned(), words, slop }),
        2 => (proptest::collection::vec(proptest::option::weighted(0.9, "[ab]{1}"), 0..3), "[ab]{1,2}")
            .prop_map(|(words, prefix)| Clause::PhrasePrefix { field: "text".to_owned(), words, prefix }),
        1 => Just(Clause::Everything),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let clauses = || proptest::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            3 => (clauses(), clauses(), clauses()).prop_map(|(must, should, not)| {
                Clause::Bool(Bool { must, should, not, minimum: 0 })
            }),
            1 => inner.clone().prop_map(|clause| clause.boost(2.0)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn marks_are_what_trying_everything_finds(
        clause in clause(),
        words in proptest::collection::vec(
            (word(), prop_oneof![Just(" "), Just(", "), Just("…"), Just("\n\n"), Just("—")]),
            0..9,
        ),
        upper: bool,
    ) {
        let (mut text, mut spans) = (String::new(), Vec::new());
        for (word, behind) in &words {
            let start = text.len();
            text.push_str(&if upper { word.to_uppercase() } else { word.clone() });
            spans.push(start..text.len());
            text.push_str(behind);
        }
        let words: Vec<String> = words.into_iter().map(|(word, _)| word).collect();
        let expected = naive(&clause, &words).into_iter().map(|at| spans[at].clone());
        let mut highlighter = highlighter(&clause, Analyzer::Simple, Highlight::default());
        prop_assert_eq!(highlighter.marks(&text), snippet::merged(expected));
    }

    #[test]
    fn snippets_of_any_text_are_parts_of_it(
        pieces in proptest::collection::vec(
            prop_oneof![
                4 => "[ab]{1,3}",
                2 => Just(" ".to_owned()),
                2 => "\\PC{1,4}",
                1 => Just(". ".to_owned()),
                1 => any::<char>().prop_map(String::from),
                1 => "(日本|https://a\\.b/|#a|\r\n|👩\u{200d}🚀|e\u{301})",
            ],
            0..80,
        ),
        clause in clause(),
        characters in 1usize..60,
        count in 1usize..5,
    ) {
        let text = pieces.concat();
        let how = Highlight::default().characters(characters).snippets(count);
        for analyzer in Analyzer::ALL {
            let mut highlighter = highlighter(&clause, analyzer, how);
            let snippets = highlighter.snippets(&text);
            check(&text, &snippets, characters);
            prop_assert!(snippets.len() <= count && snippets.is_empty() == text.trim().is_empty());
            // Marks of snippets are the text's marks in them.
            let marks = highlighter.marks(&text);
            let shown = snippets.iter().any(|snippet| !snippet.marks.is_empty());
            prop_assert_eq!(shown, !marks.is_empty() && !snippets.is_empty());
            // A snippet without marks is shown only if nothing is marked.
            let each = snippets.iter().all(|snippet| !snippet.marks.is_empty());
            prop_assert!(each || marks.is_empty());
            for snippet in &snippets {
                for mark in &snippet.marks {
                    let (start, end) = (snippet.range.start + mark.start, snippet.range.start + mark.end);
                    prop_assert!(marks.iter().any(|m| m.start <= start && end <= m.end));
                }
            }
        }
    }
}
