//! The state of an aggregation as words, so that it can be kept and joined with another one.
//!
//! Joining two states gives what one pass over all documents would have gathered. Counts, buckets,
//! exact sums and sets of values do not depend on the order of documents. Percentiles do, within
//! their accuracy, once there are more numbers than centroids.
//!
//! The words are written and read by each table, in the order of the facets. They have no names: a
//! reader asks the same facets.

/// Reads words in order.
pub(super) struct Words<'w>(&'w [u64]);

impl<'w> Words<'w> {
    pub(super) fn new(words: &'w [u64]) -> Words<'w> {
        Words(words)
    }

    /// Returns the next word, or `None` at the end.
    pub(super) fn next(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Returns the next word as a number of items, each of at least one word.
    pub(super) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.next()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    pub(super) fn float(&mut self) -> Option<f64> {
        self.next().map(f64::from_bits)
    }

    /// Reads the next bytes, which [`write_bytes`] wrote, in place of `out`.
    pub(super) fn bytes(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let len = usize::try_from(self.next()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len.div_ceil(8))?;
        self.0 = rest;
        out.clear();
        bytes.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        out.truncate(len);
        Some(())
    }

    /// True if all words were read.
    pub(super) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }
}

/// Writes bytes: their number, and words of eight, padded with zeros.
pub(super) fn write_bytes(bytes: &[u8], out: &mut Vec<u64>) {
    out.push(bytes.len() as u64);
    out.extend(bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_were_written() {
        let mut out = vec![3];
        for bytes in [&b""[..], b"1234567", b"12345678", b"123456789"] {
            write_bytes(bytes, &mut out);
        }
        out.push(1.5f64.to_bits());
        let mut words = Words::new(&out);
        assert_eq!(words.count(), Some(3));
        let mut read = |_| {
            let mut bytes = b"others".to_vec();
            words.bytes(&mut bytes).unwrap();
            bytes
        };
        let read: Vec<Vec<u8>> = (0..4).map(&mut read).collect();
        assert_eq!(read, [&b""[..], b"1234567", b"12345678", b"123456789"]);
        assert_eq!((words.float(), words.is_at_end(), words.next()), (Some(1.5), true, None));
        assert_eq!(Words::new(&[2, 0]).count(), None);
        assert_eq!(Words::new(&[u64::MAX]).bytes(&mut Vec::new()), None);
    }
}
