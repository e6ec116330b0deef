//! The terms of a merged segment, restored to their engraved form. The short-term block that had
//! them has been given back. Each node names its term's record in the merged dictionary, and the
//! record has the key.
//!
//! All of it is checked. Nodes and records have checksums. The bytes of a long term must match its
//! key. The writer of the sections compares them with their old checksums.

use spirit_mem::Region;

use crate::backup::to_bytes;
use crate::check::terms::is_key_of;
use crate::form::merged::Merged;
use crate::form::node::{Node, Nodes};
use crate::ground::corrupt::Corrupt;
use crate::ground::layout::NvmLayout;
use crate::ground::section::{Kind, Sections};
use crate::ground::term::TermKey;

/// The contents of the sections that a merged segment has lost.
pub(super) struct Terms {
    keys: Vec<u8>,
    longs: Vec<u8>,
    hashes: Vec<u8>,
}

impl Terms {
    /// Restores the terms of the segment with these sections.
    pub(super) fn again(
        region: &Region,
        layout: &NvmLayout,
        sections: &Sections,
    ) -> Result<Terms, Corrupt> {
        let merged = Merged::new(region, layout);
        let nodes = Nodes::of(region, sections);
        let longs_max = sections.get(Kind::LongTerms).bytes;
        let mut terms = Terms { keys: Vec::new(), longs: Vec::new(), hashes: Vec::new() };
        let mut long = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let corrupt = |why| Corrupt { what: "node", at: nodes.place(index), why };
            let key = key_of(&merged, node).map_err(corrupt)?;
            terms.keys.extend(to_bytes(&[key.low, key.high, terms.longs.len() as u64]));
            terms.hashes.extend((key.hash() as u32).to_le_bytes());
            merged.long_bytes(node.record, &mut long);
            if !is_key_of(key, &long) {
                return Err(corrupt("its term's bytes belong to another term"));
            }
            terms.longs.extend_from_slice(&long);
            terms.longs.resize(terms.longs.len().next_multiple_of(8), 0);
            if terms.longs.len() as u64 > longs_max {
                return Err(corrupt("its term is longer than its section allows"));
            }
        }
        terms.hashes.resize(terms.hashes.len().next_multiple_of(8), 0);
        Ok(terms)
    }

    /// Returns the contents of a section in the short-term block.
    pub(super) fn section(&self, kind: Kind) -> &[u8] {
        match kind {
            Kind::TermKeys => &self.keys,
            Kind::LongTerms => &self.longs,
            _ => &self.hashes,
        }
    }
}

/// Returns the key in the record that a node names.
fn key_of(merged: &Merged<'_>, node: Node) -> Result<TermKey, &'static str> {
    if node.record as usize >= merged.lines() {
        return Err("it names no record of the merged dictionary");
    }
    let key = merged.key(node.record);
    if merged.is_sound(node.record) && node.is_of(key) {
        Ok(key)
    } else {
        Err("the record that it names belongs to another term, or is damaged")
    }
}
