//! A stream of operations on documents of few words: added, replaced, deleted, flushed.

use spirit::Index;

use super::Chance;

/// Longer than a term can be: a position whose token is not kept.
pub(crate) const HOLE_BYTES: usize = 300;

/// The terms of a text, as often as they are there.
pub(crate) fn terms_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b' ').filter(|word| (1..=255).contains(&word.len()))
}

/// A text of a few words, some of which many have, and now and then one that is not kept.
pub(crate) fn text(chance: &mut Chance) -> String {
    let words = [0, 1, 2, 5, 12][chance.below(5) as usize];
    let word = |chance: &mut Chance| match chance.below(60) {
        0 => "x".repeat(HOLE_BYTES),
        1..8 => format!("averyveryverylongword{}", chance.below(40)),
        8..28 => "all".to_owned(),
        _ => format!("w{}", chance.below(300)),
    };
    (0..words).map(|_| word(chance)).collect::<Vec<_>>().join(" ")
}

/// One operation on an index, whatever it is.
pub(crate) fn step(index: &Index, chance: &mut Chance) {
    let key = format!("k{}", chance.below(60));
    match chance.below(400) {
        0 => index.flush().unwrap(),
        1..80 => index.put(&key, &text(chance)).unwrap(),
        80..110 => drop(index.delete(&key).unwrap()),
        110..130 => {
            let texts: Vec<_> = (0..chance.below(90)).map(|_| text(chance)).collect();
            index.add_all(texts.iter().map(|text| (None, text.as_str()))).unwrap();
        }
        _ => drop(index.add(&text(chance)).unwrap()),
    }
}
