//! Constants of the ranked evaluators, with their units. A reference names the experiment that
//! chose the constant, a row of `docs/experiments-ranking.md`. The others were set once and not
//! varied.

use super::lists::BLOCK;

/// MaxScore: at most this many documents of a window that contain all required terms are looked up,
/// and no list is read. 16 was slower ("OR: a term is required once the others cannot beat the
/// threshold").
pub(super) const REQUIRED_LOOKED_UP_MAX: u64 = 48;
/// MaxScore: at most this many candidates of a window are looked up before any further sifting.
pub(super) const UNSIFTED_MAX: u64 = 8;
/// MaxScore: at most this many candidates of a window are looked up once those in one list alone
/// are dropped.
pub(super) const SIFTED_ONCE_MAX: u64 = 32;
/// MaxScore: at most this many candidates of a window are looked up. With more, the lists are added
/// up.
pub(super) const CANDIDATES_MAX: u64 = 128;
/// MaxScore: postings that are read in the time of one look-up of a candidate ("non-essential lists
/// are sifted only where that costs less").
pub(super) const POSTINGS_A_LOOK_UP: usize = 16;
/// A list is dense if on average it has more than one posting in this many rows.
pub(super) const DENSE_ROWS: u32 = 32;
/// MaxScore in a fresh segment: at most this many documents of a window are looked up in a list.
/// With more, the list is read.
pub(super) const FRESH_LOOKED_UP_MAX: u64 = 64;
/// AND: at most this many documents of a window are looked up without sifting the shortest list
/// ("in windows where few documents have all terms").
pub(super) const AND_LOOKED_UP_MAX: u64 = 48;
/// AND: ranks of the first window of dense lists. Each next window has twice as many.
pub(super) const AND_RANKS_FIRST: u32 = 512;
/// AND, phrase: at most this many candidates of a block are looked up one by one in the next list.
/// More are intersected with it.
pub(super) const LOOKED_UP_ONE_BY_ONE: usize = 8;
/// Documents that are looked up together ("candidates of an AND verified in batches").
pub(super) const CHECKED_TOGETHER: usize = BLOCK;
/// Threshold seed: at most this many best documents are asked for.
pub(super) const SEED_HITS_MAX: usize = 128;
/// Threshold seed: a term with this many times the weight of another is much rarer ("threshold
/// seeds by the rarest terms first").
pub(super) const RARER_WEIGHT: f32 = 4.0;
/// Threshold seed: groups of a block's scores. Each gives its highest ("a full first block raises
/// the threshold").
pub(super) const SEED_LANES: usize = 16;
