//! Where the structures of an index lie, for measurements with several media (`docs/batch.md`).
#![cfg_attr(
    not(feature = "lab"),
    expect(dead_code, unreachable_pub, reason = "only the laboratory names presets")
)]

use std::path::{Path, PathBuf};

/// Where an index keeps what it works on. Structures without a directory lie in memory.
///
/// Those with one lie in files without a name on the directory's file system, which are mapped: on
/// persistent memory directly, elsewhere through the page cache. They are as fresh at each start as
/// memory is. An index in a directory with such structures serves no other processes while it is open
/// for writing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Media {
    /// The table of terms and their lists while a segment fills.
    pub table: Option<PathBuf>,
    /// The lists of flushed segments (the paper's partial postings).
    pub partial: Option<PathBuf>,
    /// The dictionary that queries read, and the map from keys to documents.
    pub dictionary: Option<PathBuf>,
    /// True if the index's file is written to with system calls instead of stores to its mapping.
    pub writes_file: bool,
}

impl Media {
    /// True if a structure does not lie in memory.
    pub(crate) fn has_directory(&self) -> bool {
        self.table.is_some() || self.partial.is_some() || self.dictionary.is_some()
    }
}

/// A placement of Psearchy's four structures (Akram, table 1): which of them lie on persistent memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Nothing on persistent memory.
    Stock,
    /// The table alone.
    TablePm,
    /// Everything.
    PmOnly,
    /// Partial postings alone.
    FlushPm,
    /// All but the table.
    Hybrid,
    /// Partial and merged postings.
    HybridPlus,
    /// Like `Hybrid`, and a run that was killed goes on.
    CcHybrid,
}

impl Placement {
    /// All of them, in the order of the paper's table.
    pub const ALL: [Placement; 7] = [
        Placement::Stock,
        Placement::TablePm,
        Placement::PmOnly,
        Placement::FlushPm,
        Placement::Hybrid,
        Placement::HybridPlus,
        Placement::CcHybrid,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Stock => "stock",
            Placement::TablePm => "table-pm",
            Placement::PmOnly => "pm-only",
            Placement::FlushPm => "flush-pm",
            Placement::Hybrid => "hybrid",
            Placement::HybridPlus => "hybrid+",
            Placement::CcHybrid => "cc-hybrid",
        }
    }

    /// Returns where structures lie, if directory `pm` is on persistent memory and `disk` on a
    /// disk. A table that is not on persistent memory lies in DRAM.
    pub fn media(self, pm: &Path, disk: &Path) -> Media {
        use Placement::{CcHybrid, FlushPm, Hybrid, HybridPlus, PmOnly, TablePm};
        let place = |on_pm| Some(if on_pm { pm } else { disk }.to_owned());
        Media {
            table: place(true).filter(|_| matches!(self, TablePm | PmOnly)),
            partial: place(matches!(self, PmOnly | FlushPm | Hybrid | HybridPlus | CcHybrid)),
            dictionary: place(matches!(self, PmOnly | Hybrid | CcHybrid)),
            writes_file: !self.has_merged_on_pm(),
        }
    }

    /// True if merged postings, which are the index's file, lie on persistent memory, and are stored
    /// to their mapping.
    pub fn has_merged_on_pm(self) -> bool {
        use Placement::{CcHybrid, Hybrid, HybridPlus, PmOnly};
        matches!(self, PmOnly | Hybrid | HybridPlus | CcHybrid)
    }

    /// True if a run that was killed goes on.
    pub fn is_crash_consistent(self) -> bool {
        self == Placement::CcHybrid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's table 1: table, partial, merged postings, dictionary; M is DRAM, S the disk.
    #[test]
    fn presets_are_those_of_the_paper() {
        let expected = ["MSSS", "PSSS", "PPPP", "MPSS", "MPPP", "MPPS", "MPPP"];
        let (pm, disk) = (Path::new("P"), Path::new("S"));
        let letter = |place: Option<PathBuf>| {
            place.map_or("M".to_owned(), |place| place.display().to_string())
        };
        for (placement, expected) in Placement::ALL.into_iter().zip(expected) {
            let Media { table, partial, dictionary, writes_file } = placement.media(pm, disk);
            let merged = Some(if writes_file { disk } else { pm }.to_owned());
            let found: String = [table, partial, merged, dictionary].map(letter).concat();
            assert_eq!(found, expected, "{}", placement.name());
        }
    }
}
