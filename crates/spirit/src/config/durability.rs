//! What survives what, and when segments move to the second tier.

use std::fmt;

/// What survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: the index is in memory and goes with it.
    Volatile,
    /// What was added before an orderly shutdown.
    Graceful,
    /// What was acknowledged, whatever happens; how much may happen is said by [`Durability`].
    #[default]
    Crash,
}

impl Mode {
    pub(crate) fn number(self) -> u64 {
        self as u64
    }

    pub(crate) fn from_number(number: u64) -> Option<Mode> {
        [Mode::Volatile, Mode::Graceful, Mode::Crash].into_iter().find(|m| m.number() == number)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Volatile => "volatile",
            Mode::Graceful => "graceful",
            Mode::Crash => "crash",
        })
    }
}

/// What an acknowledged operation survives in [`Mode::Crash`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, by `kill -9` for instance.
    #[default]
    Process,
    /// The end of the operating system, by a power cut for instance.
    Os,
}

impl Durability {
    pub(crate) fn number(self) -> u64 {
        self as u64
    }

    pub(crate) fn from_number(number: u64) -> Option<Durability> {
        [Durability::Process, Durability::Os].into_iter().find(|d| d.number() == number)
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Durability::Process => "process",
            Durability::Os => "os",
        })
    }
}

/// When a flushed segment is copied to the second tier (paper §4.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngravePolicy {
    /// As soon as it is flushed.
    #[default]
    Eager,
    /// When DRAM or the log runs short.
    Lazy,
    /// When nothing comes in, or as if lazy.
    Opportunistic,
}

/// When readers are sent to the copy in the second tier, and the one in DRAM is given up (paper §4.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointerUpdate {
    /// As soon as it is engraved.
    Eager,
    /// When DRAM runs short: the oldest goes first.
    #[default]
    Lazy,
}

/// Where the dictionary of merged segments is read (paper §4.9). The second tier always has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DictionaryTier {
    /// In DRAM, as far as there is room: the newest segments first.
    #[default]
    Dram,
    /// In the second tier, so that DRAM is for fresh segments: a query costs a cache miss a segment that it looks at.
    Nvm,
}
