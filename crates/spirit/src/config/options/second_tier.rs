//! Settings of the second tier: place, durability, size, and when segments are copied to it.

use std::time::Duration;

use spirit_index::form::root::Root;
use spirit_index::ground::{Geometry, GeometryError};
use spirit_index::ground::{LOG_BYTES_MIN, NVM_BYTES_MAX, NvmSettings, PAGE, SLOTS_MAX};
use spirit_mem::disk_bytes;
use spirit_text::Analyzer;

use super::Options;
use crate::config::durability::{Durability, Mode};
use crate::config::error::OpenError;
use crate::config::on_full::OnFull;

/// The least size of the default second tier, in multiples of the DRAM.
const NVM_SHARE: u64 = 8;
/// The bytes of DRAM for each segment slot of the default second tier. Descriptors then take a
/// sixteenth of the DRAM.
const DRAM_A_SLOT: u64 = 16 << 10;
/// The number of slots for each segment of nominal size, since segments differ in size.
const SLOTS_A_SEGMENT: u64 = 2;
/// The number of texts that are stored and not searched, in the root.
const OPAQUE: u64 = 2;

impl Options {
    /// True if pages are compared with their checksums.
    pub(crate) fn verifies(&self) -> bool {
        self.verify.unwrap_or_else(|| self.is_os_level())
    }

    /// True if acknowledged operations survive the end of the operating system.
    pub(crate) fn is_os_level(&self) -> bool {
        self.mode == Mode::Crash && self.durability == Durability::Os
    }

    /// True if nothing of the index is kept when it closes: what it has is in memory, or in a file
    /// that has no name or stays unchanged.
    pub(crate) fn keeps_nothing(&self) -> bool {
        self.private || self.mode == Mode::Volatile
    }

    /// True if operations are logged until their segment is engraved.
    ///
    /// In mode crash, they must survive a crash. In mode graceful, a full second tier may have no
    /// room for them when the index closes. With [`OnFull::DropOldest`] there is always room.
    pub(crate) fn is_logged(&self) -> bool {
        match self.mode {
            Mode::Volatile => false,
            Mode::Graceful => self.on_full != OnFull::DropOldest,
            Mode::Crash => true,
        }
    }

    /// Returns the number of the way in which documents are stored.
    pub(crate) fn store_number(&self) -> u64 {
        if self.opaque_text { OPAQUE } else { self.store.into() }
    }

    /// Takes over the settings that an index was made with. The error names the setting in the root
    /// that this version does not know.
    pub(crate) fn take_over(&mut self, root: &Root) -> Result<(), &'static str> {
        self.is_there = true;
        self.executors = usize::try_from(root.executors).map_err(|_| "number of executors")?;
        self.segment_bytes = Some(root.segment_bytes);
        self.nvm_bytes = Some(root.nvm_bytes * root.executors);
        self.nvm_parts = root.nvm().parts.map(|bytes| bytes * root.executors);
        self.log_bytes = Some(root.log_bytes);
        self.positions = root.positions != 0;
        (self.store, self.opaque_text) = match root.store {
            0 => (false, false),
            1 => (true, false),
            OPAQUE => (true, true),
            _ => return Err("way of storing documents"),
        };
        self.strict = root.strict != 0;
        self.postings = self.postings.or(Some(root.postings()));
        self.mode = Mode::from_number(root.mode).ok_or("mode")?;
        self.durability = Durability::from_number(root.level).ok_or("durability")?;
        self.on_full = OnFull::from_number(root.on_full).ok_or("policy for a full heap")?;
        self.retain = Some(Duration::from_millis(root.retain_ms)).filter(|age| !age.is_zero());
        self.document_bytes_max =
            usize::try_from(root.document_bytes_max).map_err(|_| "longest document")?;
        self.analyzer = Analyzer::ALL
            .into_iter()
            .find(|analyzer| name_word(analyzer.name()) == root.analyzer)
            .ok_or("analyzer")?;
        self.grow_dram();
        Ok(())
    }

    /// Raises the DRAM to the need of an existing index, unless the caller set it. So an index that
    /// was made with large segments opens without options. A size that cannot be divided at all is
    /// refused later.
    fn grow_dram(&mut self) {
        if self.is_dram_given {
            return;
        }
        if let Ok(bytes_min) = Geometry::dram_bytes_min(self.memory()) {
            self.dram_bytes = self.dram_bytes.max(bytes_min.saturating_mul(self.executors as u64));
        }
    }

    /// Returns the default size of each executor's part, in bytes. Address space is cheap: the file
    /// grows as needed.
    fn default_nvm(&self) -> u64 {
        let executors = self.executors as u64;
        let dram_bytes = self.dram_bytes / executors;
        let slots = (dram_bytes / DRAM_A_SLOT).min(SLOTS_MAX);
        let described = self.segment().saturating_mul(slots / SLOTS_A_SEGMENT);
        let disk = self.directory.as_deref().and_then(disk_bytes).unwrap_or(0) / executors;
        described.min(disk).max(dram_bytes.saturating_mul(NVM_SHARE)).min(NVM_BYTES_MAX)
    }

    /// Keeps the sizes that [`memory`](Self::memory) computed. The size of the disk may differ later.
    /// And the default of a segment depends on the second tier's, whose default depends on it.
    pub(crate) fn fix_sizes(&mut self, segment_bytes: u64, nvm: NvmSettings) {
        self.segment_bytes = Some(segment_bytes);
        self.nvm_bytes = Some(nvm.bytes * self.executors as u64);
    }

    /// Checks the sizes of a new index.
    pub(crate) fn check_sizes(&self) -> Result<(), OpenError> {
        let divided = Geometry::new(self.memory());
        divided.map(drop).map_err(|error| self.as_asked(error).into())
    }

    /// Expresses an error in terms of these options, for all executors together.
    ///
    /// If segments and second tier have default sizes, those follow the DRAM, so the error names
    /// the DRAM. The least size that it names is enough.
    pub(crate) fn as_asked(&self, error: GeometryError) -> GeometryError {
        let executors = self.executors as u64;
        let heap = |dram_bytes| Options { dram_bytes, ..self.clone() };
        let tier = |nvm_bytes| Options { nvm_bytes: Some(nvm_bytes), ..self.clone() };
        let heap_too_small = |least: Option<u64>, segment_bytes| {
            let dram_bytes_min = self.least(least, |bytes| heap(bytes).geometry().is_ok())?;
            let (dram_bytes, is_new) = (self.dram_bytes, !self.is_there);
            Some(GeometryError::HeapTooSmall { dram_bytes, dram_bytes_min, segment_bytes, is_new })
        };
        let named = match error {
            GeometryError::NvmTooSmall { segment_bytes, .. } if self.nvm_bytes.is_none() => {
                heap_too_small(None, segment_bytes)
            }
            GeometryError::HeapTooSmall { dram_bytes_min, segment_bytes, .. } => {
                heap_too_small(Some(dram_bytes_min), segment_bytes)
            }
            GeometryError::NvmTooSmall { nvm_bytes, nvm_bytes_min, segment_bytes } => {
                let fits = |bytes| !is_nvm_too_small(&tier(bytes).geometry());
                self.least(Some(nvm_bytes_min), fits).map(|nvm_bytes_min| {
                    let nvm_bytes = self.nvm_bytes.unwrap_or(nvm_bytes * executors);
                    GeometryError::NvmTooSmall { nvm_bytes, nvm_bytes_min, segment_bytes }
                })
            }
            GeometryError::PartTooSmall { tier, part, asked, least } => {
                let (asked, least) = (asked * executors, least * executors);
                Some(GeometryError::PartTooSmall { tier, part, asked, least })
            }
            _ => None,
        };
        named.unwrap_or(error)
    }

    /// Returns the least size that fits, for all executors together; at most 1 GiB for each.
    /// `first`, a size for one executor, is tried before the others.
    fn least(&self, first: Option<u64>, fits: impl Fn(u64) -> bool) -> Option<u64> {
        const STEP: u64 = 64 << 10;
        const STEPS_MAX: u64 = 1 << 14;
        let steps = (1..=STEPS_MAX).map(|steps| steps * STEP);
        let mut all = first.into_iter().chain(steps).map(|bytes| bytes * self.executors as u64);
        all.find(|bytes| fits(*bytes))
    }

    pub(super) fn geometry(&self) -> Result<Geometry, GeometryError> {
        let divide = if self.is_there { Geometry::fitting } else { Geometry::new };
        divide(self.memory())
    }

    /// Returns the size of the second tier for all executors together, in bytes: as set or by
    /// default.
    pub(crate) fn nvm_bytes_in_all(&self) -> u64 {
        self.nvm().bytes * self.executors as u64
    }

    /// Returns the settings of each executor's part of the second tier.
    pub(super) fn nvm(&self) -> NvmSettings {
        let executors = self.executors as u64;
        let bytes = self.nvm_bytes.map_or_else(|| self.default_nvm(), |bytes| bytes / executors);
        let bytes = bytes / PAGE * PAGE;
        let log_bytes = self.log_bytes.unwrap_or_else(|| {
            let wanted = (self.segment() * 16).min(bytes / 4);
            wanted.max(self.document_bytes_max as u64 * 4)
        });
        let log_bytes = log_bytes.max(LOG_BYTES_MIN).next_multiple_of(PAGE);
        let parts = self.nvm_parts.each(executors).map(|bytes| bytes.next_multiple_of(PAGE));
        NvmSettings { bytes, log_bytes, parts }
    }
}

fn is_nvm_too_small(geometry: &Result<Geometry, GeometryError>) -> bool {
    matches!(geometry, Err(GeometryError::NvmTooSmall { .. }))
}

/// Returns the first 8 bytes of a name as a word.
pub(crate) fn name_word(name: &str) -> u64 {
    let mut bytes = [0; 8];
    bytes[..name.len().min(8)].copy_from_slice(&name.as_bytes()[..name.len().min(8)]);
    u64::from_le_bytes(bytes)
}
