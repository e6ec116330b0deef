//! Checks the order of a segment's terms. Each term with a node occurs once, in the order of fields
//! and bytes, under its prefix.

use crate::check::seen::Segment;
use crate::check::{Checked, Part};
use crate::form::merged::Merged;
use crate::form::named_nodes::NamedNodes;
use crate::ground::section::Kind;
use crate::ground::term::{FieldId, TERM_BYTES_MAX};
use crate::terms::term_order::{TermOrder, places, prefix};

pub(super) fn check(part: &Part<'_>, segment: &Segment, checked: &mut Checked) {
    let at = segment.sections.get(Kind::TermOrder).start;
    let order = segment.term_order(part);
    let starts = [Kind::Nodes, Kind::TermKeys, Kind::LongTerms];
    let starts = starts.map(|kind| segment.sections.get(kind).start);
    let merged = segment.is_merged.then(|| Merged::new(part.region, &part.layout));
    let terms = order.len() as u64;
    let mut walk = Walk {
        order,
        nodes: NamedNodes::new(part.region, terms, starts, merged),
        seen: vec![false; order.len()],
        before: None,
    };
    let (prefixes, _) = places(at, terms);
    for index in 0..order.len() {
        if let Err(why) = walk.term(index) {
            checked.note("order of terms", prefixes.start() + index as u64 * 8, why);
        }
    }
}

/// A walk through the terms in their order.
struct Walk<'a> {
    order: TermOrder<'a>,
    nodes: NamedNodes<'a>,
    /// True for each node that was reached. There are as many nodes as terms.
    seen: Vec<bool>,
    /// The last term that could be read.
    before: Option<(FieldId, Vec<u8>)>,
}

impl Walk<'_> {
    fn term(&mut self, index: usize) -> Result<(), &'static str> {
        let number = self.order.number(index);
        let node = self.nodes.node(number).ok_or("it leads to no node")?;
        if std::mem::replace(&mut self.seen[number as usize], true) {
            return Err("it leads to the node of another term");
        }
        let mut bytes = [0; TERM_BYTES_MAX];
        // The check of its key, or of its record, reports damage to the term.
        let Some((field, len)) = self.nodes.write_term(number, node, &mut bytes) else {
            return Ok(());
        };
        let term = (field, bytes[..len].to_vec());
        let right = self.order.prefix(index) == prefix(field, &term.1);
        let ascends = self.before.as_ref().is_none_or(|before| *before < term);
        self.before = Some(term);
        match (right, ascends) {
            (false, _) => Err("its first bytes are not those of its term"),
            (_, false) => Err("its term is not behind the one before"),
            _ => Ok(()),
        }
    }
}
