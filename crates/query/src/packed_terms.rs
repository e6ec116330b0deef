//! The terms of packed keys: what partial matching compares.
//!
//! A key of one term, or of two that are joined in one way, says which terms it has and where they
//! lie in it. So a question can be answered from the entry of another one that has its term (thesis
//! §3.3.3.2). The words of a key may change while they are read. Then what was made of them is of no
//! use, but it is made without reading elsewhere.

use crate::query::{Kind, NONE, Node, NodeId, Query};

/// Bits of a term's first word that say how it takes part in its clause.
const OCCUR_BITS: u64 = 0b11 << 8;

/// The way in which the terms of a question are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// There is one term.
    One,
    /// Documents have either of two terms.
    Any,
    /// Documents have both of two terms.
    All,
}

/// The terms of a key of one or two terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedTerms {
    /// How they are joined.
    pub joint: Joint,
    /// The first word of each and their number. One term has none as its second.
    places: [(usize, usize); 2],
}

impl PackedTerms {
    /// Finds the terms in the key of a query whose words are `word(0)`, `word(1)` and so on. Returns
    /// `None` if it is of another shape. The key is one [that no score depends
    /// on](crate::write_key).
    pub fn find(word: impl Fn(usize) -> Option<u64>) -> Option<PackedTerms> {
        let head = word(0)?;
        let (minimum, count) = (head >> 16 & 0xFFFF, head >> 32);
        let joint = match head as u8 {
            b'0' => Joint::One,
            b'|' if count == 2 && minimum <= 1 => Joint::Any,
            b'^' if count == 2 && minimum == 0 => Joint::All,
            _ => return None,
        };
        let term = |at: usize| {
            let head = word(at).filter(|head| *head as u8 == b'0')?;
            Some((at, 1 + (head >> 32).div_ceil(8) as usize))
        };
        let first = term(usize::from(joint != Joint::One))?;
        let behind = first.0 + first.1;
        let second = if joint == Joint::One { (behind, 0) } else { term(behind)? };
        Some(PackedTerms { joint, places: [first, second] })
    }

    /// Returns the number of terms.
    pub fn count(&self) -> usize {
        if self.joint == Joint::One { 1 } else { 2 }
    }

    /// Yields the words of a term, which are those of the same term in each key. `word` returns those
    /// of the query's key.
    pub fn words(
        &self,
        term: usize,
        word: impl Fn(usize) -> Option<u64>,
    ) -> impl ExactSizeIterator<Item = u64> {
        let (first, count) = self.places[term];
        (0..count).map(move |at| {
            let word = word(first + at).unwrap_or(0);
            if at == 0 { word & !OCCUR_BITS } else { word }
        })
    }
}

/// Returns a query with room for one term.
pub fn term_query() -> Query {
    Query::with_limit(1)
}

/// Makes `query` that for a term of `of`, which asks for any of two terms. They are numbered in the
/// order of their key.
pub fn take_term(query: &mut Query, of: &Query, number: usize) {
    query.clear();
    let mut pair = [NONE; 2];
    let leaves = of.children(of.root).filter(|leaf| of.term_of(*leaf).is_some());
    pair.iter_mut().zip(leaves).for_each(|(place, leaf)| *place = leaf);
    pair.sort_unstable_by(|a, b| of.rank_of(*a).cmp(&of.rank_of(*b)));
    let leaf = of.nodes.get(pair[number] as usize).map(|node| node.kind);
    if let Some(Kind::Term(term)) = leaf {
        let term = &of.terms[term as usize];
        // There is room for one term of any length.
        let kind = query.term(term.field(), of.bytes_of(term)).unwrap_or(Kind::Nothing);
        query.root = query.push(Node::leaf(kind)).unwrap_or(NONE);
    }
}

impl Query {
    /// Returns the place of a leaf in the order of a key, or the last place without a leaf.
    fn rank_of(&self, leaf: NodeId) -> Option<(u8, u16, &[u8], NodeId)> {
        (leaf != NONE).then(|| self.order_of(leaf))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use spirit_schema::{FieldKind, Schema};
    use spirit_text::Analyzer;

    use super::*;
    use crate::parse::{Operator, Parser};
    use crate::write_key;

    fn parsed(text: &str) -> Query {
        let mut schema = Schema::new(Analyzer::Simple, false);
        schema.add("by", FieldKind::Keyword).unwrap();
        Parser::new(Arc::new(schema), 1 << 10, Operator::Or).parse(text).unwrap()
    }

    fn key(query: &Query) -> Vec<u64> {
        let mut words = Vec::with_capacity(100);
        assert!(write_key(query, false, &mut words));
        words
    }

    /// Returns the joint and the words of each term.
    fn terms(text: &str) -> Option<(Joint, Vec<Vec<u64>>)> {
        let key = key(&parsed(text));
        let word = |at: usize| key.get(at).copied();
        let found = PackedTerms::find(word)?;
        let cut = PackedTerms::find(|at| word(at).filter(|_| at + 4 < key.len()));
        assert!(cut.is_none_or(|cut| cut == found));
        let words = (0..found.count()).map(|term| found.words(term, word).collect());
        Some((found.joint, words.collect()))
    }

    #[test]
    fn a_term_has_the_same_words_in_each_key() {
        let one = |text| terms(text).filter(|found| found.0 == Joint::One).unwrap().1.remove(0);
        for (a, b) in [("sea", "sky"), ("something", "some"), ("by:sea", "sea"), ("a", "by:a")] {
            for (asked, joint) in [
                (format!("{a} {b}"), Joint::Any),
                (format!("{b} {a}"), Joint::Any),
                (format!("({b} {a})~1"), Joint::Any),
                (format!("+{a} +{b}"), Joint::All),
            ] {
                let (found, words) = terms(&asked).unwrap();
                assert_eq!(found, joint, "{asked}");
                assert!(words == [one(a), one(b)] || words == [one(b), one(a)], "{asked}");
                assert_ne!(words[0], words[1]);
            }
        }
    }

    #[test]
    fn other_shapes_have_no_terms() {
        for text in [
            "*",
            "a b c",
            "+a b",
            "a -b",
            "-a",
            "\"a b\"",
            "a*",
            "a b*",
            "(a b)~2",
            "+a +(b c)",
            "+a +b -c",
            "a (b c)",
            "key:a",
            "a key:b",
            "a~1",
        ] {
            assert_eq!(terms(text), None, "{text}");
        }
    }

    #[test]
    fn a_terms_query_is_that_of_the_term_alone() {
        let mut query = term_query();
        for text in ["sea sky", "sky sea", "by:sea sea", "something some"] {
            let of = parsed(text);
            let (_, words) = terms(text).unwrap();
            for (number, words) in words.iter().enumerate() {
                take_term(&mut query, &of, number);
                let key = key(&query);
                let found = PackedTerms::find(|at| key.get(at).copied()).unwrap();
                assert_eq!(found.joint, Joint::One);
                let of_query = found.words(0, |at| key.get(at).copied());
                assert!(of_query.eq(words.iter().copied()), "{text}, {number}");
            }
        }
    }
}
