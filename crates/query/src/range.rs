//! Ranges: the documents that have a value of a field between two others, or one of several values.
//!
//! Values other than words are compared by their sortable bits. So a range or a single value is an
//! interval of numbers, and a set of values is several intervals. Words are ordered as terms, and a
//! range of them is a [pattern](crate::pattern).

use std::ops::{Bound, RangeInclusive};

use spirit_index::ground::FieldId;
use spirit_schema::{FieldKind, everything, typed};

use crate::interval::{Interval, QueryRange};
use crate::pattern::{Edge, PatternKind};
use crate::problem::Problem;
use crate::query::{Kind, Node, NodeId, Query, Siblings, TooLarge};
use crate::target::Target;

/// True if a value is in one of some intervals, which are disjoint and ascend.
#[inline]
pub(crate) fn has(intervals: &[Interval], value: u64) -> bool {
    let behind = intervals.partition_point(|(first, _)| *first <= value);
    behind > 0 && value <= intervals[behind - 1].1
}

impl Query {
    /// Returns the intervals of a range, disjoint and ascending.
    pub(crate) fn intervals(&self, range: &QueryRange) -> &[Interval] {
        &self.intervals[range.first as usize..(range.first + range.count) as usize]
    }

    /// Returns a leaf for the documents with a value of a field in one of some intervals.
    pub(crate) fn values_in(
        &mut self,
        field: Target,
        intervals: impl IntoIterator<Item = Interval>,
    ) -> Result<Kind, TooLarge> {
        let first = self.intervals.len();
        intervals.into_iter().try_for_each(|interval| self.push_interval(interval))?;
        self.close_range(field, first)
    }

    /// Appends an interval of the range that is closed next.
    pub(crate) fn push_interval(&mut self, interval: Interval) -> Result<(), TooLarge> {
        if self.intervals.len() >= self.clauses_max {
            return Err(TooLarge::Clauses { max: self.clauses_max });
        }
        self.intervals.push(interval);
        Ok(())
    }

    /// Returns a leaf for the intervals from number `first` on. A range without intervals matches
    /// nothing. Unlike a word without terms, it is not skipped.
    pub(crate) fn close_range(&mut self, field: Target, first: usize) -> Result<Kind, TooLarge> {
        let count = join(&mut self.intervals[first..]);
        self.intervals.truncate(first + count);
        if self.ranges.len() >= self.clauses_max {
            return Err(TooLarge::Clauses { max: self.clauses_max });
        }
        let (id, kind) = (field.id, field.kind.value_kind());
        self.ranges.push(QueryRange { field: id, kind, first: first as u32, count: count as u32 });
        Ok(Kind::Range(self.ranges.len() as u32 - 1))
    }

    /// Returns a leaf for the documents with a value of a field between two values, as they are
    /// typed. Words must be terms.
    pub(crate) fn between(
        &mut self,
        field: Target,
        from: Bound<&str>,
        to: Bound<&str>,
    ) -> Result<Kind, Problem> {
        match everything(field.kind) {
            Some(all) => Ok(self.values_in(field, interval(field.kind, all, from, to)?)?),
            None => Ok(self.words_between(field, from, to)?),
        }
    }

    fn words_between(
        &mut self,
        field: Target,
        from: Bound<&str>,
        to: Bound<&str>,
    ) -> Result<Kind, TooLarge> {
        let (low, from) = edge(from);
        let (high, to) = edge(to);
        let kind = PatternKind::Range { from, to, split: low.len() as u32 };
        self.pattern_of(field.id, kind, &[low.as_bytes(), high.as_bytes()])
    }

    /// Returns a leaf for the documents with a value that is one term. A text that cannot be a term
    /// matches nothing.
    pub(crate) fn keyword(&mut self, field: Target, text: &str) -> Result<Kind, TooLarge> {
        match self.term(field.id, text.as_bytes())? {
            Kind::Nothing => self.values_in(field, []),
            kind => {
                if let Kind::Term(term) = kind {
                    self.terms[term as usize].is_word = false;
                }
                Ok(kind)
            }
        }
    }

    /// Returns a leaf for the documents with a value of a field without words.
    pub(crate) fn value(&mut self, field: Target, text: &str) -> Result<Kind, Problem> {
        Ok(self.values_in(field, [valued(field.kind, text)?.into_inner()])?)
    }

    /// Returns a leaf for the documents that have any value of a field.
    pub(crate) fn any_value(&mut self, field: Target) -> Result<Kind, TooLarge> {
        match field.kind {
            FieldKind::Text(_) if field.id == FieldId::TEXT => Ok(Kind::Everything),
            FieldKind::Text(_) | FieldKind::Keyword => {
                self.pattern(field.id, PatternKind::Prefix, b"")
            }
            _ => self.values_in(field, [(0, u64::MAX)]),
        }
    }

    /// Returns a node for the documents that any node of a list matches, all with one score.
    pub(crate) fn any_alike(&mut self, list: Siblings) -> Result<NodeId, TooLarge> {
        self.push(Node { constant: true, ..Node::parent(Kind::CLAUSES, list.first) })
    }
}

/// Parses a text as a value, which covers a range in sortable form.
pub(crate) fn valued(kind: FieldKind, text: &str) -> Result<RangeInclusive<u64>, Problem> {
    typed(kind, text).ok_or(Problem::Misfit { kind })
}

/// Returns the interval between two ends; `None` if it is empty.
fn interval(
    kind: FieldKind,
    all: RangeInclusive<u64>,
    from: Bound<&str>,
    to: Bound<&str>,
) -> Result<Option<Interval>, Problem> {
    let first = match from {
        Bound::Unbounded => Some(*all.start()),
        Bound::Included(text) => Some(*valued(kind, text)?.start()),
        Bound::Excluded(text) => valued(kind, text)?.end().checked_add(1),
    };
    let last = match to {
        Bound::Unbounded => Some(*all.end()),
        Bound::Included(text) => Some(*valued(kind, text)?.end()),
        Bound::Excluded(text) => valued(kind, text)?.start().checked_sub(1),
    };
    Ok(first.zip(last).filter(|(first, last)| first <= last))
}

fn edge(bound: Bound<&str>) -> (&str, Edge) {
    match bound {
        Bound::Unbounded => ("", Edge::Open),
        Bound::Included(text) => (text, Edge::Included),
        Bound::Excluded(text) => (text, Edge::Excluded),
    }
}

/// Sorts intervals and joins those that overlap. Returns the number that is left.
fn join(intervals: &mut [Interval]) -> usize {
    intervals.sort_unstable();
    let mut count = 0;
    for at in 0..intervals.len() {
        let (first, last) = intervals[at];
        match intervals[..count].last_mut() {
            Some(before) if first <= before.1 => before.1 = before.1.max(last),
            _ => {
                intervals[count] = (first, last);
                count += 1;
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn intervals_that_are_joined_have_the_same_values(
            given in prop::collection::vec((0u64..40, 0u64..9), 0..9),
        ) {
            let given: Vec<Interval> = given.into_iter().map(|(a, len)| (a, a + len)).collect();
            let mut joined = given.clone();
            let count = join(&mut joined);
            for value in 0..60 {
                let expected = given.iter().any(|(first, last)| (*first..=*last).contains(&value));
                prop_assert_eq!(has(&joined[..count], value), expected);
            }
        }
    }
}
