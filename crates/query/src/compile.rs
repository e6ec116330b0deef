//! From a [`Clause`] to a [`Query`]: flattens the tree, makes terms of words, and checks limits.

use std::ops::Bound;

use spirit_index::ground::FieldId;
use spirit_schema::{FieldKind, Schema};
use spirit_text::Analyzer;

use crate::clause::{Bool, Clause, TEXT, Word};
use crate::expression::Expression;
use crate::fuzzy::Fuzzy;
use crate::pattern::PatternKind;
use crate::problem::Problem;
use crate::query::{DEPTH_MAX, Kind, Node, NodeId, Occur, Query, Siblings, TooLarge};
use crate::range::valued;
use crate::rank::boosted;
use crate::slop::SLOTS_MAX;
use crate::target::Target;

type Compiled<T> = Result<T, Problem>;

/// A look-up of fields by name.
type Fields<'f> = dyn Fn(&str) -> Option<Target> + 'f;

fn field(name: &str, fields: &Fields<'_>) -> Compiled<Target> {
    fields(name).ok_or(Problem::UnknownField)
}

/// Like [`field`], but fails if the field has no words.
fn of_words(name: &str, fields: &Fields<'_>) -> Compiled<Target> {
    let found = field(name, fields)?;
    if found.has_words() { Ok(found) } else { Err(Problem::NoWords { kind: found.kind }) }
}

impl Query {
    /// Compiles `clause` for documents that have only a text. The default analyzer makes terms of
    /// [words](Clause::Words).
    ///
    /// ```
    /// use spirit_query::{Clause, Query};
    /// let clause = Clause::all([Clause::term("heron"), Clause::phrase(&["grey", "heron"])]);
    /// assert!(Query::new_of(&clause).is_ok());
    /// ```
    pub fn new_of(clause: &Clause) -> Result<Query, Problem> {
        Query::in_fields(clause, &|name| (name == TEXT).then(|| Target::text(Analyzer::default())))
    }

    /// Like [`new_of`](Self::new_of), for documents with the fields of `schema`, each with its own
    /// analyzer.
    pub fn in_schema(clause: &Clause, schema: &Schema) -> Result<Query, Problem> {
        Query::in_fields(clause, &|name| Target::named(schema, name))
    }

    /// Like [`in_schema`](Self::in_schema), but reuses the memory of `self`. If it fails, the query
    /// matches nothing.
    ///
    /// # Errors
    /// If the clause is no query for documents with these fields, or too large.
    pub fn recompile(&mut self, clause: &Clause, schema: &Schema) -> Result<(), Problem> {
        self.recompile_in(clause, &|name| Target::named(schema, name))
    }

    fn recompile_in(&mut self, clause: &Clause, fields: &Fields<'_>) -> Result<(), Problem> {
        self.clear();
        match self.compile(clause, fields, DEPTH_MAX) {
            Ok(root) => self.root = root,
            Err(problem) => {
                self.clear();
                return Err(problem);
            }
        }
        self.settle();
        Ok(())
    }

    fn in_fields(clause: &Clause, fields: &Fields<'_>) -> Result<Query, Problem> {
        let mut query = Query::new();
        query.recompile_in(clause, fields)?;
        query.release();
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
            Clause::Term(word) => self.compile_word(field(&word.field, fields)?, &word.text)?,
            Clause::Phrase { field, words, slop } => {
                return self.compile_phrase(of_words(field, fields)?, words, *slop);
            }
            Clause::Words { field, text, slop } => {
                return self.compile_words(self::field(field, fields)?, text, *slop);
            }
            Clause::WordsPrefix { field, text } => {
                return self.compile_words_prefix(self::field(field, fields)?, text);
            }
            Clause::Range { field, from, to } => {
                let (from, to) = (from.as_ref(), to.as_ref());
                let [from, to] = [from, to].map(|end: Bound<&String>| end.map(String::as_str));
                self.between(self::field(field, fields)?, from, to)?
            }
            Clause::Exists(field) => self.any_value(self::field(field, fields)?)?,
            Clause::OneOf { field, values } => {
                return self.compile_set(self::field(field, fields)?, values);
            }
            Clause::PhrasePrefix { field, words, prefix } => {
                let (field, mut list) = (of_words(field, fields)?, Siblings::default());
                self.compile_terms(field, words, &mut list)?;
                let at = words.len() as u32;
                return Ok(self.phrase_prefix(list, at, field.id, prefix.as_bytes())?);
            }
            Clause::Prefix(word) => self.compile_pattern(PatternKind::Prefix, word, fields)?,
            Clause::Wildcard(word) => self.compile_pattern(PatternKind::Wildcard, word, fields)?,
            Clause::Regex(word) => {
                let field = of_words(&word.field, fields)?;
                self.regex(field.id, &Expression::new(field, &word.text)?)?
            }
            Clause::Fuzzy { word, distance, prefix_length, transpositions } => {
                let [distance, prefix_length] = [*distance, *prefix_length];
                let fuzzy = Fuzzy { distance, prefix_length, transpositions: *transpositions };
                self.compile_pattern(PatternKind::Fuzzy(fuzzy), word, fields)?
            }
            Clause::Bool(clauses) => return self.compile_bool(clauses, fields, depth),
            Clause::Best { clauses, tie } => {
                return self.compile_best(clauses, *tie, fields, depth);
            }
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

    fn compile_word(&mut self, field: Target, text: &str) -> Compiled<Kind> {
        match field.kind {
            FieldKind::Text(_) => Ok(self.term(field.id, text.as_bytes())?),
            FieldKind::Keyword => Ok(self.keyword(field, text)?),
            _ => self.value(field, text),
        }
    }

    fn compile_set(&mut self, field: Target, values: &[String]) -> Compiled<NodeId> {
        if !field.has_words() {
            let first = self.intervals.len();
            for value in values {
                self.push_interval(valued(field.kind, value)?.into_inner())?;
            }
            let kind = self.close_range(field, first)?;
            return Ok(self.push(Node::leaf(kind))?);
        }
        let mut list = Siblings::default();
        for value in values {
            let kind = self.compile_word(field, value)?;
            let node = self.push(Node::leaf(kind))?;
            self.link(&mut list, node, Occur::Should);
        }
        Ok(self.any_alike(list)?)
    }

    fn compile_pattern(
        &mut self,
        kind: PatternKind,
        word: &Word,
        fields: &Fields<'_>,
    ) -> Compiled<Kind> {
        Ok(self.pattern(of_words(&word.field, fields)?.id, kind, word.text.as_bytes())?)
    }

    fn compile_phrase(
        &mut self,
        field: Target,
        words: &[Option<String>],
        slop: u32,
    ) -> Compiled<NodeId> {
        let mut list = Siblings::default();
        self.compile_terms(field, words, &mut list)?;
        Ok(self.phrase(list, slop)?)
    }

    /// Appends the terms of a phrase, each at its place.
    fn compile_terms(
        &mut self,
        field: Target,
        words: &[Option<String>],
        list: &mut Siblings,
    ) -> Compiled<()> {
        for (at, word) in (0..).zip(words) {
            if let Some(word) = word {
                let kind = self.term(field.id, word.as_bytes())?;
                let node = self.push(Node { at, ..Node::leaf(kind) })?;
                self.link(list, node, Occur::Must);
            }
        }
        Ok(())
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

    fn compile_best(
        &mut self,
        clauses: &[Clause],
        tie: f32,
        fields: &Fields<'_>,
        depth: usize,
    ) -> Compiled<NodeId> {
        let mut list = Siblings::default();
        for clause in clauses {
            let node = self.compile(clause, fields, depth)?;
            self.link(&mut list, node, Occur::Should);
        }
        let node = self.push(Node::parent(Kind::Clauses { minimum: 1 }, list.first))?;
        self.tie(node, tie)?;
        Ok(node)
    }

    /// Scores optional clauses by the best, with `tie` times the others.
    pub(crate) fn tie(&mut self, node: NodeId, tie: f32) -> Compiled<()> {
        if !(0.0..=1.0).contains(&tie) {
            return Err(Problem::Expected("a factor from 0 to 1"));
        }
        self.nodes[node as usize].tie = Some(tie);
        Ok(())
    }

    /// Returns a phrase of the terms in a list. A single term is returned itself.
    pub(crate) fn phrase(&mut self, list: Siblings, slop: u32) -> Result<NodeId, TooLarge> {
        match list.count {
            0 => self.push(Node::leaf(Kind::Blank)),
            1 => Ok(list.first),
            _ if self.lacks_a_word(list) => self.push(Node::leaf(Kind::Nothing)),
            count if count > SLOTS_MAX => Err(TooLarge::Phrase { max: SLOTS_MAX }),
            _ => self.push(Node::parent(Kind::Phrase { slop }, list.first)),
        }
    }

    /// Returns a phrase of the terms in a list, and a term with `prefix` at the place `at`. Without
    /// terms it is a prefix.
    pub(crate) fn phrase_prefix(
        &mut self,
        list: Siblings,
        at: u32,
        field: FieldId,
        prefix: &[u8],
    ) -> Result<NodeId, TooLarge> {
        if list.count >= SLOTS_MAX {
            return Err(TooLarge::Phrase { max: SLOTS_MAX });
        }
        if self.lacks_a_word(list) {
            return self.push(Node::leaf(Kind::Nothing));
        }
        let kind = match self.pattern(field, PatternKind::Prefix, prefix)? {
            Kind::Pattern(pattern) if list.count > 0 => Kind::PhrasePrefix(pattern),
            kind => kind,
        };
        self.push(Node { at, child: list.first, ..Node::leaf(kind) })
    }

    /// True if no document can contain one of the words of a phrase.
    fn lacks_a_word(&self, list: Siblings) -> bool {
        let mut words =
            std::iter::successors(Some(list.first), |at| Some(self.nodes[*at as usize].next));
        words.by_ref().take(list.count).any(|at| self.nodes[at as usize].kind == Kind::Nothing)
    }

    /// Multiplies a node's score.
    pub(crate) fn boost(&mut self, node: NodeId, by: f32) -> Compiled<()> {
        let node = &mut self.nodes[node as usize];
        node.boost = boosted(node.boost, weight(by)?);
        Ok(())
    }

    /// Makes a node's score the same for all its matches.
    pub(crate) fn constant(&mut self, node: NodeId, score: f32) -> Compiled<()> {
        let node = &mut self.nodes[node as usize];
        (node.boost, node.constant) = (weight(score)?, true);
        Ok(())
    }
}

/// Returns a factor for scores, or fails if it is not a finite number from 0 on.
fn weight(number: f32) -> Compiled<f32> {
    let fits = number.is_finite() && number >= 0.0;
    if fits { Ok(number) } else { Err(Problem::Expected("a number ≥ 0")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::CLAUSES_MAX;

    /// Many may be kept.
    #[test]
    fn a_compiled_query_takes_no_more_memory_than_it_needs() {
        let query = Query::new_of(&Clause::term("heron")).unwrap();
        assert_eq!((query.nodes.capacity(), query.terms.capacity()), (1, 1));
        assert_eq!((query.bytes.capacity(), query.ranges.capacity()), (5, 0));
    }

    #[test]
    fn a_query_that_cannot_be_compiled_matches_nothing() {
        let mut query = Query::new_of(&Clause::term("heron")).unwrap();
        let schema = Schema::new(Analyzer::Simple, false);
        assert!(query.recompile(&Clause::any(many(CLAUSES_MAX + 1)), &schema).is_err());
        assert_eq!((query.nodes.len(), query.terms.len()), (0, 0));
        assert!(query.recompile(&Clause::any(many(CLAUSES_MAX)), &schema).is_ok());
        assert_eq!(query.terms.len(), CLAUSES_MAX);
    }

    fn many(clauses: usize) -> Vec<Clause> {
        (0..clauses).map(|number| Clause::term(&format!("w{number}"))).collect()
    }
}
