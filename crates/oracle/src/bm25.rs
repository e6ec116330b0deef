//! BM25 in double precision.

/// The parameters of BM25.
#[derive(Clone, Copy, Debug)]
pub struct Bm25 {
    /// How soon more occurrences of a term count for less.
    pub k1: f64,
    /// How much a document's length counts, from 0 to 1.
    pub b: f64,
}

impl Bm25 {
    /// A document's score for terms of this inverse document frequency that it has this often. Its
    /// length is in average lengths.
    pub fn score(self, idf: f64, frequency: f64, length: f64) -> f64 {
        let Bm25 { k1, b } = self;
        idf * frequency / (frequency + k1 * (1.0 - b + b * length))
    }
}

/// The inverse document frequency of a term that `with` of the documents have.
pub fn idf(documents: f64, with: f64) -> f64 {
    (1.0 + (documents - with + 0.5) / (with + 0.5)).ln()
}
