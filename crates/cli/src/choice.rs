//! Options that are one of a few words, and what the engine calls them.

use std::str::FromStr;

use clap::ValueEnum;
use spirit::cache::{Allocator, Matching, Policy};
use spirit::lab::Algorithm;
use spirit::lab::{DictionaryTier, EngravePolicy, Placement, PointerUpdate, Postings};
use spirit::{OnFull, Operator};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    Yes,
    No,
}

/// Where structures of an index lie, by a name of the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacementName(pub(crate) Placement);

impl FromStr for PlacementName {
    type Err = String;

    fn from_str(name: &str) -> Result<PlacementName, String> {
        let found = Placement::ALL.into_iter().find(|placement| placement.name() == name);
        found.map(PlacementName).ok_or_else(|| {
            let names = Placement::ALL.map(Placement::name).join(", ");
            format!("there is no such placement; there are {names}")
        })
    }
}

/// Which answers leave a full cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PolicyName {
    Lru,
    Dlirs,
    Random,
    #[value(name = "s3fifo")]
    S3Fifo,
    #[value(name = "tinylfu")]
    TinyLfu,
}

impl From<PolicyName> for Policy {
    fn from(name: PolicyName) -> Policy {
        match name {
            PolicyName::Lru => Policy::Lru,
            PolicyName::Dlirs => Policy::Dlirs,
            PolicyName::Random => Policy::Random,
            PolicyName::S3Fifo => Policy::S3Fifo,
            PolicyName::TinyLfu => Policy::TinyLfu,
        }
    }
}

/// How a cache's memory is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AllocatorName {
    FirstFit,
    Tlsf,
}

impl From<AllocatorName> for Allocator {
    fn from(name: AllocatorName) -> Allocator {
        match name {
            AllocatorName::FirstFit => Allocator::FirstFit,
            AllocatorName::Tlsf => Allocator::Tlsf,
        }
    }
}

/// Which entries of a cache may answer a query besides its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MatchingName {
    Iso,
    Partial1,
    Partial2,
}

impl From<MatchingName> for Matching {
    fn from(name: MatchingName) -> Matching {
        match name {
            MatchingName::Iso => Matching::Isomorphic,
            MatchingName::Partial1 => Matching::Partial1,
            MatchingName::Partial2 => Matching::Partial2,
        }
    }
}

/// Where a cache is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheTierName {
    Dram,
    Nvm,
}

/// The character between the values of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delimiter(pub(crate) u8);

impl Default for Delimiter {
    fn default() -> Delimiter {
        Delimiter(b',')
    }
}

impl FromStr for Delimiter {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Delimiter, &'static str> {
        match text.as_bytes() {
            b"tab" | b"\\t" => Ok(Delimiter(b'\t')),
            [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(Delimiter(*byte)),
            _ => Err("choose one ASCII character, or tab"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    Volatile,
    Graceful,
    Crash,
}

impl From<Mode> for spirit::Mode {
    fn from(name: Mode) -> spirit::Mode {
        match name {
            Mode::Volatile => spirit::Mode::Volatile,
            Mode::Graceful => spirit::Mode::Graceful,
            Mode::Crash => spirit::Mode::Crash,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Durability {
    Process,
    Os,
}

impl From<Durability> for spirit::Durability {
    fn from(name: Durability) -> spirit::Durability {
        match name {
            Durability::Process => spirit::Durability::Process,
            Durability::Os => spirit::Durability::Os,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reserve {
    Lazy,
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PostingsName {
    Raw,
    Packed,
}

impl From<PostingsName> for Postings {
    fn from(name: PostingsName) -> Postings {
        match name {
            PostingsName::Raw => Postings::Raw,
            PostingsName::Packed => Postings::Packed,
        }
    }
}

/// When flushed segments are copied to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngraveName {
    Eager,
    Lazy,
    Opportunistic,
}

impl From<EngraveName> for EngravePolicy {
    fn from(name: EngraveName) -> EngravePolicy {
        match name {
            EngraveName::Eager => EngravePolicy::Eager,
            EngraveName::Lazy => EngravePolicy::Lazy,
            EngraveName::Opportunistic => EngravePolicy::Opportunistic,
        }
    }
}

/// When queries move to the copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PointerUpdateName {
    Eager,
    Lazy,
}

impl From<PointerUpdateName> for PointerUpdate {
    fn from(name: PointerUpdateName) -> PointerUpdate {
        match name {
            PointerUpdateName::Eager => PointerUpdate::Eager,
            PointerUpdateName::Lazy => PointerUpdate::Lazy,
        }
    }
}

/// The sizes of blocks that postings of fresh segments lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BlocksName {
    Variable,
    Fixed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DictionaryTierName {
    Dram,
    Nvm,
}

impl From<DictionaryTierName> for DictionaryTier {
    fn from(name: DictionaryTierName) -> DictionaryTier {
        match name {
            DictionaryTierName::Dram => DictionaryTier::Dram,
            DictionaryTierName::Nvm => DictionaryTier::Nvm,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnFullName {
    Drop,
    Wait,
    Refuse,
}

impl From<OnFullName> for OnFull {
    fn from(name: OnFullName) -> OnFull {
        match name {
            OnFullName::Drop => OnFull::DropOldest,
            OnFullName::Wait => OnFull::Wait,
            OnFullName::Refuse => OnFull::Refuse,
        }
    }
}

impl From<OnFull> for OnFullName {
    fn from(policy: OnFull) -> OnFullName {
        match policy {
            OnFull::DropOldest => OnFullName::Drop,
            OnFull::Wait => OnFullName::Wait,
            OnFull::Refuse => OnFullName::Refuse,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OperatorName {
    Or,
    And,
}

impl From<OperatorName> for Operator {
    fn from(name: OperatorName) -> Operator {
        match name {
            OperatorName::Or => Operator::Or,
            OperatorName::And => Operator::And,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AlgorithmName {
    Auto,
    Naive,
    Binary,
    Finger,
    Simd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvaluatorName {
    Auto,
    Windows,
}

impl AlgorithmName {
    /// `None` leaves the choice to the engine.
    pub(crate) fn algorithm(self) -> Option<Algorithm> {
        match self {
            AlgorithmName::Auto => None,
            AlgorithmName::Naive => Some(Algorithm::Naive),
            AlgorithmName::Binary => Some(Algorithm::Binary),
            AlgorithmName::Finger => Some(Algorithm::Finger),
            AlgorithmName::Simd => Some(Algorithm::Simd),
        }
    }
}
