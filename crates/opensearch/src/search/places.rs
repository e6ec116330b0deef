//! The places of documents, by which `_doc` orders them: one number for each document of a search.

/// Bits of a number that count within an index. With those of 8,192 indexes, numbers are exact in
/// JavaScript too.
const BITS: u32 = 40;

/// The place of a document.
///
/// Documents of an index are in the order of their sequence numbers, the newest first. Those of several
/// indexes are in the order of the indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The place of the document's index among those of the search.
    pub index: u64,
    /// The document's sequence number.
    pub sequence: u64,
}

impl Place {
    /// Returns the place that a sort value of `_doc` means.
    ///
    /// ```
    /// use spirit_opensearch::search::Place;
    ///
    /// let place = Place { index: 2, sequence: 17 };
    /// assert_eq!(Place::of(place.number()), place);
    /// assert_eq!(Place { index: 0, sequence: 17 }.number(), 17);
    /// ```
    pub fn of(number: u64) -> Place {
        Place { index: number >> BITS, sequence: number & ((1 << BITS) - 1) }
    }

    /// Returns the sort value of `_doc`.
    pub fn number(self) -> u64 {
        self.index << BITS | self.sequence
    }

    /// Compares two places by what comes first.
    pub fn order(self, other: Place) -> std::cmp::Ordering {
        self.index.cmp(&other.index).then(other.sequence.cmp(&self.sequence))
    }
}
