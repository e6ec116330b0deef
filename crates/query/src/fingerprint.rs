//! Fingerprints of queries, in a few bits. A cursor has one, so that it is not used for another
//! query.
//!
//! A fingerprint is a hash of the tree that is evaluated. So it does not depend on the process, nor
//! on whether a text or a program made the query. Ranges of moments are left out, except for the
//! field: `at:>=now-1h` is a new interval each time, but one query.

use spirit_index::ground::ValueKind;
use spirit_index::ground::{FieldId, hash_bytes};

use crate::pattern::{Edge, PatternKind};
use crate::query::{Kind, NONE, NodeId, Query};

/// A hash of a query, and of other settings of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Returns the fingerprint of a query. Allocates nothing, and visits each node once.
    ///
    /// ```
    /// use spirit_query::{Clause, Fingerprint, Query};
    /// let of = |clause: &Clause| Fingerprint::of(&Query::new_of(clause).unwrap());
    /// assert_eq!(of(&Clause::term("sea")), of(&Clause::words("Sea")));
    /// assert_ne!(of(&Clause::term("sea")), of(&Clause::term("sky")));
    /// ```
    pub fn of(query: &Query) -> Fingerprint {
        let mut print = Fingerprint::default();
        if query.root != NONE {
            print.add_node(query, query.root);
        }
        print
    }

    /// Adds a number that distinguishes the search from others.
    pub fn and(mut self, number: u64) -> Fingerprint {
        self.add(number);
        self
    }

    /// Returns the first 32 bits.
    pub fn short(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn add(&mut self, number: u64) {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.0.to_le_bytes());
        bytes[8..].copy_from_slice(&number.to_le_bytes());
        self.0 = hash_bytes(&bytes);
    }

    fn add_word(&mut self, field: FieldId, bytes: &[u8]) {
        self.add(u64::from(field.0));
        self.add(hash_bytes(bytes));
    }

    fn add_node(&mut self, query: &Query, id: NodeId) {
        let node = &query.nodes[id as usize];
        self.add(u64::from(node.boost.to_bits()) << 1 | u64::from(node.constant));
        self.add(u64::from(node.at));
        if let Some(tie) = node.tie {
            self.add(u64::from(tie.to_bits()) << 1 | 1);
        }
        self.add_kind(query, node.kind);
        for child in query.children(id) {
            // The root is left out: its role does not matter.
            self.add(1 + query.nodes[child as usize].occur as u64);
            self.add_node(query, child);
        }
        self.add(0);
    }

    fn add_kind(&mut self, query: &Query, kind: Kind) {
        let (tag, number) = match kind {
            Kind::Nothing => (0, 0),
            Kind::Everything => (1, 0),
            Kind::Term(term) => (2, term),
            Kind::Key(term) => (3, term),
            Kind::Clauses { minimum } => (4, minimum),
            Kind::Phrase { slop } => (5, slop),
            Kind::Pattern(pattern) => (6, pattern),
            Kind::PhrasePrefix(pattern) => (7, pattern),
            Kind::Range(range) => (8, range),
            Kind::Blank => (9, 0),
        };
        self.add(tag);
        match kind {
            Kind::Nothing | Kind::Blank | Kind::Everything => {}
            Kind::Clauses { .. } | Kind::Phrase { .. } => self.add(u64::from(number)),
            Kind::Term(_) | Kind::Key(_) => {
                let term = &query.terms[number as usize];
                self.add_word(term.field(), query.bytes_of(term));
            }
            Kind::Pattern(_) | Kind::PhrasePrefix(_) => {
                query.patterns_of(number).for_each(|pattern| self.add_pattern(query, pattern));
            }
            Kind::Range(_) => self.add_range(query, number),
        }
    }

    fn add_pattern(&mut self, query: &Query, pattern: u32) {
        let pattern = &query.patterns[pattern as usize];
        let edge = |edge| match edge {
            Edge::Open => 0,
            Edge::Included => 1,
            Edge::Excluded => 2u64,
        };
        self.add(match pattern.kind {
            PatternKind::Prefix => 0,
            PatternKind::Wildcard => 1,
            PatternKind::Fuzzy(how) => {
                let [distance, same] = [how.distance, how.prefix_length].map(u64::from);
                2 | distance << 2 | same << 10 | u64::from(how.transpositions) << 18
            }
            // The two lowest bits tell the other kinds apart, and a prefix is 0.
            PatternKind::Regex(_) => 4,
            PatternKind::Range { from, to, split } => {
                3 | edge(from) << 2 | edge(to) << 4 | u64::from(split) << 6
            }
        });
        self.add_word(pattern.field, query.pattern_bytes(pattern));
    }

    fn add_range(&mut self, query: &Query, range: u32) {
        let range = &query.ranges[range as usize];
        self.add(u64::from(range.field.0));
        if range.kind == ValueKind::Time {
            return;
        }
        for (first, last) in query.intervals(range) {
            self.add(*first);
            self.add(*last);
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
    use crate::clause::Clause;
    use crate::parse::{Operator, Parser};

    fn schema() -> Schema {
        let mut schema = Schema::new(Analyzer::Simple, false);
        schema.add("by", FieldKind::Keyword).unwrap();
        schema.add("to", FieldKind::Keyword).unwrap();
        schema.add("n", FieldKind::Integer).unwrap();
        schema.add("at", FieldKind::Time(TimeUnit::Seconds)).unwrap();
        schema
    }

    fn of(text: &str) -> Fingerprint {
        let mut parser = Parser::new(Arc::new(schema()), 1 << 10, Operator::Or);
        Fingerprint::of(&parser.parse(text).unwrap())
    }

    #[test]
    fn different_queries_have_different_ones() {
        let texts = "|*|...|sea ...|sea|sky|key:sea|sea sky|sky sea|+sea sky|sea +sky|+sea +sky|sea -sky|\"sea sky\"|\"sea sky\"~1\
            |\"sea * sky\"|\"sea sky\"*|sea*|s?a|/s.a/|/s?a/|sea~1|sea~2|sea^2|sea^=2|by:sea|to:sea|by:s*|to:s*|by:[a TO m]|by:[a TO m}\
            |by:[a TO *]|to:[a TO m]|n:1|n:2|n:[1 TO 2]|n:IN [1 5]|n:IN [1 5 9]|n:*|(a b c)~2|(a b c)~1|a (b c)|(a b) c|(a b c)|at:*|+at:* sea";
        let mut seen = HashMap::new();
        for text in texts.split('|') {
            assert_eq!(seen.insert(of(text).short(), text), None, "{text}");
        }
    }

    #[test]
    fn the_same_query_has_the_same_whoever_asks() {
        assert_eq!(of("Sea  AND sky"), of("sea && SKY"));
        assert_eq!(of("to be or not to be"), of("to^2 be^2 or not"));
        let clauses = [
            Clause::all([Clause::words("Sea"), Clause::term("sky")]),
            Clause::phrase(&["sea", "sky"]).boost(2.0),
            Clause::range("n", 1..=7),
            Clause::value("by", "Bo"),
        ];
        for clause in clauses {
            let built = Fingerprint::of(&Query::in_schema(&clause, &schema()).unwrap());
            assert_eq!(built, of(&clause.to_string()), "{clause}");
        }
        // Fingerprints are stable: a later process, or another one, computes this number too.
        assert_eq!(of("+sea sky^2 n:[1 TO 7]").short(), 3_849_953_053);
    }

    #[test]
    fn a_moment_that_moves_on_is_the_same_query() {
        let [hour, minute] = ["at:>=2026-11-22T10:00:00Z", "at:>=2026-11-22T11:00:00Z"].map(of);
        assert_eq!(hour, minute);
        assert_ne!(of("sea at:>=now-1h"), of("sky at:>=now-1h"));
    }
}
