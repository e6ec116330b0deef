//! Lists of numbers, one for each document of a batch.

/// The lists, one behind the other.
pub(super) struct Lists<T> {
    items: Vec<T>,
    /// Where each document's list ends.
    ends: Vec<u32>,
}

impl<T> Lists<T> {
    pub(super) fn new() -> Lists<T> {
        Lists { items: Vec::new(), ends: Vec::new() }
    }

    /// The list that has not ended yet.
    pub(super) fn open(&mut self) -> &mut [T] {
        let start = self.ends.last().map_or(0, |end| *end as usize);
        &mut self.items[start..]
    }

    /// Adds to the open list.
    pub(super) fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// Ends the open list, and opens the next document's.
    pub(super) fn end(&mut self) {
        self.ends.push(self.items.len() as u32);
    }

    /// Returns a document's list.
    pub(super) fn of(&self, document: u32) -> &[T] {
        let document = document as usize;
        let start = if document == 0 { 0 } else { self.ends[document - 1] as usize };
        &self.items[start..self.ends[document] as usize]
    }

    /// Returns the number of items, or of lists if those are more.
    pub(super) fn len(&self) -> usize {
        self.items.len().max(self.ends.len())
    }

    /// Makes the lists that `others` lacks: `make` gets the list here, and adds to the new one.
    #[inline]
    pub(super) fn each_from<U>(
        &self,
        others: &mut Lists<U>,
        mut make: impl FnMut(&[T], &mut dyn FnMut(U)),
    ) {
        for document in others.ends.len()..self.ends.len() {
            make(self.of(document as u32), &mut |item| others.items.push(item));
            others.end();
        }
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
    }

    /// Returns the bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>() + self.ends.capacity() * size_of::<u32>()
    }
}

impl<T> Extend<T> for Lists<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.items.extend(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_document_has_its_own_list() {
        let mut lists = Lists::new();
        lists.extend([5, 3]);
        lists.open().sort_unstable();
        lists.end();
        lists.end();
        lists.push(4);
        assert_eq!(lists.open(), [4]);
        lists.end();
        assert_eq!([lists.of(0), lists.of(1), lists.of(2)], [&[3, 5][..], &[], &[4]]);
        assert!(lists.len() == 3 && lists.bytes() >= 3 * 8);
        let mut doubled = Lists::new();
        doubled.push(1);
        doubled.end();
        lists.each_from(&mut doubled, |list, add| list.iter().for_each(|item| add(2 * item)));
        assert_eq!([doubled.of(0), doubled.of(1), doubled.of(2)], [&[1][..], &[], &[8]]);
        lists.clear();
        lists.end();
        assert_eq!(lists.of(0), [0; 0]);
    }
}
