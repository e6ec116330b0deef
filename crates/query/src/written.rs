//! How a query's nodes are written in the query language, for whoever explains them.

use spirit_index::term::FieldId;
use spirit_schema::Schema;

use crate::clause::{Clause, Word};
use crate::pattern::PatternKind;
use crate::query::{Kind, Node, NodeId, Query};

impl Query {
    /// A node as the query language has it; of several clauses only that there are some.
    pub(crate) fn written(&self, id: NodeId, schema: &Schema) -> String {
        let node = &self.nodes[id as usize];
        let text = match node.kind {
            Kind::Clauses { minimum: 0 } => "(...)".to_owned(),
            Kind::Clauses { minimum } => format!("(...)~{minimum}"),
            _ => self.leaf_clause(id, schema).to_string(),
        };
        match *node {
            Node { boost, constant: true, .. } => format!("{text}^={boost}"),
            Node { boost: 1.0, .. } => text,
            Node { boost, .. } => format!("{text}^{boost}"),
        }
    }

    /// A node that is no combination, as a clause.
    fn leaf_clause(&self, id: NodeId, schema: &Schema) -> Clause {
        match self.nodes[id as usize].kind {
            Kind::Nothing | Kind::Clauses { .. } => Clause::Nothing,
            Kind::Everything => Clause::Everything,
            Kind::Key(term) => Clause::Key(self.text_of(term)),
            Kind::Term(term) => Clause::Term(self.word(term, schema)),
            Kind::Phrase { slop } => self.phrase_clause(id, slop, schema),
            Kind::Pattern(pattern) => self.pattern_clause(pattern, schema),
        }
    }

    fn phrase_clause(&self, id: NodeId, slop: u32, schema: &Schema) -> Clause {
        let (mut field, mut words) = (String::new(), Vec::new());
        for child in self.children(id) {
            let (at, term) = (self.nodes[child as usize].at as usize, self.term_of(child));
            let Some(term) = term else { continue };
            words.resize(words.len().max(at + 1), None);
            words[at] = Some(self.text_of(term));
            field = self.word(term, schema).field;
        }
        // Where a phrase begins in its own count says nothing.
        let first = words.iter().position(Option::is_some).unwrap_or(0);
        Clause::Phrase { field, words: words.split_off(first), slop }
    }

    fn pattern_clause(&self, pattern: u32, schema: &Schema) -> Clause {
        let found = &self.patterns[pattern as usize];
        let text = String::from_utf8_lossy(self.pattern_bytes(found)).into_owned();
        let word = Word { field: name_of(found.field, schema), text };
        match found.kind {
            PatternKind::Prefix => Clause::Prefix(word),
            PatternKind::Wildcard => Clause::Wildcard(word),
            PatternKind::Fuzzy(how) => Clause::Fuzzy(word, how),
        }
    }

    fn word(&self, term: u32, schema: &Schema) -> Word {
        let field = self.terms[term as usize].key.field();
        Word { field: name_of(field, schema), text: self.text_of(term) }
    }

    fn text_of(&self, term: u32) -> String {
        String::from_utf8_lossy(self.bytes_of(&self.terms[term as usize])).into_owned()
    }
}

fn name_of(field: FieldId, schema: &Schema) -> String {
    schema.get(field).map_or_else(|| field.0.to_string(), |field| field.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Operator, Parser};
    use spirit_text::Analyzer;
    use std::sync::Arc;

    #[test]
    fn leaves_are_written_as_they_are_read() {
        let mut schema = Schema::new(Analyzer::Simple, false);
        schema.add("by", spirit_schema::FieldKind::Keyword).unwrap();
        let mut parser = Parser::new(Arc::new(schema.clone()), 1 << 10, Operator::Or);
        let mut query = Query::new();
        for text in [
            "sea",
            "by:Bo",
            "key:17",
            "*",
            "\"grey heron\"",
            "\"grey * heron\"~2",
            "her*",
            "h?ron",
            "heron~1",
            "sea^2.5",
            "her*^=3",
        ] {
            parser.parse_into(text, &mut query).unwrap();
            assert_eq!(query.written(query.root, &schema), text);
        }
        parser.parse_into("(a b c)~2", &mut query).unwrap();
        assert_eq!(query.written(query.root, &schema), "(...)~2");
    }
}
