//! Writes a query's nodes in the query language, for plans and explanations.

use std::ops::Bound;

use spirit_index::ground::FieldId;
use spirit_index::ground::ValueKind;
use spirit_schema::{Schema, everything, format_time, read_member};

use crate::clause::{Clause, Word};
use crate::fuzzy::Fuzzy;
use crate::interval::QueryRange;
use crate::pattern::PatternKind;
use crate::query::{Kind, Node, NodeId, Query};

impl Query {
    /// Writes a node in the query language. A combination is abbreviated.
    pub(crate) fn written(&self, id: NodeId, schema: &Schema) -> String {
        let node = &self.nodes[id as usize];
        let text = match node.kind {
            Kind::Blank => "()".to_owned(),
            Kind::Clauses { .. } if let Some(tie) = node.tie => match tie {
                0.0 => "(... | ...)".to_owned(),
                tie => format!("(... | ...)~{tie:?}"),
            },
            Kind::Clauses { minimum: 0 } => "(...)".to_owned(),
            Kind::Clauses { minimum } => format!("(...)~{minimum}"),
            _ if has_other_texts(schema) => format!("{:#}", self.leaf_clause(id, schema)),
            _ => self.leaf_clause(id, schema).to_string(),
        };
        match *node {
            Node { boost, constant: true, .. } => format!("{text}^={boost}"),
            Node { boost: 1.0, .. } => text,
            Node { boost, .. } => format!("{text}^{boost}"),
        }
    }

    /// Returns a node other than a combination as a clause.
    fn leaf_clause(&self, id: NodeId, schema: &Schema) -> Clause {
        match self.nodes[id as usize].kind {
            Kind::Nothing | Kind::Blank | Kind::Clauses { .. } => Clause::Nothing,
            Kind::Everything => Clause::Everything,
            Kind::Key(term) => Clause::Key(self.bytes_as_text(term)),
            Kind::Term(term) => Clause::Term(self.word(term, schema)),
            Kind::Phrase { slop } => self.phrase_clause(id, slop, schema),
            Kind::Pattern(first) => {
                let of_field = |pattern| self.pattern_clause(pattern, schema);
                let mut clauses: Vec<Clause> = self.patterns_of(first).map(of_field).collect();
                if clauses.len() == 1 { clauses.remove(0) } else { Clause::best(clauses, 0.0) }
            }
            Kind::PhrasePrefix(pattern) => self.phrase_prefix_clause(id, pattern, schema),
            Kind::Range(range) => self.range_clause(&self.ranges[range as usize], schema),
        }
    }

    fn range_clause(&self, range: &QueryRange, schema: &Schema) -> Clause {
        let field = name_of(range.field, schema);
        let text = |value| value_text(range.kind, value);
        match *self.intervals(range) {
            [(0, u64::MAX)] => Clause::Exists(field),
            ref all if all.iter().all(|(first, last)| first == last) => {
                let mut values: Vec<String> = all.iter().map(|(value, _)| text(*value)).collect();
                match values.len() {
                    0 => Clause::Nothing,
                    1 => Clause::Term(Word { field, text: values.remove(0) }),
                    _ => Clause::OneOf { field, values },
                }
            }
            ref all => {
                let whole = schema.get(range.field).and_then(|field| everything(field.kind));
                let (least, highest) = whole.unwrap_or(0..=u64::MAX).into_inner();
                let bound = |value, open: u64| match value {
                    _ if value == open => Bound::Unbounded,
                    _ => Bound::Included(text(value)),
                };
                let range = |(first, last): &(u64, u64)| Clause::Range {
                    field: field.clone(),
                    from: bound(*first, least),
                    to: bound(*last, highest),
                };
                let mut ranges: Vec<Clause> = all.iter().map(range).collect();
                if ranges.len() == 1 { ranges.remove(0) } else { Clause::any(ranges) }
            }
        }
    }

    fn phrase_clause(&self, id: NodeId, slop: u32, schema: &Schema) -> Clause {
        let mut terms = self.children(id).filter_map(|child| self.term_of(child));
        let field = terms.next().map(|term| self.word(term, schema).field).unwrap_or_default();
        Clause::Phrase { field, words: self.phrase_words(id, 0, schema), slop }
    }

    fn phrase_prefix_clause(&self, id: NodeId, pattern: u32, schema: &Schema) -> Clause {
        let pattern = &self.patterns[pattern as usize];
        Clause::PhrasePrefix {
            field: name_of(pattern.field, schema),
            words: self.phrase_words(id, self.nodes[id as usize].at as usize, schema),
            prefix: String::from_utf8_lossy(self.pattern_bytes(pattern)).into_owned(),
        }
    }

    /// Returns the terms of a phrase of at least `places` places, from its first term on. Places
    /// before that mean nothing.
    fn phrase_words(&self, id: NodeId, places: usize, schema: &Schema) -> Vec<Option<String>> {
        let mut words = vec![None; places];
        for child in self.children(id) {
            let (at, term) = (self.nodes[child as usize].at as usize, self.term_of(child));
            let Some(term) = term else { continue };
            words.resize(words.len().max(at + 1), None);
            words[at] = Some(self.text_of(term, schema));
        }
        let first = words.iter().position(Option::is_some).unwrap_or(0);
        words.split_off(first)
    }

    fn pattern_clause(&self, pattern: u32, schema: &Schema) -> Clause {
        let found = &self.patterns[pattern as usize];
        let bytes = self.pattern_bytes(found);
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let field = name_of(found.field, schema);
        let word = || Word { field: field.clone(), text: text(bytes) };
        match found.kind {
            PatternKind::Prefix if bytes.is_empty() => Clause::Exists(field),
            PatternKind::Prefix => Clause::Prefix(word()),
            PatternKind::Wildcard => Clause::Wildcard(word()),
            PatternKind::Fuzzy(Fuzzy { distance, prefix_length, transpositions }) => {
                Clause::Fuzzy { word: word(), distance, prefix_length, transpositions }
            }
            PatternKind::Regex(_) => Clause::Regex(word()),
            PatternKind::Range { from, to, split } => {
                let (low, high) = bytes.split_at(split as usize);
                Clause::Range { field, from: from.at(low).map(text), to: to.at(high).map(text) }
            }
        }
    }

    fn word(&self, term: u32, schema: &Schema) -> Word {
        let field = self.terms[term as usize].key.field();
        Word { field: name_of(field, schema), text: self.text_of(term, schema) }
    }

    /// Returns a term as text: one of an [array of objects](crate::one_object) as `member:value`.
    fn text_of(&self, term: u32, schema: &Schema) -> String {
        let found = &self.terms[term as usize];
        if let Some((_, array)) = schema.arrays().find(|(array, _)| *array == found.field())
            && let Some((field, value)) = read_member(self.bytes_of(found))
        {
            let member = name_of(field, schema);
            return format!("{}:{value}", member.get(array.len() + 1..).unwrap_or(&member));
        }
        self.bytes_as_text(term)
    }

    fn bytes_as_text(&self, term: u32) -> String {
        String::from_utf8_lossy(self.bytes_of(&self.terms[term as usize])).into_owned()
    }
}

/// Writes a value other than a word, as it is typed.
fn value_text(kind: ValueKind, sortable: u64) -> String {
    let bits = kind.from_sortable(sortable);
    match kind {
        ValueKind::Float => f64::from_bits(bits).to_string(),
        ValueKind::Time => format_time(bits.cast_signed()),
        ValueKind::Boolean => (bits == 1).to_string(),
        _ => bits.cast_signed().to_string(),
    }
}

/// True if words without a field's name are looked for not only in the text.
fn has_other_texts(schema: &Schema) -> bool {
    schema.fields().iter().skip(1).any(|field| field.kind.is_text())
}

fn name_of(field: FieldId, schema: &Schema) -> String {
    schema.name_of(field).unwrap_or_else(|| field.0.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Operator, Parser};
    use spirit_schema::{FieldKind, TimeUnit};
    use spirit_text::Analyzer;
    use std::sync::Arc;

    #[test]
    fn leaves_are_written_as_they_are_read() {
        let mut schema = Schema::new(Analyzer::Simple, false);
        schema.add("by", FieldKind::Keyword).unwrap();
        schema.add("n", FieldKind::Integer).unwrap();
        schema.add("x", FieldKind::Float).unwrap();
        schema.add("at", FieldKind::Time(TimeUnit::Seconds)).unwrap();
        let mut parser = Parser::new(Arc::new(schema.clone()), 1 << 10, Operator::Or);
        let mut query = Query::new();
        for text in [
            "sea",
            "by:Bo",
            "key:17",
            "*",
            "\"grey heron\"",
            "\"grey * heron\"~2",
            "\"grey her\"*",
            "\"a grey * her\"*^2",
            "her*",
            "h?ron",
            "/her(on|ring)s?/",
            "by:/Bo\\ .*\\/x/^2",
            "heron~1",
            "sea^2.5",
            "her*^=3",
            "by:[a TO m]",
            "by:*",
            "n:\\-3",
            "n:[1 TO 5]",
            "n:[1 TO *]",
            "n:[* TO 9]",
            "n:IN [1 3 5]",
            "n:*",
            "x:[-0.5 TO 2.25]",
            "at:[2026-11-22T00:00:00Z TO *]",
        ] {
            parser.parse_into(text, &mut query).unwrap();
            assert_eq!(query.written(query.root, &schema), text);
        }
        parser.parse_into("(a b c)~2", &mut query).unwrap();
        assert_eq!(query.written(query.root, &schema), "(...)~2");
    }
}
