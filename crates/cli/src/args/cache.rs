//! Options of the result cache.

use clap::Args;
use spirit_forms::size::Size;

use crate::choice::{AllocatorName, CacheTierName, MatchingName, PolicyName};

/// What of earlier answers is kept.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Options of the result cache")]
pub(crate) struct CacheArgs {
    /// Keep answers in this much memory: a question that comes again evaluates only what came since.
    /// Answers are as without it, but for partial2 [default: no cache]
    #[arg(long, value_name = "SIZE")]
    pub(crate) cache: Option<Size>,
    /// Which answers leave a full cache: lru (found longest ago), dlirs (found at long intervals),
    /// random, s3fifo or tinylfu (found seldom) [default: lru]
    #[arg(long, value_name = "NAME", hide_possible_values = true, requires = "cache")]
    pub(crate) cache_policy: Option<PolicyName>,
    /// How the cache's memory is divided: first-fit, or tlsf, which takes the same time whatever is
    /// free [default: tlsf]
    #[arg(long, value_name = "NAME", hide_possible_values = true, requires = "cache")]
    pub(crate) cache_allocator: Option<AllocatorName>,
    /// Which kept answers a query gets: iso (its own, with the terms in any order), partial1 (besides, a
    /// term's newest matches from an OR of two terms, exactly) or partial2 (besides, an OR's from an
    /// answer with one of its terms, and a term's from an AND's; approximate, and marked so) [default:
    /// iso]
    #[arg(long, value_name = "NAME", hide_possible_values = true, requires = "cache")]
    pub(crate) cache_match: Option<MatchingName>,
    /// Where the cache is: dram, or nvm, beside an index in a directory [default: dram]
    #[arg(long, value_name = "dram|nvm", hide_possible_values = true, requires = "cache")]
    pub(crate) cache_tier: Option<CacheTierName>,
    /// Divide the cache into N, which readers share evenly [default: 1]
    #[arg(long, value_name = "N", requires = "cache")]
    pub(crate) caches: Option<usize>,
    /// Keep at most N answers in each cache [default: one for each KiB]
    #[arg(long, value_name = "N", requires = "cache")]
    pub(crate) cache_entries: Option<u32>,
    /// Keep only answers with at least N matches [default: 0]
    #[arg(long, value_name = "N", requires = "cache")]
    pub(crate) cache_min: Option<u64>,
    /// Keep only answers that took at least this long, the second time: 10us. 0s keeps all, the
    /// first time [default: 4us]
    #[arg(long, value_name = "TIME", requires = "cache")]
    pub(crate) cache_cost: Option<humantime::Duration>,
}
