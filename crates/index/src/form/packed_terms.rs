//! Access to a segment's [packed terms](crate::terms::packed_terms), from its sections or its
//! descriptor.

use spirit_mem::Region;

use crate::ground::ids::SegmentId;
use crate::ground::section::{Kind, Sections};
use crate::memory::descriptor::{Descriptor, packed_terms_at};
use crate::terms::packed_terms::PackedTerms;

/// Returns the packed terms of a segment with these sections, if it has any.
pub(crate) fn of_sections<'a>(
    region: &'a Region,
    id: SegmentId,
    sections: &Sections,
) -> Option<PackedTerms<'a>> {
    let start = sections.are_packed().then(|| sections.get(Kind::PackedTerms).start);
    PackedTerms::at(region, start?, id)
}

/// Returns the packed terms that a descriptor leads readers to, if it does.
pub(crate) fn of_descriptor<'a>(
    region: &'a Region,
    descriptor: Descriptor<'_>,
) -> Option<PackedTerms<'a>> {
    let at = packed_terms_at(descriptor.term_order())?;
    PackedTerms::at(region, at, SegmentId(descriptor.id() as u32))
}
