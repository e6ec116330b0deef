//! Whether a document is what a clause asks for: by looking at it, in the most obvious way.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use regex::Regex;
use spirit_query::{Bool, Clause, TEXT, Word};

use crate::Document;
use crate::edits::edits;
use crate::values::{is, is_between, terms, values};

/// Whether `clause` matches `document`.
pub(crate) fn matches(clause: &Clause, document: &Document) -> bool {
    let has = |of: &Word, test: &dyn Fn(&str) -> bool| {
        terms(document, &of.field).into_iter().flatten().any(test)
    };
    match clause {
        Clause::Nothing => false,
        Clause::Everything => true,
        Clause::Key(key) => document.key == *key,
        Clause::Term(term) if term.field == TEXT => has(term, &|word| word == term.text),
        Clause::Term(term) => values(document, &term.field).any(|value| is(&value, &term.text)),
        Clause::Words { field, text, slop } => matches(&phrase_of(field, text, *slop), document),
        Clause::WordsPrefix { field, text } => matches(&phrase_prefix_of(field, text), document),
        Clause::Range { field, from, to } => {
            values(document, field).any(|value| is_between(&value, from, to))
        }
        Clause::Exists(field) => values(document, field).next().is_some(),
        Clause::OneOf { field, values: some } => {
            values(document, field).any(|value| some.iter().any(|text| is(&value, text)))
        }
        Clause::PhrasePrefix { field, words, prefix } => {
            terms(document, field).iter().any(|text| follows(text, words, prefix))
        }
        Clause::Prefix(prefix) => has(prefix, &|word| word.starts_with(&prefix.text)),
        Clause::Wildcard(wild) => {
            let pattern: Vec<char> = wild.text.chars().collect();
            has(wild, &|word| wildcard(&pattern, &word.chars().collect::<Vec<char>>()))
        }
        Clause::Regex(expression) => {
            let whole = whole(&expression.text);
            has(expression, &|word| whole.is_match(word))
        }
        Clause::Fuzzy { word: near, distance, prefix_length, transpositions } => {
            let start: String = near.text.chars().take(usize::from(*prefix_length)).collect();
            let is_near = |word: &str| {
                word.starts_with(&start)
                    && edits(&near.text, word, *transpositions) <= usize::from(*distance)
            };
            has(near, &is_near)
        }
        Clause::Phrase { field, words, slop } => {
            let is_near = |length| length <= i64::from(*slop);
            terms(document, field).iter().any(|text| shortest(text, words).is_some_and(is_near))
        }
        Clause::Bool(clauses) => combination(clauses, document),
        Clause::Best { clauses, .. } => clauses.iter().any(|clause| matches(clause, document)),
        Clause::Boost(clause, _) | Clause::Constant(clause, _) => matches(clause, document),
    }
}

/// A text of words as a phrase: here terms are what stands between blanks.
pub(crate) fn phrase_of(field: &str, text: &str, slop: u32) -> Clause {
    let words = text.split_whitespace().map(|word| (word != "*").then(|| word.to_owned()));
    match words.collect::<Vec<_>>() {
        words if words.len() == 1 => Clause::value(field, words[0].as_deref().unwrap_or_default()),
        words => Clause::Phrase { field: field.to_owned(), words, slop },
    }
}

/// The same of a phrase prefix.
pub(crate) fn phrase_prefix_of(field: &str, text: &str) -> Clause {
    let mut all: Vec<&str> = text.split_whitespace().collect();
    while all.pop_if(|word| *word == "*").is_some() {}
    let Some(prefix) = all.pop() else { return Clause::Nothing };
    let words = all.iter().map(|word| (*word != "*").then(|| (*word).to_owned())).collect();
    Clause::PhrasePrefix { field: field.to_owned(), words, prefix: prefix.to_owned() }
}

fn combination(clauses: &Bool, document: &Document) -> bool {
    let Bool { must, should, not, minimum } = clauses;
    let met = should.iter().filter(|clause| matches(clause, document)).count();
    let needed = if must.is_empty() && !should.is_empty() { (*minimum).max(1) } else { *minimum };
    let positive = !must.is_empty() || !should.is_empty() || !not.is_empty();
    positive
        && met >= needed as usize
        && must.iter().all(|clause| matches(clause, document))
        && !not.iter().any(|clause| matches(clause, document))
}

fn wildcard(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['*', rest @ ..] => (0..=text.len()).any(|skip| wildcard(rest, &text[skip..])),
        ['?', rest @ ..] => !text.is_empty() && wildcard(rest, &text[1..]),
        ['\\', c, rest @ ..] | [c, rest @ ..] => {
            text.first() == Some(c) && wildcard(rest, &text[1..])
        }
    }
}

/// How far the terms of a phrase were moved, all ways of finding them tried; none if they are not all there. A phrase without
/// terms is nowhere.
fn shortest(text: &[&str], phrase: &[Option<String>]) -> Option<i64> {
    let slots: Vec<(i64, &str)> =
        (0..).zip(phrase).filter_map(|(at, word)| Some((at, word.as_deref()?))).collect();
    if slots.is_empty() { None } else { shortest_of(text, &slots, &mut Vec::new()) }
}

/// Whether a word that begins with `prefix` stands behind the words of a phrase, each where it should be.
fn follows(text: &[&str], phrase: &[Option<String>], prefix: &str) -> bool {
    let gap = phrase.iter().take_while(|word| word.is_none()).count();
    let phrase = &phrase[gap..];
    (0..text.len().saturating_sub(phrase.len())).any(|start| {
        let mut words = phrase.iter().zip(&text[start..]);
        words.all(|(word, found)| word.as_ref().is_none_or(|word| word == found))
            && text[start + phrase.len()].starts_with(prefix)
    })
}

fn shortest_of(text: &[&str], slots: &[(i64, &str)], taken: &mut Vec<usize>) -> Option<i64> {
    let Some((_, word)) = slots.get(taken.len()) else {
        let shifts = || taken.iter().zip(slots).map(|(at, (place, _))| *at as i64 - place);
        return Some(shifts().max()? - shifts().min()?);
    };
    let mut best = None;
    for at in (0..text.len()).filter(|at| text[*at] == *word) {
        if !taken.contains(&at) {
            taken.push(at);
            best = best.into_iter().chain(shortest_of(text, slots, taken)).min();
            taken.pop();
        }
    }
    best
}

/// The expression that matches whole words. Kept for the next document, since it takes longer to make
/// than to use.
fn whole(text: &str) -> Rc<Regex> {
    thread_local! {
        static KNOWN: RefCell<HashMap<String, Rc<Regex>>> = RefCell::default();
    }
    let regex = || Regex::new(&format!("^(?:{text})$"));
    let made = || Rc::new(regex().expect("an expression that the engine takes"));
    KNOWN.with_borrow_mut(|known| known.entry(text.to_owned()).or_insert_with(made).clone())
}
