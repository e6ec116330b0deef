//! Checks the data that is found by hash: the terms of segments that are not merged, and the
//! explicit keys of all.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::check::rows::Rows;
use crate::check::seen::Segment;
use crate::check::{Checked, Part};
use crate::form::engraved_terms::{EngravedKey, EngravedTerms};
use crate::ground::section::Kind;
use crate::ground::term::{Term, TermKey};
use crate::keys;
use crate::rows::KeyKind;

/// Checks the explicit keys of a segment, each under its hash.
pub(super) fn check_keys(part: &Part<'_>, segment: &Segment, checked: &mut Checked) {
    let section = segment.sections.get(Kind::KeyHashes);
    let words = part.words(section.start, section.bytes);
    let rows = Rows::of(part, segment);
    let hash_of = |local: u32| {
        let key = (local < rows.len()).then(|| rows.explicit_key(rows.row(local).key()));
        key.flatten().map(|key| keys::hash(&key))
    };
    check_hashes(words, section.start, hash_of, checked);
    let is_explicit = |local: &u32| {
        matches!(rows.row(*local).key().kind(), KeyKind::Inline { .. } | KeyKind::Stored { .. })
    };
    if (0..rows.len()).filter(is_explicit).count() != words.len() {
        let why = "they are not as many as rows with an explicit key";
        checked.note("key hashes", section.start, why);
    }
}

/// Checks the terms of a segment that is not merged: each has its node, in the order of their
/// hashes.
pub(super) fn check_terms(part: &Part<'_>, segment: &Segment, checked: &mut Checked) {
    let terms = EngravedTerms::of(part.region, &segment.sections);
    let long_bytes = segment.sections.get(Kind::LongTerms).bytes;
    let mut before = None;
    for index in 0..terms.len() {
        let (at, found, node) = (terms.key_place(index), terms.key(index), terms.nodes.get(index));
        let order = Some((terms.hash(index), node.ordinal));
        if !node.is_of(found.key) {
            checked.note("term key", at, "the term's node belongs to another term, or is damaged");
        } else if !is_term(&terms, found, long_bytes) {
            checked.note("term key", at, "it belongs to no term");
        } else if found.key.hash() & 0xFFFF_FFFF != terms.hash(index) {
            checked.note("term hash", at, "the term's key has another hash");
        }
        if before >= order {
            checked.note("term hash", at, "it is not above the one before");
        }
        before = order;
    }
}

/// Checks that entries ascend, and that each has the hash of its row's key.
fn check_hashes(
    words: &[AtomicU64],
    start: u64,
    hash_of: impl Fn(u32) -> Option<u64>,
    checked: &mut Checked,
) {
    let mut before = None;
    for (word, at) in words.iter().map(|word| word.load(Relaxed)).zip((start..).step_by(8)) {
        if before.is_some_and(|before| before >= word) {
            checked.note("key hash", at, "it is not above the one before");
        }
        if hash_of(word as u32).is_none_or(|hash| hash & 0xFFFF_FFFF != word >> 32) {
            checked.note("key hash", at, "its row's key has another hash");
        }
        before = Some(word);
    }
}

fn is_term(terms: &EngravedTerms<'_>, found: EngravedKey, long_bytes: u64) -> bool {
    if found.key.is_long() && found.long_end().is_none_or(|end| end > long_bytes) {
        return false;
    }
    let mut bytes = Vec::new();
    terms.long_bytes(found, &mut bytes);
    is_key_of(found.key, &bytes)
}

/// True if `key` is a term's key. `long` are the bytes of a long term.
pub(crate) fn is_key_of(key: TermKey, long: &[u8]) -> bool {
    let (inline, len) = key.inline_bytes();
    let bytes = if key.is_long() { long } else { &inline[..len] };
    Term::new(key.field(), bytes).is_some_and(|term| term.key == key)
}
