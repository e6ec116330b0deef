//! Modes and durability.

use std::fmt;

/// The events that operations survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Nothing survives. Without a directory the index is in DRAM. With one, a file there without a
    /// name is its second tier, which no other process can read.
    Volatile,
    /// Operations before an orderly shutdown survive.
    Graceful,
    /// Acknowledged operations survive a crash: of the process or of the machine, see
    /// [`Durability`].
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

/// The kind of crash that acknowledged operations survive in [`Mode::Crash`].
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
