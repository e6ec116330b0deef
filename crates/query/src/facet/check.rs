//! Checks of facets against the fields of an index.

use spirit_index::ground::{FieldId, ValueKind};
use spirit_schema::Schema;

use super::zone::Zone;
use super::{DEPTH_MAX, DateInterval, FACETS_MAX, Facet, FacetError, Refined};

/// Fails if there are too many facets, or too many one within the other.
pub(super) fn check_count(facets: &[Facet]) -> Result<(), FacetError> {
    let count = facets.iter().map(Facet::count).sum();
    if count > FACETS_MAX {
        return Err(FacetError::TooMany { facets: count, max: FACETS_MAX });
    }
    match facets.iter().find(|facet| facet.depth() > DEPTH_MAX) {
        Some(deep) => Err(FacetError::TooDeep { field: deep.field().to_owned(), max: DEPTH_MAX }),
        None => Ok(()),
    }
}

impl Facet {
    /// Returns the field's name, which is empty for [`Facet::Filters`].
    pub fn field(&self) -> &str {
        match self {
            Facet::Filters { .. } => "",
            Facet::Terms { field, .. }
            | Facet::Histogram { field, .. }
            | Facet::Dates { field, .. }
            | Facet::Ranges { field, .. }
            | Facet::Stats { field }
            | Facet::Cardinality { field }
            | Facet::Percentiles { field, .. } => field,
            Facet::Refined(refined) => refined.facet.field(),
        }
    }

    /// Calls `take` with each query of filters, those within others last.
    pub fn for_each_filter<'f>(&'f self, take: &mut impl FnMut(&'f str)) {
        match self {
            Facet::Filters { queries } => queries.iter().for_each(|query| take(query)),
            Facet::Refined(refined) => {
                refined.facet.for_each_filter(take);
                refined.within.iter().for_each(|within| within.for_each_filter(take));
            }
            _ => {}
        }
    }

    /// Returns the number of facets: this one, and those within it.
    fn count(&self) -> usize {
        match self {
            Facet::Refined(refined) => {
                refined.facet.count() + refined.within.iter().map(Facet::count).sum::<usize>()
            }
            _ => 1,
        }
    }

    /// Returns how many facets are one within the other.
    fn depth(&self) -> usize {
        match self {
            Facet::Refined(refined) => {
                let within = refined.within.iter().map(Facet::depth).max().unwrap_or(0);
                (1 + within).max(refined.facet.depth())
            }
            _ => 1,
        }
    }

    /// Returns the field, and the kind of its values. Fails if the facet does not suit them.
    pub(super) fn check(&self, schema: &Schema) -> Result<(FieldId, ValueKind), FacetError> {
        let name = || self.field().to_owned();
        let found = schema.asked_whole(self.field());
        let (field, of_field) = found.ok_or_else(|| FacetError::UnknownField { field: name() })?;
        let (fits, wanted): (&[ValueKind], _) = self.wants();
        let kind = of_field.value_kind();
        if !fits.contains(&kind) {
            return Err(FacetError::Kind { field: name(), kind: of_field, wanted });
        }
        match self {
            Facet::Histogram { interval, .. } if !(interval.is_finite() && *interval > 0.0) => {
                Err(FacetError::Interval { field: name() })
            }
            Facet::Dates { interval: DateInterval::Milliseconds(..=0), .. } => {
                Err(FacetError::Interval { field: name() })
            }
            Facet::Percentiles { at, .. } if !at.iter().all(|p| (0.0..=100.0).contains(p)) => {
                Err(FacetError::Percentile { field: name() })
            }
            _ => Ok((field, kind)),
        }
    }

    /// Returns the kinds of values that suit the facet, and their description. Text never does.
    fn wants(&self) -> (&'static [ValueKind], &'static str) {
        use ValueKind::{Boolean, Float, Integer, Keyword, Time};
        match self {
            Facet::Terms { .. } => {
                (&[Keyword, Integer, Float, Boolean], "keywords, numbers or booleans")
            }
            Facet::Dates { .. } => (&[Time], "times"),
            Facet::Cardinality { .. } => {
                (&[Keyword, Integer, Float, Time, Boolean], "values other than text")
            }
            Facet::Histogram { .. }
            | Facet::Ranges { .. }
            | Facet::Stats { .. }
            | Facet::Percentiles { .. } => (&[Integer, Float, Time], "numbers or times"),
            Facet::Filters { .. } => (&[], "no field"),
            Facet::Refined(refined) => refined.facet.wants(),
        }
    }
}

impl Refined {
    /// True if it has no choice about buckets.
    fn is_plain(&self) -> bool {
        let Refined { within, zone, offset, missing, empty, .. } = self;
        within.is_empty() && zone.is_none() && *offset == 0.0 && !missing && !empty
    }

    /// Returns the time zone. Fails if a choice is not one of this facet.
    pub(super) fn check(&self) -> Result<Zone, FacetError> {
        let wrong = |why| {
            let field = self.facet.field().to_owned();
            Err(FacetError::Choice { field, why })
        };
        let (is_dates, is_numbers) = match self.facet {
            Facet::Dates { .. } => (true, false),
            Facet::Histogram { .. } => (false, true),
            Facet::Terms { .. } | Facet::Ranges { .. } | Facet::Filters { .. } => (false, false),
            Facet::Refined(_) => return wrong("its choices are made twice"),
            // A number of values has no buckets, and nothing else to choose.
            Facet::Stats { .. } | Facet::Cardinality { .. } | Facet::Percentiles { .. }
                if self.stand_in.is_some() && self.is_plain() =>
            {
                return Ok(Zone::Utc);
            }
            _ if !self.within.is_empty() => return wrong("it has no buckets to divide further"),
            _ => return wrong("it has no buckets, so it has neither missing nor empty ones"),
        };
        if self.stand_in.is_some() && matches!(self.facet, Facet::Filters { .. }) {
            return wrong("only fields have missing values");
        }
        if self.zone.is_some() && !is_dates {
            return wrong("only dates have a time zone");
        }
        if self.offset != 0.0 && !is_dates && !is_numbers {
            return wrong("only histograms and dates have an offset");
        }
        if !self.offset.is_finite() {
            return wrong("its offset is not a number");
        }
        if self.empty && !is_dates && !is_numbers {
            return wrong("only histograms and dates have empty buckets");
        }
        let name = self.zone.as_deref().unwrap_or("UTC");
        Zone::find(name).ok_or_else(|| FacetError::Zone { name: name.to_owned() })
    }
}
