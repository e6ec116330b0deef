//! The bytes of engraved segments, by section.

use spirit_index::ground::Kind;
use spirit_index::memory::Memory;

use super::Stats;

/// Adds the sections of all engraved segments of an executor. The caller must be pinned.
pub(crate) fn add_sections(memory: &Memory, stats: &mut Stats) {
    let Some(nvm) = memory.nvm() else { return };
    let window = memory.window();
    for position in window.oldest..window.end {
        let Ok((_, sections)) = nvm.sections(memory.region(), position) else { continue };
        let is_merged = position < memory.merged();
        for kind in Kind::ALL.into_iter().filter(|kind| !(is_merged && kind.is_short_term())) {
            let bytes = sections.get(kind).bytes;
            match stats.sections.iter_mut().find(|(name, _)| *name == kind.name()) {
                Some((_, sum)) => *sum += bytes,
                None => stats.sections.push((kind.name(), bytes)),
            }
        }
    }
}
