//! Percentiles of numbers that are seen once: a merging t-digest (Dunning and Ertl, 2019).
//!
//! Numbers are kept as *centroids*: a mean, and a count. The limit of the count depends on the
//! centroid's place among all numbers. A centroid covers at most one step of the scale
//! `δ / 2π · asin(2q − 1)`, whose steps are short at both ends. So percentiles are most accurate
//! near the extremes, and there are at most `δ` centroids. As long as each number has its own
//! centroid, percentiles are exact.

use std::f64::consts::PI;

use super::state::Words;

/// `δ`: centroids, at most.
const COMPRESSION: f64 = 400.0;
/// Numbers that are buffered before they are merged in.
const BUFFER: usize = 4096;

/// A summary of numbers.
#[derive(Debug, Default)]
pub(super) struct Digest {
    /// The centroids, in the order of their means.
    centroids: Vec<Centroid>,
    buffer: Vec<f64>,
    /// The least number and the highest.
    ends: Option<(f64, f64)>,
}

/// A group of neighbouring numbers.
#[derive(Clone, Copy, Debug)]
struct Centroid {
    mean: f64,
    count: f64,
}

impl Centroid {
    fn with(self, other: Centroid) -> Centroid {
        let count = self.count + other.count;
        Centroid { mean: blend(self.mean, other.mean, other.count / count), count }
    }
}

impl Digest {
    /// Adds a number, which must be finite.
    pub(super) fn add(&mut self, number: f64) {
        let (low, high) = self.ends.unwrap_or((number, number));
        self.ends = Some((low.min(number), high.max(number)));
        self.buffer.push(number);
        if self.buffer.len() == BUFFER {
            self.merge();
        }
    }

    /// Writes the numbers.
    pub(super) fn write(&self, out: &mut Vec<u64>) {
        let numbers = self.buffer.iter().map(|mean| Centroid { mean: *mean, count: 1.0 });
        out.push((self.centroids.len() + self.buffer.len()) as u64);
        for Centroid { mean, count } in self.centroids.iter().copied().chain(numbers) {
            out.extend([mean, count].map(f64::to_bits));
        }
        let (low, high) = self.ends.unwrap_or((f64::NAN, f64::NAN));
        out.extend([low, high].map(f64::to_bits));
    }

    /// Adds numbers that were written.
    pub(super) fn join(&mut self, words: &mut Words<'_>) -> Option<()> {
        for _ in 0..words.count()? {
            self.centroids.push(Centroid { mean: words.float()?, count: words.float()? });
        }
        let (low, high) = (words.float()?, words.float()?);
        if !low.is_nan() {
            let ends = self.ends.unwrap_or((low, high));
            self.ends = Some((ends.0.min(low), ends.1.max(high)));
        }
        self.merge();
        Some(())
    }

    /// Returns the bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.centroids.capacity() * size_of::<Centroid>()
            + self.buffer.capacity() * size_of::<f64>()
    }

    /// Returns the number below which about this share of all numbers is; `None` if there are no
    /// numbers.
    pub(super) fn at(&mut self, share: f64) -> Option<f64> {
        self.merge();
        let (low, high) = self.ends?;
        let wanted = share * self.count();
        // Half of a centroid's numbers are below its mean.
        let (mut before, mut behind) = (0.0, (0.0, low));
        for centroid in &self.centroids {
            let middle = (before + centroid.count / 2.0, centroid.mean);
            if wanted < middle.0 {
                return Some(between(behind, middle, wanted));
            }
            (before, behind) = (before + centroid.count, middle);
        }
        Some(between(behind, (before, high), wanted))
    }

    fn count(&self) -> f64 {
        self.centroids.iter().map(|centroid| centroid.count).sum()
    }

    fn merge(&mut self) {
        let new = self.buffer.drain(..).map(|mean| Centroid { mean, count: 1.0 });
        self.centroids.extend(new);
        self.centroids.sort_unstable_by(|a, b| a.mean.total_cmp(&b.mean));
        let count = self.count();
        let Some((first, rest)) = self.centroids.split_first() else { return };
        let (mut merged, mut current) = (Vec::with_capacity(COMPRESSION as usize), *first);
        let (mut before, mut end) = (0.0, step_behind(0.0));
        for next in rest {
            if (before + current.count + next.count) / count <= end {
                current = current.with(*next);
            } else {
                before += current.count;
                end = step_behind(before / count);
                merged.push(current);
                current = *next;
            }
        }
        merged.push(current);
        self.centroids = merged;
    }
}

/// Returns the end of the scale's step that begins at `share`, as a share of all numbers.
fn step_behind(share: f64) -> f64 {
    let angle = (2.0 * share - 1.0).clamp(-1.0, 1.0).asin() + 2.0 * PI / COMPRESSION;
    if angle >= PI / 2.0 { 1.0 } else { (angle.sin() + 1.0) / 2.0 }
}

/// Interpolates at `wanted` between two points.
fn between(from: (f64, f64), to: (f64, f64), wanted: f64) -> f64 {
    let length = to.0 - from.0;
    let share = if length > 0.0 { ((wanted - from.0) / length).clamp(0.0, 1.0) } else { 0.0 };
    blend(from.1, to.1, share)
}

/// Interpolates between two numbers by a share. The result stays between them, however large or
/// small they are.
fn blend(low: f64, high: f64, share: f64) -> f64 {
    (low * (1.0 - share) + high * share).max(low).min(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers() -> impl Strategy<Value = Vec<f64>> {
        let spread = prop::collection::vec(-1e6f64..1e6, 1..20_000);
        let skewed =
            prop::collection::vec((0u32..64).prop_map(|bits| (1u64 << bits) as f64), 1..300);
        let rising = (1usize..30_000).prop_map(|count| (0..count).map(|n| n as f64).collect());
        prop_oneof![spread, skewed, rising]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        /// A percentile is between the numbers a percent of all below and above it.
        #[test]
        fn percentiles_are_near(numbers in numbers(), percent in 0.0f64..=100.0) {
            let mut digest = Digest::default();
            numbers.iter().for_each(|number| digest.add(*number));
            let mut sorted = numbers;
            sorted.sort_unstable_by(f64::total_cmp);
            let at = |share: f64| {
                let last = sorted.len() - 1;
                sorted[((share * sorted.len() as f64).max(0.0) as usize).min(last)]
            };
            let found = digest.at(percent / 100.0).unwrap();
            let slack = 0.01 + 1.0 / sorted.len() as f64;
            let (low, high) = (at(percent / 100.0 - slack), at(percent / 100.0 + slack));
            let rounding = 1e-9 * high.abs().max(low.abs());
            prop_assert!(low - rounding <= found && found <= high + rounding, "{low} {found} {high}");
            prop_assert!(digest.centroids.len() <= COMPRESSION as usize);
            prop_assert_eq!(digest.at(0.0), Some(sorted[0]));
            prop_assert_eq!(digest.at(1.0), sorted.last().copied());
        }
    }

    /// Half of a number is below itself. So a median is the middle number, and a number's own
    /// percentile is the number.
    #[test]
    fn percentiles_of_few_numbers_are_exact() {
        let mut digest = Digest::default();
        [50.0, 10.0, 40.0, 20.0, 30.0].iter().for_each(|number| digest.add(*number));
        for (share, expected) in [(0.1, 10.0), (0.3, 20.0), (0.5, 30.0), (0.6, 35.0), (0.9, 50.0)] {
            let found = digest.at(share).unwrap();
            assert!((found - expected).abs() < 1e-9, "{found} at {share}");
        }
        let mut many = Digest::default();
        (0..=100_000).for_each(|number| many.add(f64::from(number)));
        for share in [0.001, 0.25, 0.5, 0.9] {
            let found = many.at(share).unwrap();
            assert!((found - share * 100_000.0).abs() < 50.0, "{found} at {share}");
        }
    }

    #[test]
    fn nothing_has_no_percentiles() {
        assert_eq!(Digest::default().at(0.5), None);
    }
}
