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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::geometry::tests::{settings, tier};
    use crate::ground::geometry::{Geometry, GeometryError, Settings};
    use crate::ground::layout::NvmSettings;

    /// Partitions have the sizes asked for and do not overlap; the least heap has room for them.
    #[test]
    fn partitions_have_the_sizes_asked_for() {
        let segment_bytes = 1 << 20;
        let sizes = [0, 8 << 20, 64 << 20];
        let all = sizes.iter().flat_map(|short| sizes.map(|long| (*short, long)));
        for (short, long, dictionary) in all.flat_map(|(s, l)| sizes.map(|d| (s, l, d))) {
            let parts = Parts { short, long, dictionary };
            for nvm in [None, Some(tier(64 << 20))] {
                let settings = Settings { nvm, parts, ..settings(segment_bytes, false) };
                let least = Geometry::dram_bytes_min(settings).unwrap();
                for dram_bytes in [least, least + 4096, least * 3] {
                    let geometry = Geometry::new(Settings { dram_bytes, ..settings }).unwrap();
                    let end = geometry.bytes + nvm.map_or(0, |nvm| nvm.bytes);
                    assert!(geometry.long.0 + geometry.long.1 <= end, "{geometry:?}");
                    assert!(geometry.filter_lines.end() <= geometry.long.0);
                    assert!(geometry.dictionary_pool.end() <= geometry.key_lines.start());
                    let had = (geometry.short.1, geometry.long.1, dictionary_bytes(&geometry));
                    assert!(short == 0 || had.0 == short, "{parts:?} {geometry:?}");
                    assert!(long == 0 || had.1 == long, "{parts:?} {geometry:?}");
                    let is_near = dictionary.saturating_sub(128)..=dictionary;
                    assert!(dictionary == 0 || is_near.contains(&had.2), "{parts:?} {had:?}");
                }
                assert!(Geometry::new(Settings { dram_bytes: least / 2, ..settings }).is_err());
            }
        }
    }

    #[test]
    fn partitions_too_small_for_a_segment_are_refused() {
        let small = Parts { short: 1 << 20, long: 1 << 20, dictionary: 1 << 10 };
        let names = [
            Parts { short: small.short, ..Parts::default() },
            Parts { long: small.long, ..Parts::default() },
            Parts { dictionary: small.dictionary, ..Parts::default() },
        ];
        for (number, parts) in names.into_iter().enumerate() {
            let dram = Settings { parts, ..settings(1 << 20, false) };
            let nvm = Settings {
                nvm: Some(NvmSettings { parts, ..tier(64 << 20) }),
                ..settings(2 << 20, false)
            };
            for (tier_name, settings) in [("dram", dram), ("nvm", nvm)] {
                let Err(GeometryError::PartTooSmall { tier, part, asked, least }) =
                    Geometry::new(Settings { dram_bytes: 1 << 30, ..settings })
                else {
                    panic!("{settings:?}");
                };
                assert_eq!((tier, part), (tier_name, ["short", "long", "dictionary"][number]));
                assert!(asked < least);
            }
        }
    }

    fn dictionary_bytes(geometry: &Geometry) -> u64 {
        geometry.dictionary_lines.bytes() + geometry.dictionary_pool.bytes()
    }
}
