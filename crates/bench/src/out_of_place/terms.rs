//! The terms of all segments of an executor, in one order, each with its lists in all of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use spirit_index::ground::{FieldId, TERM_BYTES_MAX, Term, damage};
use spirit_index::merge::GatheredTerms;
use spirit_index::snapshot::{Segment, Snapshot, TermCursor};
use spirit_index::terms::Entry;

use crate::Fallible;

/// The order of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// That of their hashes, in which our own merge goes through them. Of raw segments that are not merged, sixteen at most.
    Hashes,
    /// That of fields and bytes, as in the paper. Of any segments.
    Words,
}

/// Calls `take` with each term and its lists, those of the oldest segment first.
pub(crate) fn for_each(
    snapshot: &Snapshot<'_>,
    order: Order,
    mut take: impl FnMut(Term<'_>, &[Entry]) -> Fallible<()>,
) -> Fallible<()> {
    // Taking a term may look others up, which clears notes of damage. So they are read before that.
    damage::clear();
    let sound = |term: Term<'_>, entries: &[Entry]| match damage::found(snapshot.memory().region())
    {
        Some(damaged) => Err(damaged.into()),
        None => take(term, entries),
    };
    match order {
        Order::Hashes => by_hash(snapshot, sound),
        Order::Words => by_word(snapshot, sound),
    }
}

fn by_hash(
    snapshot: &Snapshot<'_>,
    mut take: impl FnMut(Term<'_>, &[Entry]) -> Fallible<()>,
) -> Fallible<()> {
    let window = snapshot.window();
    let terms = GatheredTerms::of(snapshot.memory(), window.oldest..window.end);
    let mut terms = terms.ok_or(
        "the segments are packed, merged, or more than sixteen: their terms have no order of hashes",
    )?;
    while let Some((term, entries)) = terms.next_term() {
        take(term, entries)?;
    }
    Ok(())
}

/// A segment's terms, and the list of the one that is next.
struct Head<'a> {
    terms: TermCursor<'a>,
    field: FieldId,
    entry: Entry,
}

impl<'a> Head<'a> {
    fn new(segment: &Segment<'a>) -> Head<'a> {
        let (field, entry) = (FieldId::TEXT, Entry::NONE);
        Head { terms: segment.terms_from(FieldId::TEXT, b""), field, entry }
    }

    /// Goes to the next term, and writes its field's code and its bytes to `key`. False at the end.
    fn advance(&mut self, key: &mut Vec<u8>) -> bool {
        let mut bytes = [0; TERM_BYTES_MAX];
        let Some(term) = self.terms.next_term(&mut bytes) else { return false };
        (self.field, self.entry) = (term.field, term.entry);
        let (code, len) = term.field.code();
        key.clear();
        key.extend_from_slice(&code[..len]);
        key.extend_from_slice(&bytes[..term.len]);
        true
    }
}

fn by_word(
    snapshot: &Snapshot<'_>,
    mut take: impl FnMut(Term<'_>, &[Entry]) -> Fallible<()>,
) -> Fallible<()> {
    let mut heads: Vec<Head<'_>> = snapshot.registered().map(|s| Head::new(&s)).collect();
    heads.reverse();
    // Equal words of older segments come first.
    let mut next = BinaryHeap::new();
    for (segment, head) in heads.iter_mut().enumerate() {
        let mut key = Vec::new();
        if head.advance(&mut key) {
            next.push(Reverse((key, segment)));
        }
    }
    let (mut word, mut entries) = (Vec::new(), Vec::new());
    // Each round takes a word that is behind the one before in each segment, so that the loop ends.
    while let Some(Reverse((first, _))) = next.peek() {
        word.clone_from(first);
        entries.clear();
        let mut field = FieldId::TEXT;
        while let Some(mut top) = next.peek_mut()
            && top.0.0 == word
        {
            let head = &mut heads[top.0.1];
            field = head.field;
            entries.push(head.entry);
            if !head.advance(&mut top.0.0) {
                std::collections::binary_heap::PeekMut::pop(top);
            }
        }
        let bytes = &word[field.code().1..];
        take(Term::new(field, bytes).ok_or("a term has no bytes")?, &entries)?;
    }
    Ok(())
}
