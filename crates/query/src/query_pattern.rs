//! The patterns of a query, and the leaves that they belong to.
//!
//! A leaf has one pattern, or, for words without a field's name, one for each field of text. These
//! stand behind each other, and share the leaf's number, which is that of its bitmap.

use std::ops::RangeInclusive;

use spirit_index::ground::FieldId;

use crate::fuzzy::FuzzyMatcher;
use crate::pattern::{Matcher, PatternKind};
use crate::query::{Kind, NodeId, Query, QueryPattern, TooLarge};

/// Prefixes, wildcards, fuzzy words, regular expressions and ranges of words of one query, at most.
pub(crate) const PATTERNS_MAX: usize = 32;

impl Query {
    /// Returns a leaf for the terms of a field that a pattern matches.
    pub(crate) fn pattern(
        &mut self,
        field: FieldId,
        kind: PatternKind,
        bytes: &[u8],
    ) -> Result<Kind, TooLarge> {
        self.pattern_of(field, kind, &[bytes])
    }

    /// Like [`pattern`](Self::pattern), with bytes in several parts.
    pub(crate) fn pattern_of(
        &mut self,
        field: FieldId,
        kind: PatternKind,
        parts: &[&[u8]],
    ) -> Result<Kind, TooLarge> {
        let start = self.bytes.len() as u32;
        for bytes in parts {
            self.store_bytes(bytes)?;
        }
        let len = self.bytes.len() as u32 - start;
        self.push_pattern(QueryPattern { field, kind, more: 0, leaf: 0, start, len })
    }

    /// Returns a leaf for the terms of another field that a pattern matches.
    pub(crate) fn pattern_again(&mut self, field: FieldId, pattern: u32) -> Result<Kind, TooLarge> {
        self.push_pattern(QueryPattern { field, more: 0, ..self.patterns[pattern as usize] })
    }

    fn push_pattern(&mut self, pattern: QueryPattern) -> Result<Kind, TooLarge> {
        let leaf = self.pattern_leaves;
        if leaf as usize == PATTERNS_MAX {
            return Err(TooLarge::Patterns { max: PATTERNS_MAX });
        }
        if self.patterns.len() == self.clauses_max {
            return Err(TooLarge::Clauses { max: self.clauses_max });
        }
        self.patterns.push(QueryPattern { leaf, ..pattern });
        self.pattern_leaves += 1;
        Ok(Kind::Pattern(self.patterns.len() as u32 - 1))
    }

    /// Lets the next pattern be one of the last leaf with patterns.
    pub(crate) fn reopen_leaf(&mut self) {
        self.pattern_leaves -= 1;
    }

    /// Moves the pattern of the leaf `other` to the leaf with the pattern `first`, which was
    /// [reopened](Self::reopen_leaf) when there were `made` patterns. Returns false if there is no
    /// such pattern.
    pub(crate) fn join_patterns(&mut self, first: u32, other: NodeId, made: usize) -> bool {
        let is_pattern = self.nodes[other as usize].kind == Kind::Pattern(made as u32);
        let is_last = made + 1 == self.patterns.len() && other as usize + 1 == self.nodes.len();
        let is_next = *self.patterns_of(first).end() as usize + 1 == made;
        let joins = is_pattern && is_last && is_next;
        if joins {
            self.nodes.pop();
            self.patterns[first as usize].more += 1;
        }
        joins
    }

    /// Closes a leaf that was [reopened](Self::reopen_leaf) when there were `made` patterns. The
    /// patterns since are other leaves'.
    pub(crate) fn close_leaf(&mut self, made: usize) -> Result<(), TooLarge> {
        self.patterns[made..].iter_mut().for_each(|pattern| pattern.leaf += 1);
        self.pattern_leaves += 1;
        if self.pattern_leaves as usize > PATTERNS_MAX {
            return Err(TooLarge::Patterns { max: PATTERNS_MAX });
        }
        Ok(())
    }

    /// Returns the patterns of the leaf with this first one.
    pub(crate) fn patterns_of(&self, first: u32) -> RangeInclusive<u32> {
        first..=first + self.patterns[first as usize].more
    }

    /// Returns the bytes of a pattern.
    pub(crate) fn pattern_bytes(&self, pattern: &QueryPattern) -> &[u8] {
        &self.bytes[pattern.start as usize..(pattern.start + pattern.len) as usize]
    }

    /// Returns the matcher of a pattern; `None` if nothing can match. `fuzzy` is memory for a fuzzy
    /// word.
    pub(crate) fn matcher<'q>(
        &'q self,
        pattern: &QueryPattern,
        fuzzy: &'q mut FuzzyMatcher,
    ) -> Option<Matcher<'q>> {
        Matcher::new(pattern.kind, self.pattern_bytes(pattern), &self.automata, fuzzy)
    }
}
