//! One facet of a tree: its field, its buckets' rule, and the values of the documents of the batch.

use foldhash::HashMap;
use spirit_index::ground::{FieldId, SegmentId, TERM_BYTES_MAX, ValueKind, hash_bytes, rank_of};
use spirit_index::snapshot::Segment;
use spirit_schema::Schema;

use super::super::gather::{different, one_zero};
use super::super::intervals::Intervals;
use super::super::marks::Marks;
use super::super::steps::Steps;
use super::super::zone::Zone;
use super::super::{Facet, FacetError, StandIn, room};
use super::lists::Lists;
use super::places::Places;
use crate::evaluate::window::Ones;

/// Values or buckets of the documents of the batch, about.
const BATCH_VALUES: usize = 1 << 14;

/// A facet.
pub(super) struct Node {
    pub(super) field: FieldId,
    pub(super) kind: ValueKind,
    pub(super) rule: Rule,
    pub(super) missing: bool,
    pub(super) empty: bool,
    /// The value of documents without one, in sortable form; of a keyword, its number.
    stand_in: Option<u64>,
    /// The places of the facets within it.
    pub(super) within: Vec<usize>,
    /// The values of each document of the batch, in sortable form, ascending; for keywords, their numbers.
    pub(super) values: Lists<u64>,
    /// The buckets that they lie in, each once.
    pub(super) buckets: Lists<i64>,
    pub(super) words: Words,
    /// The numbers of the segment's keywords.
    pub(super) places: Places,
}

/// Rows of a segment.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) segment: SegmentId,
    /// The rank of the first bit.
    pub(super) rank: u32,
    pub(super) bits: u64,
}

/// What a facet makes of values.
pub(super) enum Rule {
    Terms { top: usize },
    Histogram(Steps),
    Dates(Intervals),
    Ranges(Vec<Range>),
    Filters(Vec<Filter>),
    Stats,
    Cardinality,
    Percentiles(Vec<f64>),
}

/// A range of values in sortable form.
pub(super) struct Range {
    low: u64,
    high: u64,
    pub(super) name: String,
}

/// A query.
pub(super) struct Filter {
    pub(super) name: String,
    /// The place of its marks.
    marks: usize,
}

/// The keywords of a facet, numbered in the order in which they are found.
#[derive(Default)]
pub(super) struct Words {
    numbers: HashMap<Box<[u8]>, u64>,
    /// The bytes that the keywords take on their own.
    word_bytes: usize,
}

impl Node {
    /// `filters` counts the queries of filters so far.
    pub(super) fn new(
        facet: &Facet,
        schema: &Schema,
        filters: &mut usize,
    ) -> Result<Node, FacetError> {
        let (plain, refined) = match facet {
            Facet::Refined(refined) => (&refined.facet, Some(&**refined)),
            facet => (facet, None),
        };
        // Filters have no field, and no value has this kind.
        let (field, kind) = match plain {
            Facet::Filters { .. } => (FieldId::MAX, ValueKind::Text),
            _ => facet.field_in(schema)?,
        };
        let zone = refined.map_or(Ok(Zone::Utc), |refined| refined.check())?;
        let offset = refined.map_or(0.0, |refined| refined.offset);
        let mut node = Node {
            field,
            kind,
            rule: Rule::of(plain, kind, zone, offset, filters),
            missing: refined.is_some_and(|refined| refined.missing),
            empty: refined.is_some_and(|refined| refined.empty),
            stand_in: None,
            within: Vec::new(),
            values: Lists::new(),
            buckets: Lists::new(),
            words: Words::default(),
            places: Places::default(),
        };
        let stand_in = refined.and_then(|refined| refined.stand_in.as_ref());
        node.stand_in = stand_in.map(|value| node.value_of(value));
        Ok(node)
    }

    /// Returns what stands for missing values in the form of a document's values.
    fn value_of(&mut self, stand_in: &StandIn) -> u64 {
        let is_named = self.names_words();
        let words = &mut self.words;
        stand_in.sortable(self.kind, |word| match is_named {
            true => words.number_of(word),
            false => hash_bytes(word),
        })
    }

    /// Takes the keyword with this number in a fresh segment.
    pub(super) fn take_fresh_word(&mut self, segment: &Segment<'_>, ordinal: u32) {
        self.take_word(u64::from(ordinal), |term| {
            Some(segment.extent().write_term(ordinal, term).1)
        });
    }

    /// Takes values of a registered segment's column.
    #[inline]
    pub(super) fn take_stored(&mut self, segment: &Segment<'_>, values: &[u64]) {
        match self.kind {
            ValueKind::Keyword => {
                let field = self.field;
                for place in values {
                    self.take_word(*place, |term| {
                        let mut terms = segment.terms_from(field, b"");
                        terms.go_to(*place);
                        terms.next_term(term).map(|found| found.len)
                    });
                }
            }
            _ => self.values.extend(values.iter().copied()),
        }
    }

    /// Takes the keyword at a place of the segment. `read` writes its bytes and returns how many there
    /// are, if the place has a keyword.
    fn take_word(
        &mut self,
        place: u64,
        read: impl FnOnce(&mut [u8; TERM_BYTES_MAX]) -> Option<usize>,
    ) {
        let is_named = self.names_words();
        let Node { words, places, values, .. } = self;
        values.extend(places.number(place, || {
            let mut term = [0; TERM_BYTES_MAX];
            let len = read(&mut term)?;
            Some(match is_named {
                true => words.number_of(&term[..len]),
                false => hash_bytes(&term[..len]),
            })
        }));
    }

    /// True if its buckets are keywords, which get numbers. Otherwise keywords are only counted, by
    /// their hashes.
    pub(super) fn names_words(&self) -> bool {
        self.kind == ValueKind::Keyword && matches!(self.rule, Rule::Terms { .. })
    }

    /// Ends the last document's values.
    #[inline]
    pub(super) fn end_document(&mut self) {
        let values = self.values.open();
        match values.len() {
            0 => self.values.extend(self.stand_in),
            1 => {}
            _ => values.sort_unstable(),
        }
        self.values.end();
    }

    /// Finds the buckets of the documents whose values ended since. Their rows are `rows`.
    pub(super) fn settle(&mut self, marks: &[Marks], rows: Rows) {
        let Node { kind, values, buckets, rule, .. } = self;
        let kind = *kind;
        let plain = |value: &u64| one_zero(kind, *value);
        match rule {
            Rule::Terms { .. } => values.each_from(buckets, |values, bucket| {
                different(values.iter().map(|value| plain(value).cast_signed()), bucket);
            }),
            Rule::Histogram(steps) => values.each_from(buckets, |values, bucket| {
                different(values.iter().filter_map(|value| steps.bucket(kind, *value)), bucket);
            }),
            Rule::Dates(intervals) => values.each_from(buckets, |values, bucket| {
                let times = values.iter().map(|value| kind.from_sortable(*value).cast_signed());
                different(times.map(|time| intervals.start_of(time)), bucket);
            }),
            Rule::Ranges(ranges) => values.each_from(buckets, |values, bucket| {
                let has = |range: &Range| {
                    values.iter().any(|value| (range.low..=range.high).contains(&plain(value)))
                };
                numbers_of(ranges, has).for_each(bucket);
            }),
            Rule::Filters(filters) => {
                let mut locals = rows.locals();
                values.each_from(buckets, |_, bucket| {
                    let local = locals.next();
                    let has = |filter: &Filter| {
                        local.is_some_and(|local| marks[filter.marks].has(rows.segment, local))
                    };
                    numbers_of(filters, has).for_each(bucket);
                });
            }
            Rule::Stats | Rule::Cardinality | Rule::Percentiles(_) => {}
        }
    }

    /// True if the documents of the batch have many values.
    pub(super) fn is_full(&self) -> bool {
        self.values.len().max(self.buckets.len()) >= BATCH_VALUES
    }

    /// Forgets the documents.
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.buckets.clear();
    }

    /// Returns the bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        let lists = self.values.bytes() + self.buckets.bytes();
        lists + self.words.bytes() + self.places.bytes()
    }
}

impl Rows {
    /// Yields the numbers of the rows.
    fn locals(self) -> impl Iterator<Item = u32> {
        Ones(self.bits).map(move |bit| rank_of(self.rank + bit as u32))
    }
}

/// Returns the numbers of those that `has` holds for.
fn numbers_of<T>(all: &[T], has: impl Fn(&T) -> bool) -> impl Iterator<Item = i64> {
    (0..).zip(all).filter(move |(_, one)| has(one)).map(|(number, _)| number)
}

impl Rule {
    fn of(facet: &Facet, kind: ValueKind, zone: Zone, offset: f64, filters: &mut usize) -> Rule {
        match facet {
            Facet::Filters { queries } => {
                let mut filter = |name: &String| {
                    *filters += 1;
                    Filter { name: name.clone(), marks: *filters - 1 }
                };
                Rule::Filters(queries.iter().map(&mut filter).collect())
            }
            Facet::Terms { top, .. } => Rule::Terms { top: *top },
            Facet::Histogram { interval, .. } => Rule::Histogram(Steps::new(*interval, offset)),
            Facet::Dates { interval, .. } => {
                Rule::Dates(Intervals::new(*interval, zone, offset as i64))
            }
            Facet::Ranges { ranges, .. } => {
                Rule::Ranges(ranges.iter().map(|(from, to)| Range::new(kind, *from, *to)).collect())
            }
            Facet::Percentiles { at, .. } => Rule::Percentiles(at.clone()),
            Facet::Cardinality { .. } => Rule::Cardinality,
            // A refined facet is not refined itself.
            Facet::Stats { .. } | Facet::Refined(_) => Rule::Stats,
        }
    }
}

impl Range {
    fn new(kind: ValueKind, from: Option<f64>, to: Option<f64>) -> Range {
        let text = |bound: Option<f64>| bound.map_or(String::new(), |bound| bound.to_string());
        let name = format!("{}..{}", text(from), text(to));
        let [low, high] = match kind {
            ValueKind::Float => {
                let sortable = |number: f64| kind.sortable((number + 0.0).to_bits());
                let end = kind.sortable(f64::INFINITY.to_bits());
                let below = |to: f64| sortable(to).saturating_sub(1);
                [sortable(from.unwrap_or(f64::NEG_INFINITY)), to.map_or(end, below)]
            }
            _ => {
                // Numbers from a bound on are those from the next whole number on.
                let whole = |bound: f64| bound.ceil() as i128;
                let low = from.map_or(i128::from(i64::MIN), whole);
                let high = to.map_or(i128::from(i64::MAX), |to| whole(to).saturating_sub(1));
                match (
                    i64::try_from(low.max(i64::MIN.into())),
                    i64::try_from(high.min(i64::MAX.into())),
                ) {
                    (Ok(low), Ok(high)) => [low, high].map(|n| kind.sortable(n.cast_unsigned())),
                    // No whole number is in it.
                    _ => [1, 0],
                }
            }
        };
        Range { low, high, name }
    }
}

impl Words {
    /// Returns the number of a word, which is new if no document had it before.
    pub(super) fn number_of(&mut self, word: &[u8]) -> u64 {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = self.numbers.len() as u64;
        self.word_bytes += word.len() + room::ALLOCATION;
        self.numbers.insert(word.into(), number);
        number
    }

    pub(super) fn names(&self) -> Vec<&[u8]> {
        let mut names: Vec<&[u8]> = vec![&[]; self.numbers.len()];
        self.numbers.iter().for_each(|(word, number)| names[*number as usize] = word);
        names
    }

    fn bytes(&self) -> usize {
        let named = room::table(self.numbers.capacity(), size_of::<(Box<[u8]>, u64)>());
        named + self.word_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_begin_with_their_first_number_and_end_before_their_last() {
        let has = |kind: ValueKind, range: &Range, bits: u64| {
            (range.low..=range.high).contains(&one_zero(kind, kind.sortable(bits)))
        };
        let float = |from, to, number: f64| {
            has(ValueKind::Float, &Range::new(ValueKind::Float, from, to), number.to_bits())
        };
        assert!(float(Some(0.1), Some(0.3), 0.1) && !float(Some(0.1), Some(0.3), 0.3));
        assert!(float(Some(0.0), None, -0.0) && float(None, Some(5.0), f64::NEG_INFINITY));
        assert!(float(Some(1.0), None, f64::INFINITY) && !float(None, None, f64::NAN));
        assert!(!float(None, Some(0.0), -0.0) && float(Some(-0.0), None, 0.0));
        let whole = |from, to, number: i64| {
            let range = Range::new(ValueKind::Integer, from, to);
            has(ValueKind::Integer, &range, number.cast_unsigned())
        };
        assert!(whole(Some(0.5), Some(2.5), 1) && whole(Some(0.5), Some(2.5), 2));
        assert!(!whole(Some(0.5), Some(2.5), 0) && !whole(Some(0.5), Some(2.0), 2));
        assert!(whole(None, None, i64::MIN) && whole(None, None, i64::MAX));
        assert!(!whole(Some(1e300), None, i64::MAX) && !whole(None, Some(-1e300), i64::MIN));
        assert!(whole(Some(-1e300), Some(1e300), 7) && !whole(Some(3.0), Some(1.0), 2));
        assert!(!whole(Some(9_223_372_036_854_775_808.0), None, i64::MAX));
    }
}
