//! Facets within facets, and their further choices.

use super::{Facet, StandIn};

/// A facet with further choices. [`Facet`] has methods that make it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Refined {
    /// The facet, which is not refined itself.
    pub facet: Facet,
    /// The facets of each bucket's documents.
    pub within: Vec<Facet>,
    /// The time zone of dates; none for UTC.
    pub zone: Option<String>,
    /// The number or the milliseconds by which all buckets are moved.
    pub offset: f64,
    /// True for a bucket of the documents without a value.
    pub missing: bool,
    /// True for empty buckets between the first and the last one.
    pub empty: bool,
    /// What documents without a value have instead.
    pub stand_in: Option<StandIn>,
}

impl Facet {
    /// Divides each bucket further: `within` is answered over the documents of each bucket. Called
    /// again, it adds a neighbour. At most [`DEPTH_MAX`](Facet::DEPTH_MAX) facets are one within
    /// the other; a search with more fails, as does one that divides a facet without buckets.
    ///
    /// ```
    /// use spirit_query::{DateInterval, Facet};
    ///
    /// let months = Facet::Dates { field: "when".into(), interval: DateInterval::Month };
    /// let sizes = Facet::Stats { field: "size".into() };
    /// let users = Facet::Terms { field: "user".into(), top: 10 };
    /// let facet = users.then(months.in_zone("Europe/Berlin").then(sizes));
    /// ```
    pub fn then(self, within: Facet) -> Facet {
        self.refined(|refined| refined.within.push(within))
    }

    /// Takes the calendar of a time zone for dates: an IANA name as `Europe/Berlin`, or an offset
    /// as `+02:00`. Default: UTC. A search with a zone that does not exist fails.
    pub fn in_zone(self, name: &str) -> Facet {
        self.refined(|refined| refined.zone = Some(name.to_owned()))
    }

    /// Moves all buckets of a histogram by a number, or those of dates by milliseconds on the clocks
    /// of their zone.
    pub fn offset(self, by: f64) -> Facet {
        self.refined(|refined| refined.offset = by)
    }

    /// Adds a bucket of the documents without a value.
    pub fn with_missing(self) -> Facet {
        self.refined(|refined| refined.missing = true)
    }

    /// Adds the empty buckets between the first and the last one of a histogram or of dates.
    pub fn with_empty(self) -> Facet {
        self.refined(|refined| refined.empty = true)
    }

    /// Gives documents without a value this one. If there is no such field, all documents have it.
    pub fn missing_as(self, value: StandIn) -> Facet {
        self.refined(|refined| refined.stand_in = Some(value))
    }

    fn refined(self, change: impl FnOnce(&mut Refined)) -> Facet {
        let mut refined = match self {
            Facet::Refined(refined) => refined,
            facet => Box::new(Refined {
                facet,
                within: Vec::new(),
                zone: None,
                offset: 0.0,
                missing: false,
                empty: false,
                stand_in: None,
            }),
        };
        change(&mut refined);
        Facet::Refined(refined)
    }
}
