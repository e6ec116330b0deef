//! From tables to answers: buckets in their order, with their names.

use super::super::gather::{percentiles, text_of};
use super::super::room;
use super::super::{Aggregate, BUCKETS_MAX};
use super::node::{Node, Rule};
use super::state::{Buckets, Counted, Room, State};
use crate::limits::Stop;

/// The bytes of a name, about.
const NAME_BYTES: usize = 32;

/// What answers are made with.
pub(super) struct Finish<'n> {
    pub(super) nodes: &'n [Node],
    /// The keywords of each node.
    pub(super) names: &'n [Vec<&'n [u8]>],
    pub(super) room: Room,
}

impl Finish<'_> {
    /// Returns the answer to the facet at `of`.
    pub(super) fn answer(&mut self, state: State, of: usize) -> Result<Aggregate, Stop> {
        Ok(match (state, &self.nodes[of].rule) {
            (State::Buckets(buckets), _) => return self.buckets(buckets, of),
            (State::Stats(stats), _) => Aggregate::Stats(stats.finish()),
            (State::Cardinality(distinct), _) => Aggregate::Cardinality(distinct.count()),
            (State::Percentiles(mut digest), Rule::Percentiles(at)) => percentiles(at, &mut digest),
            (State::Percentiles(_), _) => Aggregate::Percentiles(Vec::new()),
        })
    }

    fn buckets(&mut self, found: Buckets, of: usize) -> Result<Aggregate, Stop> {
        let nodes = self.nodes;
        let node = &nodes[of];
        let Buckets { of: found, missing } = found;
        let mut counted: Vec<(i64, Counted)> = found.into_iter().collect();
        counted.sort_unstable_by_key(|(bucket, _)| *bucket);
        let (mut others, mut distinct) = (0, None);
        let mut named: Vec<(String, Counted)> = match &node.rule {
            Rule::Terms { top } => {
                let (named, rest) = self.terms(counted, of, *top);
                distinct = Some(named.len() as u64 + rest.0);
                others = rest.1;
                named
            }
            Rule::Ranges(ranges) => {
                self.as_given(counted, of, ranges.iter().map(|range| &range.name))?
            }
            Rule::Filters(filters) => {
                self.as_given(counted, of, filters.iter().map(|filter| &filter.name))?
            }
            Rule::Histogram(steps) => {
                let next = |bucket: i64| bucket.checked_add(1);
                let all = self.padded(counted, of, next)?;
                all.into_iter().map(|(n, counted)| (steps.start(n).to_string(), counted)).collect()
            }
            Rule::Dates(intervals) => {
                let all = self.padded(counted, of, |start| intervals.next(start))?;
                all.into_iter().map(|(start, counted)| (intervals.format(start), counted)).collect()
            }
            Rule::Stats | Rule::Cardinality | Rule::Percentiles(_) => Vec::new(),
        };
        let count = named.len() as u64;
        let mut buckets = Vec::with_capacity(named.len() + 1);
        for (name, counted) in named.drain(..) {
            buckets.push(self.bucket(Some(name), counted, of)?);
        }
        if node.missing {
            let missing = missing.map_or_else(|| self.empty(of), Ok)?;
            buckets.push(self.bucket(None, missing, of)?);
        }
        Ok(Aggregate::Buckets { buckets, others, distinct: distinct.unwrap_or(count) })
    }

    fn bucket(
        &mut self,
        name: Option<String>,
        counted: Counted,
        of: usize,
    ) -> Result<(Option<String>, u64, Vec<Aggregate>), Stop> {
        let nodes = self.nodes;
        let places = &nodes[of].within;
        let within = counted.within.into_iter().zip(places);
        let within = within.map(|(state, place)| self.answer(state, *place));
        let within = within.collect::<Result<_, _>>()?;
        Ok((name, counted.documents, within))
    }

    /// Returns the values with most documents; the number of others and their documents.
    fn terms(
        &self,
        counted: Vec<(i64, Counted)>,
        of: usize,
        top: usize,
    ) -> (Vec<(String, Counted)>, (u64, u64)) {
        let name = |value: i64| match self.names[of].get(value.cast_unsigned() as usize) {
            Some(word) => String::from_utf8_lossy(word).into_owned(),
            None => text_of(self.nodes[of].kind, value.cast_unsigned()),
        };
        let mut named: Vec<_> =
            counted.into_iter().map(|(n, counted)| (name(n), counted)).collect();
        named.sort_unstable_by(|(a, of_a), (b, of_b)| {
            of_b.documents.cmp(&of_a.documents).then_with(|| a.cmp(b))
        });
        let rest = named.len().saturating_sub(top) as u64;
        let others = named.iter().skip(top).map(|(_, counted)| counted.documents).sum();
        named.truncate(top);
        (named, (rest, others))
    }

    /// Returns all buckets with these names, empty ones too.
    fn as_given<'f>(
        &mut self,
        counted: Vec<(i64, Counted)>,
        of: usize,
        names: impl Iterator<Item = &'f String>,
    ) -> Result<Vec<(String, Counted)>, Stop> {
        let mut found = counted.into_iter().peekable();
        let named = (0..).zip(names).map(|(number, name)| {
            let counted = match found.next_if(|(found, _)| *found == number) {
                Some((_, counted)) => counted,
                None => self.empty(of)?,
            };
            Ok((name.clone(), counted))
        });
        named.collect()
    }

    /// Adds the empty buckets between those found, if they are wanted.
    fn padded(
        &mut self,
        counted: Vec<(i64, Counted)>,
        of: usize,
        next: impl Fn(i64) -> Option<i64>,
    ) -> Result<Vec<(i64, Counted)>, Stop> {
        if !self.nodes[of].empty {
            return Ok(counted);
        }
        let mut all: Vec<(i64, Counted)> = Vec::with_capacity(counted.len());
        for (bucket, found) in counted {
            while let Some(empty) = all.last().and_then(|(last, _)| next(*last))
                && empty < bucket
            {
                all.push((empty, self.empty(of)?));
            }
            all.push((bucket, found));
        }
        Ok(all)
    }

    /// Returns an empty bucket. Fails if there are too many.
    fn empty(&mut self, of: usize) -> Result<Counted, Stop> {
        let tables = self.nodes[of].within.len() * size_of::<State>();
        self.room.buckets += 1;
        self.room.bytes += size_of::<(i64, Counted)>() + tables + NAME_BYTES + room::ALLOCATION;
        if self.room.buckets > BUCKETS_MAX {
            return Err(Stop::Buckets { max: BUCKETS_MAX });
        }
        if self.room.bytes > self.room.bytes_max {
            return Err(Stop::Memory { max: self.room.bytes_max });
        }
        Ok(Counted::new(self.nodes, of))
    }
}
