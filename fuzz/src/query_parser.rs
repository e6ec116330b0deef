//! Any text as a query: no panic; an error has a place in the text; a query is answered, and its count is the
//! number of its hits, by every algorithm and in every order.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::OnceLock;

use spirit::lab::Algorithm;
use spirit::schema::TimeUnit;
use spirit::search::Direction;
use spirit::{
    Analyzer, Document, FieldKind, Index, Lenient, Operator, Reader, Search, SearchError,
};

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let options = Index::builder().dram_bytes(4 << 20).segment_bytes(64 << 10).executors(2);
        let options = options.field("n", FieldKind::Integer).field("x", FieldKind::Float);
        let options = options
            .field("at", FieldKind::Time(TimeUnit::Seconds))
            .field("tag", FieldKind::Keyword);
        let index = options.analyzer(Analyzer::Standard).open().expect("these settings are good");
        for n in 0..1500 {
            let text = format!("a b{} c{} a common w{n} Don't 10:30 example.org", n % 3, n % 40);
            match n % 5 {
                0 => index.put(&format!("k{}", n % 60), &text),
                1 => {
                    let tag = format!("t{}", n % 7);
                    let document = Document::new()
                        .text(&text)
                        .field("n", n)
                        .field("x", f64::from(n % 9) / 2.0);
                    index.add(document.field("at", n * 86_400).field("tag", &tag)).map(drop)
                }
                _ => index.add(&text).map(drop),
            }
            .expect("the heap is large enough");
        }
        index
    })
}

thread_local! {
    static READERS: RefCell<[Reader; 2]> = RefCell::new([Operator::Or, Operator::And].map(|operator| {
        let mut reader = index().reader().expect("two readers a thread");
        reader.default_operator(operator);
        reader
    }));
}

/// Parses `data`, as far as it is text, under both operators, and asks.
pub fn query_parser(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    READERS.with_borrow_mut(|readers| readers.iter_mut().for_each(|reader| ask(reader, &text)));
}

fn ask(reader: &mut Reader, text: &str) {
    let counted = match reader.count(text) {
        Ok(counted) => counted as usize,
        Err(SearchError::Parse(error)) => {
            assert!(text.is_char_boundary(error.offset), "{error:?} in {text:?}");
            assert_eq!(
                error.column,
                text[..error.offset].chars().count() + 1,
                "{error:?} in {text:?}"
            );
            return check_lenient(reader, text, true);
        }
        Err(error) => panic!("{error} in {text:?}"),
    };
    let algorithms = [None, Some(Algorithm::Naive), Some(Algorithm::Finger), Some(Algorithm::Simd)];
    for algorithm in algorithms {
        let search = Search::newest(10_000).algorithm(algorithm);
        let hits = reader.search(text, search).expect("it was a query a moment ago");
        assert_eq!(hits.len(), counted, "hits of {text:?} with {algorithm:?}");
        assert!(
            hits.iter()
                .map(|hit| hit.sequence())
                .collect::<Result<Vec<_>, _>>()
                .expect("a moment ago")
                .is_sorted_by(|a, b| a > b),
            "not newest first: {text:?}"
        );
    }
    let best = reader.search(text, Search::best(10_000)).expect("it was a query a moment ago");
    assert_eq!(best.len(), counted, "the best of {text:?}");
    let scores: Vec<f32> = best.iter().filter_map(|hit| hit.score()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "not the best first: {text:?}");
    drop(best);
    check_sorted(reader, text, counted);
    check_lenient(reader, text, false);
}

/// All that are found are found in any order.
fn check_sorted(reader: &mut Reader, text: &str, counted: usize) {
    for (field, direction) in [("n", Direction::Descending), ("at", Direction::Ascending)] {
        let search = Search::by_field(10_000, field, direction);
        let hits = reader.search(text, search).expect("it was a query a moment ago");
        assert_eq!(hits.len(), counted, "{text:?} by {field}");
    }
}

/// Every text is a query to who takes it leniently, by every evaluator; one that is refused gets a reason, unless
/// all that was wrong with it is prose.
fn check_lenient(reader: &mut Reader, text: &str, is_refused: bool) {
    let hits = reader.search(Lenient(text), Search::newest(10_000)).expect("it never fails");
    let (found, warnings) = (hits.len(), hits.warnings().to_vec());
    drop(hits);
    for search in
        [Search::best(10_000), Search::newest(10_000).windows(), Search::best(10_000).windows()]
    {
        let hits = reader.search(Lenient(text), search).expect("it never fails");
        assert_eq!(hits.len(), found, "leniently {text:?}");
    }
    if is_refused && warnings.is_empty() {
        check_prose(reader, text);
    }
    assert!(warnings.iter().all(|warning| text.is_char_boundary(warning.offset)), "{text:?}");
}

/// A strict parser takes the text once the marks are escaped over which it stumbles, and each of them is prose to a
/// lenient one. Ends, since each round escapes a mark.
fn check_prose(reader: &mut Reader, text: &str) {
    let mut left = text.to_owned();
    while let Err(SearchError::Parse(error)) = reader.count(left.as_str()) {
        let mark = prose_mark(&left, error.offset).or_else(|| bar(&left, error.offset));
        let Some(mark) = mark else {
            panic!("nothing was wrong with {text:?}, but {error} in {left:?}")
        };
        let escaped: String = left[mark.clone()].chars().flat_map(|c| ['\\', c]).collect();
        left.replace_range(mark, &escaped);
    }
}

/// Returns the last unescaped bar up to `at` with no word next to it: an operator to a strict parser only.
fn bar(text: &str, at: usize) -> Option<Range<usize>> {
    let bars = text.match_indices('|').filter(|(start, _)| *start <= at);
    let stands_alone = |start: &usize| {
        let before = text[..*start].chars().next_back();
        let behind = text[start + 1..].chars().next();
        let ends = |c: Option<char>| c.is_none_or(|c| c.is_whitespace() || "()\"".contains(c));
        before != Some('\\') && before != Some('|') && ends(behind)
    };
    let last = bars.map(|(start, _)| start).rfind(stands_alone);
    last.map(|start| start..start + 1)
}

/// Returns the unescaped marks that make a strict parser stumble at `at`, but are prose: a sign or a colon without a
/// word behind it, or question marks that end a word.
fn prose_mark(text: &str, at: usize) -> Option<Range<usize>> {
    let before = text[..at].trim_end();
    if before.ends_with(['+', '-', '!', ':']) && !before[..before.len() - 1].ends_with('\\') {
        return Some(before.len() - 1..before.len());
    }
    let ends_word = |c: char| c.is_whitespace() || "()\"".contains(c);
    let word = &text[at..];
    let word = &word[..word.find(ends_word).unwrap_or(word.len())];
    // A boost stands behind the word that it boosts.
    let is_boost = |boost: &str| boost.trim_start_matches('=').parse::<f32>().is_ok();
    let word =
        word.rsplit_once('^').filter(|(_, boost)| is_boost(boost)).map_or(word, |(word, _)| word);
    let stem = word.trim_end_matches(['?', ':']);
    let is_mark = stem.len() < word.len() && !stem.ends_with('\\');
    is_mark.then_some(at + stem.len()..at + word.len())
}
