//! What the root says of a bulk load that is unfinished.

use spirit_index::form::root::Root;

/// The place of a document in a collection, in words of the application.
pub(crate) type BulkPlace = [u64; 6];

/// A bulk load that is unfinished, and how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BulkMark {
    /// The sequence number of its first document.
    pub(crate) first: u64,
    /// The document number of that document.
    pub(crate) document: u64,
    /// The sequence number of the first document that may not be engraved.
    pub(crate) next: u64,
    /// The kinds of keys before it.
    pub(crate) keys: KeyKinds,
    /// The place of that document.
    pub(crate) place: BulkPlace,
}

/// The kinds of keys that documents of a load have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyKinds {
    /// Documents without a key, which are called by their number.
    pub(crate) automatic: bool,
    /// Explicit keys that are numbers.
    pub(crate) numeric: bool,
}

impl BulkMark {
    /// Returns the mark of a root.
    pub(crate) fn of(root: &Root) -> Option<BulkMark> {
        let first = root.bulk_first.checked_sub(1)?;
        Some(BulkMark {
            first,
            document: root.bulk_document,
            next: root.bulk_next,
            keys: KeyKinds::from_bits(root.bulk_keys),
            place: place_of(root),
        })
    }

    /// Returns the place at the end of the load that was finished last, of a root without a mark.
    pub(crate) fn finished(root: &Root) -> BulkPlace {
        if root.bulk_first == 0 { place_of(root) } else { BulkPlace::default() }
    }

    /// Puts a mark into a root, or else the place at the end of a load that is finished.
    pub(crate) fn put(mark: Option<BulkMark>, finished: BulkPlace, root: &mut Root) {
        root.bulk_first = mark.map_or(0, |mark| mark.first + 1);
        root.bulk_document = mark.map_or(0, |mark| mark.document);
        root.bulk_next = mark.map_or(0, |mark| mark.next);
        root.bulk_keys = mark.map_or(0, |mark| mark.keys.bits());
        [
            root.bulk_place_0,
            root.bulk_place_1,
            root.bulk_place_2,
            root.bulk_place_3,
            root.bulk_place_4,
            root.bulk_place_5,
        ] = mark.map_or(finished, |mark| mark.place);
    }

    /// Returns the document number of the document with this sequence number.
    pub(crate) fn document_of(&self, sequence: u64) -> u64 {
        self.document + (sequence - self.first)
    }
}

fn place_of(root: &Root) -> BulkPlace {
    [
        root.bulk_place_0,
        root.bulk_place_1,
        root.bulk_place_2,
        root.bulk_place_3,
        root.bulk_place_4,
        root.bulk_place_5,
    ]
}

impl KeyKinds {
    /// True if an automatic key could be another document's explicit key.
    pub(crate) fn may_clash(self) -> bool {
        self.automatic && self.numeric
    }

    fn bits(self) -> u64 {
        u64::from(self.automatic) | u64::from(self.numeric) << 1
    }

    fn from_bits(bits: u64) -> KeyKinds {
        KeyKinds { automatic: bits & 1 > 0, numeric: bits & 2 > 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_survives_the_root() {
        let keys = KeyKinds { automatic: true, numeric: false };
        let mark = BulkMark { first: 0, document: 7, next: 9, keys, place: [1, 2, 3, 4, 5, 6] };
        let mut root = Root { generation: 3, ..Root::default() };
        let before = root;
        assert_eq!(BulkMark::of(&root), None);
        BulkMark::put(Some(mark), [9; 6], &mut root);
        assert_eq!(BulkMark::of(&root), Some(mark));
        assert_eq!(BulkMark::finished(&root), [0; 6]);
        assert_eq!(mark.document_of(5), 12);
        BulkMark::put(None, [9; 6], &mut root);
        assert_eq!((BulkMark::of(&root), BulkMark::finished(&root)), (None, [9; 6]));
        BulkMark::put(None, [0; 6], &mut root);
        assert_eq!(root, before);
    }
}
