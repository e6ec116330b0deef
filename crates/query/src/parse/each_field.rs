//! Words without a field's name: they are looked for in each field of text, and count where they
//! count most.
//!
//! Such a word, phrase, pattern or expression is read once for each field of text, with the field's
//! own analyzer. The clauses become one, with the best of their scores. Patterns of equal score
//! need no such clause: they become one leaf, which takes one bitmap for all fields.
//!
//! What the text's analyzer makes of the words decides for all fields whether they take part: a stop
//! word of the text takes none. Where another field's analyzer finds no word, or no pattern that it
//! could match, the field is left out. An index with only the text pays nothing for this.

use spirit_schema::{Field, TEXT};

use super::grammar::{Parse, Parsed};
use crate::problem::Problem;
use crate::query::{Kind, Node, NodeId, Occur, Siblings};
use crate::target::Target;

impl<'a> Parse<'a> {
    /// Reads words with `read`, in the field of the group here, or else in all fields of text.
    pub(super) fn in_each_field(
        &mut self,
        read: impl Fn(&mut Self, Target) -> Parsed<NodeId>,
    ) -> Parsed<NodeId> {
        if let Some(field) = self.field {
            return read(self, field);
        }
        let start = self.at;
        let first = read(self, Target::text(self.parser.schema.analyzer()))?;
        if self.next_text(TEXT.0.into()).is_none() || !self.has_words(first) {
            return Ok(first);
        }
        let end = std::mem::replace(&mut self.at, start);
        self.is_repeating = true;
        let all = self.in_other_fields(start, first, read);
        self.is_repeating = false;
        self.at = end;
        all
    }

    /// Reads the words at `start` in all other fields, and returns them with the clause that the
    /// text has.
    fn in_other_fields(
        &mut self,
        start: usize,
        first: NodeId,
        read: impl Fn(&mut Self, Target) -> Parsed<NodeId>,
    ) -> Parsed<NodeId> {
        let mut list = Siblings::default();
        self.query.link(&mut list, first, Occur::Should);
        let mut last = TEXT.0.into();
        while let Some(field) = self.next_text(last) {
            last = field.id.0.into();
            self.at = start;
            match self.alternative(first, field, &read) {
                Ok(Some(node)) => self.query.link(&mut list, node, Occur::Should),
                Ok(None) => {}
                Err(limit @ Problem::TooLarge(_)) => return Err(limit),
                // The field's analyzer cuts the pattern.
                Err(_) => {}
            }
        }
        if list.count == 1 {
            return Ok(first);
        }
        let kind = Kind::Clauses { minimum: 1 };
        let node = self.query.push(Node { tie: Some(0.0), ..Node::parent(kind, first) })?;
        // What follows it is not the factor of a group that somebody wrote.
        self.closed = node;
        Ok(node)
    }

    /// Reads words in another field. Returns none if they have no terms there, or if they joined the
    /// leaf `first`.
    fn alternative(
        &mut self,
        first: NodeId,
        field: Target,
        read: &impl Fn(&mut Self, Target) -> Parsed<NodeId>,
    ) -> Parsed<Option<NodeId>> {
        let Kind::Pattern(pattern) = self.query.nodes[first as usize].kind else {
            let node = read(self, field)?;
            return Ok(self.has_words(node).then_some(node));
        };
        let made = self.query.patterns.len();
        self.query.reopen_leaf();
        let node = read(self, field);
        if let Ok(node) = node
            && self.query.join_patterns(pattern, node, made)
        {
            return Ok(None);
        }
        self.query.close_leaf(made)?;
        node.map(|node| self.has_words(node).then_some(node))
    }

    fn has_words(&self, node: NodeId) -> bool {
        use Kind::{Clauses, Pattern, Phrase, PhrasePrefix, Term};
        let kind = self.query.nodes[node as usize].kind;
        matches!(kind, Term(_) | Phrase { .. } | Pattern(_) | PhrasePrefix(_) | Clauses { .. })
    }

    /// Returns the next field of text behind this number.
    fn next_text(&self, number: usize) -> Option<Target> {
        let fields = self.parser.fields();
        let mut texts = fields.iter().skip(number + 1).filter(|field| field.kind.is_text());
        texts.next().map(|Field { id, kind, .. }| Target { id: *id, kind: *kind })
    }
}
