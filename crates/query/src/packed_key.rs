//! Packed keys: the words that name a query in a cache. Equal words are equal questions.
//!
//! A query of one or two terms is packed as in the thesis (§3.3.1, figure 3.8): the operator's
//! character, the sizes of the terms, and the terms. Any other query is a tree of such:
//!
//! | bits of a node's first word | |
//! |---|---|
//! | 0 .. 8 | operator: `^` all, `\|` any, `*` clauses of both kinds, `0` a term, and others |
//! | 8 .. 10 | how it takes part: must, should, must not |
//! | 16 .. 32 | field, or the least number of optional clauses, or a phrase's slop |
//! | 32 .. 64 | bytes of its term or pattern, or number of words or clauses that follow |
//!
//! Then come the bytes, padded with zeros, or the clauses. The order of terms in a clause does not
//! matter for what matches, so they are sorted: `sea sky` and `sky sea` are one question. Scores
//! are added up in the order of the clauses, so a key of a ranking leaves them there, and has
//! their boosts too.

use spirit_index::ground::FieldId;

use crate::pattern::{Edge, PatternKind};
use crate::query::{Kind, NONE, Node, NodeId, Occur, Query};

/// The bits of a node's first word that say how it takes part.
const OCCUR_SHIFT: u32 = 8;
const OCCUR_MASK: u64 = 3 << OCCUR_SHIFT;
/// Terms of a clause that are sorted, at most.
const SORTED_MAX: usize = 32;

/// Writes the key of a query behind the words in `out`, whose capacity does not change. With
/// `scored`, queries with other scores have other keys. Returns false if there was no room.
pub fn write_key(query: &Query, scored: bool, out: &mut Vec<u64>) -> bool {
    let mut packer = Packer { query, scored, out, is_full: false };
    if query.root != NONE {
        packer.node(query.root);
    }
    !packer.is_full
}

/// Writes the key of a clause behind the words in `out`, whose capacity does not change. The part
/// that it plays for its parent does not matter. Returns false if there was no room.
pub(crate) fn write_clause_key(query: &Query, clause: NodeId, out: &mut Vec<u64>) -> bool {
    let start = out.len();
    let mut packer = Packer { query, scored: false, out, is_full: false };
    packer.node(clause);
    let is_written = !packer.is_full;
    if let Some(first) = out.get_mut(start) {
        *first &= !OCCUR_MASK;
    }
    is_written
}

struct Packer<'p> {
    query: &'p Query,
    scored: bool,
    out: &'p mut Vec<u64>,
    is_full: bool,
}

impl Packer<'_> {
    fn node(&mut self, id: NodeId) {
        let query = self.query;
        let node = &query.nodes[id as usize];
        match node.kind {
            Kind::Nothing => self.head(node, b'!', 0, 0),
            Kind::Blank => self.head(node, b'_', 0, 0),
            Kind::Everything => self.head(node, b'.', 0, 0),
            Kind::Term(term) | Kind::Key(term) => {
                let term = &query.terms[term as usize];
                let operator = if term.is_key() { b'#' } else { b'0' };
                self.named(node, operator, term.field(), query.bytes_of(term));
            }
            Kind::Clauses { minimum } => self.clauses(id, node, minimum),
            Kind::Phrase { slop } => self.words_in_place(id, node, b'"', slop),
            Kind::PhrasePrefix(pattern) => {
                self.words_in_place(id, node, b'>', node.at);
                self.patterns(node, pattern);
            }
            Kind::Pattern(pattern) => self.patterns(node, pattern),
            Kind::Range(range) => {
                let range = &query.ranges[range as usize];
                let intervals = query.intervals(range);
                self.head(node, b'[', u64::from(range.field.0), intervals.len());
                self.push(range.kind as u64);
                intervals.iter().flat_map(|(a, b)| [*a, *b]).for_each(|word| self.push(word));
            }
        }
    }

    fn push(&mut self, word: u64) {
        self.is_full |= self.out.len() == self.out.capacity();
        if !self.is_full {
            self.out.push(word);
        }
    }

    fn head(&mut self, node: &Node, operator: u8, field: u64, count: usize) {
        let occur = node.occur as u64;
        self.push(u64::from(operator) | occur << OCCUR_SHIFT | field << 16 | (count as u64) << 32);
        if self.scored {
            let boost = u64::from(node.boost.to_bits());
            self.push(boost << 1 | u64::from(node.constant));
            self.push(node.tie.map_or(0, |tie| u64::from(tie.to_bits()) << 1 | 1));
        }
    }

    fn named(&mut self, node: &Node, operator: u8, field: FieldId, bytes: &[u8]) {
        self.head(node, operator, u64::from(field.0), bytes.len());
        self.bytes(bytes);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let words = bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        words.for_each(|word| self.push(word));
    }

    fn clauses(&mut self, id: NodeId, node: &Node, minimum: u32) {
        let (mut sorted, mut count) = ([NONE; SORTED_MAX], 0);
        let takes_part = |child: &NodeId| self.query.nodes[*child as usize].kind != Kind::Blank;
        let all = self.query.children(id).filter(takes_part).count();
        for child in self.query.children(id).filter(takes_part) {
            if !self.scored && all <= SORTED_MAX {
                sorted[count] = child;
                count += 1;
            }
        }
        let occurs = |occur| {
            let mut children = self.query.children(id).filter(takes_part);
            children.all(|child| self.query.nodes[child as usize].occur == occur)
        };
        let operator = match () {
            () if occurs(Occur::Must) => b'^',
            () if occurs(Occur::Should) => b'|',
            () => b'*',
        };
        self.head(node, operator, u64::from(minimum), all);
        let query = self.query;
        let sorted = &mut sorted[..count];
        // Equal terms are equal clauses, whose order is of no account.
        sorted.sort_unstable_by(|a, b| query.order_of(*a).cmp(&query.order_of(*b)));
        sorted.iter().for_each(|child| self.node(*child));
        if count == 0 {
            query.children(id).filter(takes_part).for_each(|child| self.node(child));
        }
    }

    fn words_in_place(&mut self, id: NodeId, node: &Node, operator: u8, slop: u32) {
        self.head(node, operator, u64::from(slop), self.query.children(id).count());
        for child in self.query.children(id) {
            self.push(u64::from(self.query.nodes[child as usize].at));
            self.node(child);
        }
    }

    fn patterns(&mut self, node: &Node, first: u32) {
        for pattern in self.query.patterns_of(first) {
            let pattern = &self.query.patterns[pattern as usize];
            let bytes = self.query.pattern_bytes(pattern);
            self.named(node, b'~', pattern.field, bytes);
            self.push(code_of(pattern.kind));
        }
        // Which clause has them all.
        self.head(node, b';', 0, 0);
    }
}

/// Returns the number of a kind of pattern, with all its settings.
fn code_of(kind: PatternKind) -> u64 {
    let edge = |edge| match edge {
        Edge::Open => 0,
        Edge::Included => 1,
        Edge::Excluded => 2u64,
    };
    match kind {
        PatternKind::Prefix => 0,
        PatternKind::Wildcard => 1,
        PatternKind::Fuzzy(how) => {
            let [distance, same] = [how.distance, how.prefix_length].map(u64::from);
            2 | u64::from(how.transpositions) << 4 | distance << 8 | same << 32
        }
        PatternKind::Regex(_) => 3,
        PatternKind::Range { from, to, split } => {
            4 | edge(from) << 4 | edge(to) << 8 | u64::from(split) << 32
        }
    }
}

impl Query {
    /// Returns what clauses are sorted by: terms first, by their field and bytes.
    pub(crate) fn order_of(&self, id: NodeId) -> (u8, u16, &[u8], NodeId) {
        let node = &self.nodes[id as usize];
        match node.kind {
            Kind::Term(term) => {
                let term = &self.terms[term as usize];
                (node.occur as u8, term.field().0, self.bytes_of(term), 0)
            }
            _ => (u8::MAX, 0, &[], id),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use spirit_schema::{FieldKind, Schema, TimeUnit};
    use spirit_text::Analyzer;

    use super::*;
    use crate::parse::{Operator, Parser};

    fn key(text: &str, scored: bool) -> Vec<u64> {
        let mut schema = Schema::new(Analyzer::Simple, false);
        schema.add("by", FieldKind::Keyword).unwrap();
        schema.add("to", FieldKind::Keyword).unwrap();
        schema.add("n", FieldKind::Integer).unwrap();
        schema.add("at", FieldKind::Time(TimeUnit::Seconds)).unwrap();
        let mut parser = Parser::new(Arc::new(schema), 1 << 10, Operator::Or);
        let query = parser.parse(text).unwrap();
        let mut words = Vec::with_capacity(200);
        assert!(write_key(&query, scored, &mut words));
        if let Some((_, all_but_one)) = words.split_last() {
            let mut fewer = Vec::with_capacity(all_but_one.len());
            assert!(!write_key(&query, scored, &mut fewer) && fewer == all_but_one);
        }
        words
    }

    #[test]
    fn different_questions_have_different_keys() {
        let texts = "|*|sea ...|sea|sky|seasea|key:sea|sea sky|+sea sky|+sea +sky|sea -sky|\"sea sky\"|\"sky sea\"|\"sea sky\"~1\
            |\"sea * sky\"|\"sea sky\"*|sea*|s?a|/s.a/|/s?a/|sea~1|sea~2|by:sea|to:sea|by:s*|to:s*|by:[a TO m]|by:[a TO m}\
            |by:[a TO *]|to:[a TO m]|n:1|n:2|n:[1 TO 2]|n:IN [1 5]|n:IN [1 5 9]|n:*|(a b c)~2|(a b c)~1|a (b c)|(a b) c\
            |at:[1970-01-01 TO *]|at:[1971-01-01 TO *]|+a -b|+b -a|+a +b -c|+a +(b c)|sea* sky*|+sea* +sky*";
        for scored in [false, true] {
            let mut seen = HashMap::new();
            for text in texts.split('|').filter(|text| *text != "sea ...") {
                assert_eq!(seen.insert(key(text, scored), text), None, "{text}");
            }
        }
        for (one, other) in [("sea^2", "sea"), ("sea^=2", "sea"), ("sea sky^3", "sea^3 sky")] {
            assert_ne!(key(one, true), key(other, true));
        }
    }

    #[test]
    fn isomorphic_questions_have_one_key() {
        for (one, other) in [
            ("sea sky", "sky sea"),
            ("+sea +sky", "+sky +sea"),
            ("+Sea +by:x -c", "-c +by:x +sea"),
            ("sea^2 sky", "sky sea"),
            ("+(b a) +c", "+c +(a b)"),
        ] {
            assert_eq!(key(one, false), key(other, false), "{one}, {other}");
            assert_ne!(
                key(one, true),
                key(other, true),
                "{one}, {other}: scores are added in order"
            );
        }
        assert_ne!(key("sea sky", false), key("+sea +sky", false));
    }

    #[test]
    fn two_terms_are_packed_as_the_thesis_has_it() {
        let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let text = u64::from(FieldId::TEXT.0) << 16;
        let must = (Occur::Must as u64) << 8;
        let term = |len: u64| u64::from(b'0') | must | text | len << 32;
        let expected = [
            term(3),
            word(b"sea\0\0\0\0\0"),
            term(9),
            word(b"something"[..8].try_into().unwrap()),
            word(b"g\0\0\0\0\0\0\0"),
        ];
        let found = key("+something +sea", false);
        assert_eq!(found[0] as u8, b'^');
        assert_eq!((found[0] >> 32, &found[1..]), (2, &expected[..]));
        assert_eq!(key("a b", false)[0] as u8, b'|');
        assert_eq!(key("a", false)[0] as u8, b'0');
    }
}
