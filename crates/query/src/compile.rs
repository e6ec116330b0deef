//! From a [`Clause`] to a [`Query`]: the tree is laid out flat, its words become terms, its limits are looked at.

use spirit_index::term::FieldId;
use spirit_schema::Schema;

use crate::clause::{Bool, Clause, TEXT, Word};
use crate::parse::Problem;
use crate::pattern::PatternKind;
use crate::query::{DEPTH_MAX, Kind, Node, NodeId, Occur, Query, Siblings, TooLarge};
use crate::sloppy::SLOTS_MAX;

type Compiled<T> = Result<T, Problem>;

/// The field of each name.
type Fields<'f> = dyn Fn(&str) -> Option<FieldId> + 'f;

fn field(name: &str, fields: &Fields<'_>) -> Compiled<FieldId> {
    fields(name).ok_or(Problem::UnknownField)
}

impl Query {
    /// The query that `clause` stands for, for documents with nothing but a text.
    ///
    /// ```
    /// use spirit_query::{Clause, Query};
    /// let clause = Clause::all([Clause::term("heron"), Clause::phrase(&["grey", "heron"])]);
    /// assert!(Query::new_of(&clause).is_ok());
    /// ```
    pub fn new_of(clause: &Clause) -> Result<Query, Problem> {
        Query::in_fields(clause, &|name| (name == TEXT).then_some(FieldId::TEXT))
    }

    /// The same for documents with the fields of `schema`.
    pub fn in_schema(clause: &Clause, schema: &Schema) -> Result<Query, Problem> {
        Query::in_fields(clause, &|name| schema.by_name(name).map(|field| field.id))
    }

    fn in_fields(clause: &Clause, fields: &Fields<'_>) -> Result<Query, Problem> {
        let mut query = Query::new();
        query.root = query.compile(clause, fields, DEPTH_MAX)?;
        Ok(query)
    }

    fn compile(&mut self, clause: &Clause, fields: &Fields<'_>, depth: usize) -> Compiled<NodeId> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(TooLarge::Depth { max: DEPTH_MAX }.into());
        };
        let kind = match clause {
            Clause::Nothing => Kind::Nothing,
            Clause::Everything => Kind::Everything,
            Clause::Key(key) => self.key(key.as_bytes())?,
            Clause::Term(word) => self.term(field(&word.field, fields)?, word.text.as_bytes())?,
            Clause::Phrase { field, words, slop } => {
                return self.compile_phrase(self::field(field, fields)?, words, *slop);
            }
            Clause::Prefix(word) => self.compile_pattern(PatternKind::Prefix, word, fields)?,
            Clause::Wildcard(word) => self.compile_pattern(PatternKind::Wildcard, word, fields)?,
            Clause::Fuzzy(word, fuzzy) => {
                self.compile_pattern(PatternKind::Fuzzy(*fuzzy), word, fields)?
            }
            Clause::Bool(clauses) => return self.compile_bool(clauses, fields, depth),
            Clause::Boost(clause, by) => {
                let node = self.compile(clause, fields, depth)?;
                self.boost(node, *by)?;
                return Ok(node);
            }
            Clause::Constant(clause, score) => {
                let node = self.compile(clause, fields, depth)?;
                self.constant(node, *score)?;
                return Ok(node);
            }
        };
        Ok(self.push(Node::leaf(kind))?)
    }

    fn compile_pattern(
        &mut self,
        kind: PatternKind,
        word: &Word,
        fields: &Fields<'_>,
    ) -> Compiled<Kind> {
        Ok(self.pattern(field(&word.field, fields)?, kind, word.text.as_bytes())?)
    }

    fn compile_phrase(
        &mut self,
        field: FieldId,
        words: &[Option<String>],
        slop: u32,
    ) -> Compiled<NodeId> {
        let mut list = Siblings::default();
        for (at, word) in (0..).zip(words) {
            if let Some(word) = word {
                let kind = self.term(field, word.as_bytes())?;
                let node = self.push(Node { at, ..Node::leaf(kind) })?;
                self.link(&mut list, node, Occur::Must);
            }
        }
        Ok(self.phrase(list, slop)?)
    }

    fn compile_bool(
        &mut self,
        clauses: &Bool,
        fields: &Fields<'_>,
        depth: usize,
    ) -> Compiled<NodeId> {
        let mut list = Siblings::default();
        let lists = [
            (Occur::Must, &clauses.must),
            (Occur::Should, &clauses.should),
            (Occur::Not, &clauses.not),
        ];
        for (occur, clauses) in lists {
            for clause in clauses {
                let node = self.compile(clause, fields, depth)?;
                self.link(&mut list, node, occur);
            }
        }
        Ok(self.push(Node::parent(Kind::Clauses { minimum: clauses.minimum }, list.first))?)
    }

    /// A phrase of the terms in a list: one of a single term is that term.
    pub(crate) fn phrase(&mut self, list: Siblings, slop: u32) -> Result<NodeId, TooLarge> {
        match list.count {
            0 => self.push(Node::leaf(Kind::Nothing)),
            1 => Ok(list.first),
            count if count > SLOTS_MAX => Err(TooLarge::Phrase { max: SLOTS_MAX }),
            _ => self.push(Node::parent(Kind::Phrase { slop }, list.first)),
        }
    }

    /// Makes a node's score so many times as high.
    pub(crate) fn boost(&mut self, node: NodeId, by: f32) -> Compiled<()> {
        self.nodes[node as usize].boost *= weight(by)?;
        Ok(())
    }

    /// Makes a node's score the same for all that it matches.
    pub(crate) fn constant(&mut self, node: NodeId, score: f32) -> Compiled<()> {
        let node = &mut self.nodes[node as usize];
        (node.boost, node.constant) = (weight(score)?, true);
        Ok(())
    }
}

/// What a score may be multiplied by.
fn weight(number: f32) -> Compiled<f32> {
    let fits = number.is_finite() && number >= 0.0;
    if fits { Ok(number) } else { Err(Problem::Expected("a number from 0 on")) }
}
