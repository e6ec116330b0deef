//! What is found by hash: the terms of a segment that is not merged, and the explicit keys of any.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::rows::Rows;
use super::segment::Segment;
use super::{Checked, Part};
use crate::keys;
use crate::nvm::engraved_key::{term_at, term_place};
use crate::nvm::merged::{NODE_BYTES, Node};
use crate::nvm::section::Kind;
use crate::rows::KeyKind;
use crate::term::{Term, TermKey};

/// The explicit keys of a segment, each under its hash.
pub(super) fn check_keys(part: &Part<'_>, segment: &Segment, checked: &mut Checked) {
    let section = segment.sections.get(Kind::KeyHashes);
    let words = part.words(section.start, section.bytes);
    let rows = Rows::of(part, segment);
    let hash_of = |local: u32| {
        let key = (local < rows.len()).then(|| rows.explicit_key(rows.row(local).key()));
        key.flatten().map(|key| keys::hash(&key))
    };
    check_hashes(words, section.start, "key hash", hash_of, checked);
    let is_explicit = |local: &u32| {
        matches!(rows.row(*local).key().kind(), KeyKind::Inline { .. } | KeyKind::Stored { .. })
    };
    if (0..rows.len()).filter(is_explicit).count() != words.len() {
        let why = "there is not one for each row with an explicit key";
        checked.note("key hashes", section.start, why);
    }
}

/// The terms of a segment that is not merged: each with its node, and under its hash.
pub(super) fn check_terms(part: &Part<'_>, segment: &Segment, checked: &mut Checked) {
    let mut registered = 0;
    for ordinal in 0..segment.entry.terms {
        let at = term_place(&segment.sections, ordinal);
        let node = segment.sections.get(Kind::Nodes).start + ordinal * NODE_BYTES;
        let Some(node) = Node::read(part.region, node) else { continue };
        registered += usize::from(node.postings > 0);
        let key = term_at(part.region, &segment.sections, ordinal).key;
        if !node.is_of(key) {
            checked.note("term key", at, "the term's node is of another term, or is damaged");
        } else if node.postings > 0 && !is_term(part, segment, ordinal) {
            checked.note("term key", at, "it is of no term");
        }
    }
    let section = segment.sections.get(Kind::TermHashes);
    let words = part.words(section.start, section.bytes);
    let hash_of = |ordinal: u32| {
        let known = (ordinal as u64) < segment.entry.terms;
        known.then(|| term_at(part.region, &segment.sections, ordinal as u64).key.hash())
    };
    check_hashes(words, section.start, "term hash", hash_of, checked);
    if registered != words.len() {
        let why = "there is not one for each term that has postings";
        checked.note("term hashes", section.start, why);
    }
}

/// Entries ascend, and each is what its row or term has as its hash.
fn check_hashes(
    words: &[AtomicU64],
    start: u64,
    what: &'static str,
    hash_of: impl Fn(u32) -> Option<u64>,
    checked: &mut Checked,
) {
    let mut before = None;
    for (word, at) in words.iter().map(|word| word.load(Relaxed)).zip((start..).step_by(8)) {
        if before.is_some_and(|before| before >= word) {
            checked.note(what, at, "it is not above the one before");
        }
        if hash_of(word as u32).is_none_or(|hash| hash & 0xFFFF_FFFF != word >> 32) {
            checked.note(what, at, "what it leads to has another hash");
        }
        before = Some(word);
    }
}

fn is_term(part: &Part<'_>, segment: &Segment, ordinal: u64) -> bool {
    let found = term_at(part.region, &segment.sections, ordinal);
    let long_bytes = segment.sections.get(Kind::LongTerms).bytes;
    if found.key.is_long() && found.long_end().is_none_or(|end| end > long_bytes) {
        return false;
    }
    let mut bytes = Vec::new();
    found.bytes(part.region, &segment.sections, &mut bytes);
    is_key_of(found.key, &bytes)
}

/// Whether `key` is a term's, whose bytes are `long` if it is a long one.
pub(in crate::nvm) fn is_key_of(key: TermKey, long: &[u8]) -> bool {
    let (inline, len) = key.inline_bytes();
    let bytes = if key.is_long() { long } else { &inline[..len] };
    Term::new(key.field(), bytes).is_some_and(|term| term.key == key)
}
