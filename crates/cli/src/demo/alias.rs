//! Draws an index by weight in constant time (alias method: Walker 1977, Vose 1991).

use spirit::lab::Random;

pub(crate) struct Alias {
    /// Of each column: its own share, as a fraction of 2^32, and who has the rest.
    columns: Vec<(u32, u32)>,
}

impl Alias {
    /// For `weights`, of which there is at least one and none is negative.
    pub(crate) fn new(weights: &[f64]) -> Alias {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut shares: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..shares.len()).partition(|&i| shares[i] < 1.0);
        let mut columns: Vec<(u32, u32)> =
            (0..shares.len()).map(|i| (u32::MAX, i as u32)).collect();
        // Each round settles one column: a poor one is filled up by a rich one.
        while let (Some(poor), Some(&rich)) = (small.pop(), large.last()) {
            columns[poor] = ((shares[poor] * 4_294_967_296.0) as u32, rich as u32);
            shares[rich] -= 1.0 - shares[poor];
            if shares[rich] < 1.0 {
                small.extend(large.pop());
            }
        }
        Alias { columns }
    }

    pub(crate) fn draw(&self, random: &mut Random) -> usize {
        let bits = random.next();
        let column = ((bits >> 32) * self.columns.len() as u64) >> 32;
        let (share, other) = self.columns[column as usize];
        if bits as u32 <= share { column as usize } else { other as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_the_weights() {
        let weights = [5.0, 1.0, 0.0, 3.0, 1.0];
        let (alias, mut random) = (Alias::new(&weights), Random::new(1));
        let mut drawn = [0u32; 5];
        for _ in 0..100_000 {
            drawn[alias.draw(&mut random)] += 1;
        }
        for (count, weight) in drawn.iter().zip(weights) {
            assert!((f64::from(*count) - weight * 10_000.0).abs() < 600.0, "{drawn:?}");
        }
    }
}
