//! The terms that every match of a query has.
//!
//! A query that waits for documents need not look at each. It is looked up by *necessary terms*: each
//! of its matches has at least one of them. Of clauses that must all match, one is enough. It is the
//! one whose terms are cheapest, which the caller decides: rare terms are looked up seldom.

use spirit_index::ground::{Term, TermKey};

use crate::query::{Kind, NONE, NodeId, Occur, Query};

/// Terms, as their numbers in the query, and their cost in all.
struct Terms {
    numbers: Vec<u32>,
    cost: u64,
}

impl Query {
    /// Returns the keys of terms: each match has one of them. `None` if a match may have no term
    /// of the query. An empty list if nothing matches.
    ///
    /// `cost` is asked for the cost of a term with its hash. Of several choices the cheapest is
    /// taken.
    pub fn necessary_terms(
        &self,
        mut cost: impl FnMut(Term<'_>, u64) -> u64,
    ) -> Option<Vec<TermKey>> {
        if self.root == NONE {
            return Some(Vec::new());
        }
        let costs: Vec<u64> =
            self.terms.iter().map(|term| cost(self.lookup(term), term.hash)).collect();
        let terms = self.necessary(self.root, &costs)?;
        let mut keys: Vec<TermKey> = Vec::with_capacity(terms.numbers.len());
        for number in terms.numbers {
            let key = self.terms[number as usize].key;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Some(keys)
    }

    fn necessary(&self, node: NodeId, costs: &[u64]) -> Option<Terms> {
        let of_term = |number: u32| Terms { numbers: vec![number], cost: costs[number as usize] };
        match self.nodes[node as usize].kind {
            Kind::Nothing | Kind::Blank => Some(Terms { numbers: Vec::new(), cost: 0 }),
            Kind::Term(number) => Some(of_term(number)),
            Kind::Phrase { .. } | Kind::PhrasePrefix(_) => {
                let terms = self.children(node).filter_map(|child| self.term_of(child));
                terms.map(of_term).min_by_key(|terms| terms.cost)
            }
            Kind::Everything | Kind::Key(_) | Kind::Pattern(_) | Kind::Range(_) => None,
            Kind::Clauses { minimum } => self.necessary_of_clauses(node, minimum, costs),
        }
    }

    fn necessary_of_clauses(&self, node: NodeId, minimum: u32, costs: &[u64]) -> Option<Terms> {
        let clauses = |occur| self.children(node).filter(move |child| self.counts(*child, occur));
        let of_each = |occur| clauses(occur).map(|child| self.necessary(child, costs));
        let has_must = clauses(Occur::Must).next().is_some();
        let of_must = of_each(Occur::Must).flatten().min_by_key(|terms| terms.cost);
        // At least this many optional clauses match.
        let least = if has_must { minimum as usize } else { minimum.max(1) as usize };
        let mut optional: Vec<Option<Terms>> = of_each(Occur::Should).collect();
        // Any `least` of them have one of those that are left without the `least - 1` costliest.
        optional.sort_by_key(|terms| terms.as_ref().map_or(u64::MAX, |terms| terms.cost));
        let enough = (optional.len() + 1).checked_sub(least.max(1));
        let of_should: Option<Terms> = match enough {
            Some(enough @ 1..) if least > 0 => optional.into_iter().take(enough).sum(),
            _ => None,
        };
        match (of_must, of_should) {
            (Some(must), Some(should)) if should.cost < must.cost => Some(should),
            (must, should) => must.or(should),
        }
    }
}

impl std::iter::Sum for Terms {
    fn sum<I: Iterator<Item = Terms>>(all: I) -> Terms {
        let mut sum = Terms { numbers: Vec::new(), cost: 0 };
        for Terms { mut numbers, cost } in all {
            sum.numbers.append(&mut numbers);
            sum.cost = sum.cost.saturating_add(cost);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use spirit_schema::Schema;
    use spirit_text::Analyzer;

    use super::*;
    use crate::parse::{Operator, Parser};

    fn parse(text: &str) -> Query {
        let schema = Arc::new(Schema::new(Analyzer::Simple, false));
        Parser::new(schema, 1 << 10, Operator::Or).parse(text).unwrap()
    }

    /// Returns the necessary terms of a text. Long terms cost less, as if they were rarer.
    fn terms(text: &str) -> Option<Vec<String>> {
        let keys = parse(text).necessary_terms(|term, _| 100 / term.bytes.len() as u64)?;
        let bytes = |key: &TermKey| {
            let (bytes, len) = key.inline_bytes();
            String::from_utf8(bytes[..len].to_vec()).unwrap()
        };
        Some(keys.iter().map(bytes).collect())
    }

    #[test]
    fn a_match_has_one_of_the_terms() {
        let some = |terms: &[&str]| Some(terms.iter().map(|term| (*term).to_owned()).collect());
        for (text, expected) in [
            ("sea", some(&["sea"])),
            ("sea whale", some(&["whale", "sea"])),
            ("sea AND whale", some(&["whale"])),
            ("+sea whale captain", some(&["sea"])),
            ("+sea wonderfully", some(&["sea"])),
            ("\"the whale\"", some(&["whale"])),
            ("sea AND NOT whale", some(&["sea"])),
            ("(sea OR sky) AND whale", some(&["whale"])),
            ("(captain OR whale) AND a", some(&["captain", "whale"])),
            ("sea AND wha*", some(&["sea"])),
            ("sea OR wha*", None),
            ("wha*", None),
            ("NOT sea", None),
            ("*", None),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
    }
}
