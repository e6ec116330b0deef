//! Policies for the second tier, which the laboratory compares.
#![cfg_attr(
    not(feature = "lab"),
    expect(dead_code, unreachable_pub, reason = "only the laboratory sets and names them")
)]

/// The time at which a flushed segment is copied to the second tier (paper §4.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngravePolicy {
    /// As soon as it is flushed.
    #[default]
    Eager,
    /// When DRAM or the log runs short.
    Lazy,
    /// When no documents come in. Under load, like `Lazy`.
    Opportunistic,
}

/// The time at which readers move to the copy in the second tier, and the copy in DRAM is freed
/// (paper §4.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointerUpdate {
    /// As soon as the segment is engraved.
    Eager,
    /// When DRAM runs short, oldest segment first.
    #[default]
    Lazy,
}

/// The tier in which queries read the dictionary of merged segments (paper §4.7). The second tier
/// always has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DictionaryTier {
    /// DRAM, as far as there is room: newest segments first.
    #[default]
    Dram,
    /// The second tier, so that DRAM is free for fresh segments. A query then costs a cache miss
    /// for each segment that it reads.
    Nvm,
}
