//! Sizes of partitions that the caller chooses (paper §4.4).

/// The sizes of a tier's partitions, in bytes. A partition of 0 bytes has its share of the tier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The short-term partition. DRAM: fresh segments. Second tier: terms of segments that are not
    /// merged.
    pub short: u64,
    /// The long-term partition: the rest of segments.
    pub long: u64,
    /// The dictionary.
    pub dictionary: u64,
}

impl Parts {
    /// Returns the parts of one of `executors` executors.
    pub fn each(self, executors: u64) -> Parts {
        self.map(|bytes| bytes / executors)
    }

    /// Returns parts whose sizes are those that `size` makes of these.
    pub fn map(self, size: impl Fn(u64) -> u64) -> Parts {
        let Parts { short, long, dictionary } = self;
        Parts { short: size(short), long: size(long), dictionary: size(dictionary) }
    }

    /// Returns these parts, and of `others` those that have 0 bytes here.
    pub(crate) fn or(self, others: Parts) -> Parts {
        let either = |asked: u64, other: u64| if asked == 0 { other } else { asked };
        Parts {
            short: either(self.short, others.short),
            long: either(self.long, others.long),
            dictionary: either(self.dictionary, others.dictionary),
        }
    }

    /// Returns the bytes of all three.
    pub(crate) fn sum(self) -> u64 {
        self.short.saturating_add(self.long).saturating_add(self.dictionary)
    }

    /// Returns the first part that was asked for and has less than its least size: its name, its
    /// bytes, and the least.
    pub(crate) fn below(self, least: Parts) -> Option<(&'static str, u64, u64)> {
        [
            ("short", self.short, least.short),
            ("long", self.long, least.long),
            ("dictionary", self.dictionary, least.dictionary),
        ]
        .into_iter()
        .find(|(_, asked, least)| (1..*least).contains(asked))
    }
}
