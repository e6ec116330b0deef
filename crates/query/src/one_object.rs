//! Members of one object: `users.name:ann AND users.role:guest` asks for one user who is both.
//!
//! The fields of members have the values of all objects of an array. So where several clauses about
//! members of one array are required together, one more is: a phrase of the array's
//! [terms](spirit_schema::write_member), moved by less than the gap between two objects. Documents
//! without the array, or with one object, need not have the phrase. The clause adds nothing to
//! scores.
//!
//! It asks for words, phrases, keywords and exact values. Where any of several suffices, there is a
//! phrase for each. Several clauses about one member, `users.name:ann AND users.name:bob`, may match
//! in different objects: each need only be in an object that has what is asked of other members.
//! Ranges, patterns and excluded clauses are about the document.

use spirit_index::ground::{FieldId, TERM_BYTES_MAX, ValueKind};
use spirit_schema::{
    MemberValue, OBJECT_GAP, SEVERAL, Schema, is_member, read_member, write_member,
};

use crate::interval::QueryRange;
use crate::problem::Problem;
use crate::query::{Kind, Node, NodeId, Occur, Query, Siblings, TooLarge};
use crate::slop::SLOTS_MAX;

/// How far terms of one object may be moved: terms of two are further apart, whatever their places in
/// the phrase.
const SLOP: u32 = OBJECT_GAP - SLOTS_MAX as u32;
/// Phrases for one array, at most: clauses that would need more are about the document.
const WAYS_MAX: usize = 64;

/// Terms of an array, sorted, that an object must have.
type Way = Vec<Vec<u8>>;

impl Query {
    /// Requires clauses about members of one array to match in one object, where they are required
    /// together. Indexes without positions have no phrases: there all clauses are about the document.
    ///
    /// # Errors
    /// If the query gets too large.
    pub fn bind_objects(&mut self, schema: &Schema) -> Result<(), Problem> {
        if schema.arrays().next().is_none() {
            return Ok(());
        }
        for group in 0..self.nodes.len() as NodeId {
            for (array, name) in schema.arrays() {
                let members = Members { query: self, schema, array: name };
                if let Some(ways) = members.together(group) {
                    self.require_one_of(group, array, &ways)?;
                }
            }
        }
        Ok(())
    }

    /// Adds a clause to a group: a document has the terms of one of these ways in one object of the
    /// array, or has not several objects.
    fn require_one_of(
        &mut self,
        group: NodeId,
        array: FieldId,
        ways: &[Way],
    ) -> Result<(), TooLarge> {
        let mut any = Siblings::default();
        for way in ways {
            let mut terms = Siblings::default();
            for (term, at) in way.iter().zip(0..) {
                let kind = self.term(array, term)?;
                let node = self.push(Node { at, ..Node::leaf(kind) })?;
                self.link(&mut terms, node, Occur::Must);
            }
            let node = match terms.count {
                1 => terms.first,
                _ => self.push(Node::parent(Kind::Phrase { slop: SLOP }, terms.first))?,
            };
            self.link(&mut any, node, Occur::Should);
        }
        let others = self.others_than(array)?;
        self.link(&mut any, others, Occur::Should);
        let node = Node::parent(Kind::Clauses { minimum: 1 }, any.first);
        let node = self.push(Node { boost: 0.0, constant: true, occur: Occur::Must, ..node })?;
        if let Some(last) = self.children(group).last() {
            self.nodes[last as usize].next = node;
        }
        Ok(())
    }

    /// Returns a node for the documents without several objects of the array.
    fn others_than(&mut self, array: FieldId) -> Result<NodeId, TooLarge> {
        let mut list = Siblings::default();
        let all = self.push(Node::leaf(Kind::Everything))?;
        self.link(&mut list, all, Occur::Must);
        let kind = self.term(array, SEVERAL)?;
        let several = self.push(Node::leaf(kind))?;
        self.link(&mut list, several, Occur::Not);
        self.group(list)
    }
}

/// What the clauses of a query ask of the members of one array.
struct Members<'q> {
    query: &'q Query,
    schema: &'q Schema,
    array: &'q str,
}

impl Members<'_> {
    /// Returns the ways in which an object may have what a group's clauses require of members; none
    /// if they require it of fewer than two.
    fn together(&self, group: NodeId) -> Option<Vec<Way>> {
        let Node { kind: Kind::Clauses { .. }, .. } = self.query.nodes[group as usize] else {
            return None;
        };
        let (ways, asked) = self.all_of(group);
        let fits = |way: &Way| (1..=SLOTS_MAX).contains(&way.len());
        (asked > 1 && ways.iter().all(fits)).then_some(ways)
    }

    /// Returns the ways to have what all required clauses of a group ask, and how many members they
    /// ask. A clause about several members counts as one, and those that do not ask members alone are
    /// left out.
    fn all_of(&self, group: NodeId) -> (Vec<Way>, usize) {
        let mut asked: Vec<(Option<&str>, Vec<Way>)> = Vec::new();
        for child in self.children(group, Occur::Must) {
            let Some(ways) = self.ways(child) else { continue };
            let member = self.only_member(&ways);
            match asked.iter_mut().find(|(known, _)| member.is_some() && *known == member) {
                Some((_, known)) => known.extend(ways),
                None => asked.push((member, ways)),
            }
        }
        let (mut ways, mut count) = (vec![Way::new()], 0);
        for (_, more) in asked {
            if ways.len() * more.len() <= WAYS_MAX {
                let joined =
                    |way: &Way| more.iter().map(|more| joined(way, more)).collect::<Vec<_>>();
                ways = ways.iter().flat_map(joined).collect();
                count += 1;
            }
        }
        (ways, count)
    }

    /// Returns the name of the member that all of these ways ask, if it is one.
    fn only_member(&self, ways: &[Way]) -> Option<&str> {
        let name = |term: &Vec<u8>| self.schema.field_name(read_member(term)?.0);
        let mut names = ways.iter().flatten().map(name);
        let first = names.next()??;
        names.all(|name| name == Some(first)).then_some(first)
    }

    /// Returns the ways to have what a clause asks of members; none if it asks something else, or may
    /// be content with something else.
    fn ways(&self, node: NodeId) -> Option<Vec<Way>> {
        match self.query.nodes[node as usize].kind {
            Kind::Term(term) => self.term(term).map(|term| vec![vec![term]]),
            Kind::Phrase { .. } => {
                let terms = self.query.children(node);
                let terms: Option<Way> =
                    terms.map(|child| self.term(self.query.term_of(child)?)).collect();
                terms.map(|terms| vec![joined(&terms, &[])])
            }
            Kind::Range(range) => self.values(&self.query.ranges[range as usize]),
            Kind::Clauses { minimum } => {
                if self.children(node, Occur::Must).next().is_some() {
                    let (ways, asked) = self.all_of(node);
                    return (asked > 0).then_some(ways);
                }
                let mut any = Vec::new();
                for child in self.children(node, Occur::Should) {
                    any.extend(self.ways(child)?);
                }
                (minimum <= 1 && !any.is_empty() && any.len() <= WAYS_MAX).then_some(any)
            }
            _ => None,
        }
    }

    fn children(&self, node: NodeId, occur: Occur) -> impl Iterator<Item = NodeId> + '_ {
        self.query.children(node).filter(move |child| {
            let Node { kind, occur: of_child, .. } = self.query.nodes[*child as usize];
            of_child == occur && kind != Kind::Blank
        })
    }

    fn is_member(&self, field: FieldId) -> bool {
        self.schema.field_name(field).is_some_and(|name| is_member(self.array, name))
    }

    /// Returns the array's term for a term of a member.
    fn term(&self, term: u32) -> Option<Vec<u8>> {
        let term = &self.query.terms[term as usize];
        if term.is_key() {
            return None;
        }
        self.member(term.field(), MemberValue::Term(self.query.bytes_of(term)))
    }

    /// Returns a way for each value of a range that consists of single ones.
    fn values(&self, range: &QueryRange) -> Option<Vec<Way>> {
        let intervals = self.query.intervals(range);
        if intervals.is_empty() || intervals.len() > WAYS_MAX {
            return None;
        }
        let one = |&(first, last): &(u64, u64)| {
            let bits = range.kind.from_sortable(first);
            let value = match range.kind {
                _ if first != last => return None,
                ValueKind::Integer => MemberValue::Number(bits.cast_signed() as f64),
                ValueKind::Float => MemberValue::Number(f64::from_bits(bits)),
                ValueKind::Time => MemberValue::Moment(bits.cast_signed()),
                ValueKind::Boolean if bits == 0 => MemberValue::Term(b"false"),
                ValueKind::Boolean => MemberValue::Term(b"true"),
                ValueKind::Text | ValueKind::Keyword => return None,
            };
            self.member(range.field, value).map(|term| vec![term])
        };
        intervals.iter().map(one).collect()
    }

    /// Returns the array's term for a value of a member; none if it has none.
    fn member(&self, field: FieldId, value: MemberValue<'_>) -> Option<Vec<u8>> {
        if !self.is_member(field) {
            return None;
        }
        let mut term = Vec::new();
        write_member(field, value, &mut term);
        (term.len() <= TERM_BYTES_MAX).then_some(term)
    }
}

/// Returns the terms of both, each once. An object that has a term once has it for several clauses.
fn joined(one: &[Vec<u8>], other: &[Vec<u8>]) -> Way {
    let mut terms = [one, other].concat();
    terms.sort();
    terms.dedup();
    terms
}
