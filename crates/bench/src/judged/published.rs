//! What is published of plain BM25 on the collections: k1 0.9, b 0.4, nothing stemmed, a small stop list.

use super::Measures;

/// MAP, P@10 and nDCG@10 by collection, in thousandths.
const FIGURES: [(&str, [i32; 3]); 8] = [
    ("cranfield", [265, 217, 318]),
    ("cisi", [138, 245, 271]),
    ("med", [495, 623, 673]),
    ("adi", [349, 203, 425]),
    ("cacm", [247, 254, 375]),
    ("vaswani", [226, 306, 381]),
    ("lisa", [253, 217, 348]),
    ("nfcorpus", [129, 222, 296]),
];

/// By how many thousandths each measure, rounded as the published ones are, is above what is published of the collection.
pub(crate) fn above(collection: &str, measures: &Measures) -> Option<[i32; 3]> {
    let (_, published) = FIGURES.iter().find(|(name, _)| *name == collection)?;
    let Measures { map, p_10, ndcg_10 } = *measures;
    let rounded = [map, p_10, ndcg_10].map(|value| (value * 1000.0).round() as i32);
    Some(std::array::from_fn(|at| rounded[at] - published[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_of_rounded_figures() {
        let measures = Measures { map: 0.4949, p_10: 0.6235, ndcg_10: 0.6634 };
        assert_eq!(above("med", &measures), Some([0, 1, -10]));
        assert_eq!(above("trec", &measures), None);
    }
}
