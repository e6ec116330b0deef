//! An index that is served.

use spirit::Index;

use crate::index_name::IndexName;

/// An index that is served. The last one who has it closes it.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) name: IndexName,
    pub(crate) index: Index,
}

impl Served {
    pub(crate) fn new(name: IndexName, index: Index) -> Served {
        Served { name, index }
    }

    /// The memory that it takes of the budget.
    pub(crate) fn taken(&self) -> Taken {
        let settings = self.index.settings();
        Taken { dram: settings.dram_bytes, nvm: settings.nvm_bytes }
    }
}

/// Bytes of the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) dram: u64,
    pub(crate) nvm: u64,
}

impl Taken {
    pub(crate) fn and(self, other: Taken) -> Taken {
        let dram = self.dram.saturating_add(other.dram);
        Taken { dram, nvm: self.nvm.saturating_add(other.nvm) }
    }
}
