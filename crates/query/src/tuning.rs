//! Thresholds of the evaluators, with their units. A reference names the experiment that chose the
//! constant: a row of `docs/experiments-queries.md`, or for the ranked evaluators of
//! `docs/experiments-ranking.md`. The others were set once and not varied.

use spirit_index::lists::BLOCK_POSTINGS;

/// Cache lines of a list that are prefetched. The processor recognizes the pattern then ("8 lines of
/// each list prefetched, 4 segments ahead").
pub(crate) const LINES_AHEAD: usize = 8;
/// Segments whose lists are prefetched, at most (the same experiment).
pub(crate) const SEGMENTS_AHEAD_MAX: usize = 4;
/// Segments whose lists are prefetched at the beginning. A query that stops early prefetches little.
pub(crate) const SEGMENTS_AHEAD_FIRST: usize = 2;
/// Words of a fresh list's first run behind its buffer. Each next run has twice as many ("blocks of
/// up to 1,024 postings and prefetch of the next block in fresh lists").
pub(crate) const RUN_WORDS_FIRST: usize = 64;
/// Words of a segment's first window.
pub(crate) const WINDOW_WORDS_FIRST: usize = 8;
/// Older segments whose entries are copied first.
pub(crate) const OLDER_SEGMENTS_FIRST: usize = 16;
/// The factor by which each part of older segments is larger than the one before.
pub(crate) const OLDER_GROWTH: usize = 4;

/// Windows: if at most this many candidates remain in a window, each is looked up.
pub(crate) const LEFT_MAX: u64 = 16;
/// OR: the lists are merged if at most this many matches are wanted.
pub(crate) const MERGED_MAX: usize = 64;
/// Groups of terms that leapfrog, at most. With more, few documents are in all groups, even if each
/// group has many.
pub(crate) const LEAPFROG_GROUPS_MAX: usize = 2;
/// Steps of a leapfrog in a segment before windows take over. They cost about as much as a few
/// windows ("lists that leapfrog, for up to 512 steps a segment").
pub(crate) const LEAPFROG_STEPS_MAX: usize = 512;

/// Phrase: documents by which the prefetch of a vector is ahead ("vectors prefetched 3 to 16
/// documents ahead instead of 8").
pub(crate) const VECTORS_AHEAD: usize = 8;
/// Phrase: documents by which the prefetch of a row is ahead. The row has the vector's place.
pub(crate) const ROWS_AHEAD: usize = 2 * VECTORS_AHEAD;
/// Phrase: units of a document that are prefetched, four cache lines of 32 ("4 to 16 lines of
/// them").
pub(crate) const UNITS_AHEAD: u32 = 4 * 32;
/// Phrase in packed lists: terms of a short phrase, at most. Their positions are merged in little
/// room.
pub(crate) const SHORT_PHRASE_MAX: usize = 4;

/// Patterns: non-matching terms with one prefix that are skipped one by one, at most, before a
/// search for the next prefix.
pub(crate) const TERMS_PASSED_MAX: usize = 8;
/// Patterns: terms of a fresh segment whose prefixes are tested in one step of the meter.
pub(crate) const PREFIXES_A_STEP: usize = 64;
/// Patterns: steps by which the prefetch of a registered segment's prefixes is ahead. A step that is
/// ruled out reads one cache line, the next one of which the processor does not expect.
pub(crate) const STEPS_AHEAD: usize = 8;

/// Kept clauses: a bitmap is made unless another required clause has fewer documents than this share
/// of the clause's.
pub(crate) const ASKED_SHARE: u32 = 8;

/// Block maxima: the highest frequency in a block for which no exact least frequency is computed.
pub(crate) const EXACT_FREQUENCY_MAX: u32 = 6;
/// Dense lists: words of bits up to which counting bits is faster than a search for a posting.
pub(crate) const COUNTED_WORDS_MAX: usize = 16;
/// MaxScore: at most this many documents of a window that contain all required terms are looked up,
/// and no list is read. 16 was slower ("OR: a term is required once the others cannot beat the
/// threshold").
pub(crate) const REQUIRED_LOOKED_UP_MAX: u64 = 48;
/// MaxScore: at most this many candidates of a window are looked up before any further sifting.
pub(crate) const UNSIFTED_MAX: u64 = 8;
/// MaxScore: at most this many candidates of a window are looked up once those in one list alone
/// are dropped.
pub(crate) const SIFTED_ONCE_MAX: u64 = 32;
/// MaxScore: at most this many candidates of a window are looked up. With more, the lists are added
/// up.
pub(crate) const CANDIDATES_MAX: u64 = 128;
/// MaxScore: postings that are read in the time of one look-up of a candidate ("non-essential lists
/// are sifted only where that costs less").
pub(crate) const POSTINGS_A_LOOK_UP: usize = 16;
/// MaxScore: postings of a list that are added up in the time of one look-up of a candidate.
pub(crate) const ADDED_A_LOOK_UP: u64 = 4;
/// A list is dense if on average it has more than one posting in this many rows.
pub(crate) const DENSE_ROWS: u32 = 32;
/// Required groups of terms: a group is rare if all lists together have at least this many times its
/// postings. Then documents are looked up from it ("the best of several fields").
pub(crate) const RARE_GROUP: usize = 4;
/// MaxScore in a fresh segment: at most this many documents of a window are looked up in a list.
/// With more, the list is read.
pub(crate) const FRESH_LOOKED_UP_MAX: u64 = 64;
/// AND: at most this many documents of a window are looked up without sifting the shortest list
/// ("in windows where few documents have all terms").
pub(crate) const AND_LOOKED_UP_MAX: u64 = 48;
/// AND: ranks of the first window of dense lists. Each next window has twice as many.
pub(crate) const AND_RANKS_FIRST: u32 = 512;
/// AND, phrase: at most this many candidates of a block are looked up one by one in the next list.
/// More are intersected with it.
pub(crate) const LOOKED_UP_ONE_BY_ONE: usize = 8;
/// Documents that are looked up together ("candidates of an AND verified in batches").
pub(crate) const CHECKED_TOGETHER: usize = BLOCK_POSTINGS as usize;
/// Threshold seed: at most this many best documents are asked for.
pub(crate) const SEED_HITS_MAX: usize = 128;
/// Threshold seed: a term with this many times the weight of another is much rarer ("threshold
/// seeds by the rarest terms first").
pub(crate) const RARER_WEIGHT: f32 = 4.0;
/// Threshold seed: groups of a block's scores. Each gives its highest ("a full first block raises
/// the threshold").
pub(crate) const SEED_LANES: usize = 16;
