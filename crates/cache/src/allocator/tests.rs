//! Tests of all allocators: beside a map of the intervals in use, and by counting loads and stores.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use proptest::prelude::*;
use spirit_mem::{Region, Residency, Span};

use super::blocks::{WORDS_MIN, accesses};
use super::first_fit::FirstFit;
use super::tlsf::{Tlsf, mapping};
use super::{Allocator, Block, Usage};

/// An allocator that checks itself, of which a test knows how it should behave.
trait Checked: Allocator {
    fn new(words: u64) -> Self;
    fn check(&self, heap: &[AtomicU64]) -> Result<(), &'static str>;
    /// Returns the largest request that a free block of `words` words serves.
    fn largest(words: u64) -> u64;
    /// True if words that were never in a block are no free block.
    const HAS_BREAK: bool;
}

impl Checked for FirstFit {
    const HAS_BREAK: bool = true;
    fn new(words: u64) -> FirstFit {
        FirstFit::new(words)
    }
    fn check(&self, heap: &[AtomicU64]) -> Result<(), &'static str> {
        FirstFit::check(self, heap)
    }
    fn largest(words: u64) -> u64 {
        words
    }
}

impl Checked for Tlsf {
    const HAS_BREAK: bool = false;
    fn new(words: u64) -> Tlsf {
        Tlsf::new(words)
    }
    fn check(&self, heap: &[AtomicU64]) -> Result<(), &'static str> {
        Tlsf::check(self, heap)
    }
    /// Returns the least size of the list that has the block.
    fn largest(words: u64) -> u64 {
        let list = mapping(words as u32);
        (0..=words as u32).rev().find(|size| *size == 0 || mapping(size - 1) < list).unwrap().into()
    }
}

/// A block in use, as the test knows it.
struct Held {
    words: u32,
    pattern: u64,
}

/// A heap beside a map of the intervals in use.
struct Shadow<A> {
    allocator: A,
    heap: Vec<AtomicU64>,
    held: BTreeMap<u32, Held>,
    patterns: u64,
}

impl<A: Checked> Shadow<A> {
    /// Makes a heap that is full of old words.
    fn new(words: u64) -> Shadow<A> {
        let heap = (0..words).map(|word| AtomicU64::new(word.wrapping_mul(0x9E37_79B9_97F4_A7C1)));
        Shadow {
            allocator: A::new(words),
            heap: heap.collect(),
            held: BTreeMap::new(),
            patterns: 0,
        }
    }

    fn usage(&self) -> Usage {
        self.allocator.usage(&self.heap)
    }

    /// Allocates a block, which is refused if and only if it is larger than the largest one.
    fn allocate(&mut self, words: u32) -> Option<u32> {
        let largest = self.usage().largest;
        let block = self.allocator.allocate(&self.heap, words);
        assert_eq!(block.is_some(), u64::from(words.max(WORDS_MIN)) <= largest, "{words} words");
        let block = block?;
        let given = self.allocator.words(&self.heap, block);
        let asked = words.max(WORDS_MIN);
        assert!((asked..=asked + WORDS_MIN).contains(&given), "{given} for {words}");
        self.hold(block.0, given);
        Some(block.0)
    }

    /// Notes a new block, which overlaps no other one, and writes to all of it.
    fn hold(&mut self, start: u32, words: u32) {
        // Also the header must be outside of all others.
        let before = self.held.range(..=start).next_back();
        assert!(start >= 1 && before.is_none_or(|(at, held)| at + held.words < start));
        let behind = self.held.range(start..).next();
        assert!(behind.is_none_or(|(at, _)| start + words < *at));
        assert!(((start + words) as usize) < self.heap.len(), "the last header is in the heap");
        self.patterns += 1;
        let held = Held { words, pattern: self.patterns << 40 };
        self.words_of(start, words).zip(held.pattern..).for_each(|(to, word)| {
            to.store(word, Relaxed);
        });
        self.held.insert(start, held);
    }

    fn words_of(&self, start: u32, words: u32) -> impl Iterator<Item = &AtomicU64> {
        self.heap[start as usize..][..words as usize].iter()
    }

    /// Frees the `which`-th block, modulo their number.
    fn free(&mut self, which: usize) {
        let Some(start) = self.held.keys().nth(which % self.held.len().max(1)) else { return };
        let start = *start;
        self.verify(start);
        self.held.remove(&start);
        self.allocator.free(&self.heap, Block(start));
    }

    /// A block has its words, and in them all that was written.
    fn verify(&self, start: u32) {
        let Held { words, pattern } = self.held[&start];
        assert_eq!(self.allocator.words(&self.heap, Block(start)), words);
        for (word, expected) in self.words_of(start, words).zip(pattern..) {
            assert_eq!(word.load(Relaxed), expected, "a word of block {start}");
        }
    }

    /// The words between the blocks in use, and those behind them. A header comes out of each.
    fn gaps(&self) -> (Vec<u64>, u64) {
        let (mut gaps, mut end) = (Vec::new(), 0);
        for (start, held) in &self.held {
            gaps.extend(Some(u64::from(start - 1 - end)).filter(|gap| *gap > 0));
            end = start + held.words;
        }
        (gaps, self.heap.len() as u64 - u64::from(end))
    }

    /// The allocator's lists and tags are right, and no word that is not in use is lost.
    fn check(&self) {
        assert_eq!(self.allocator.check(&self.heap), Ok(()));
        let (usage, (mut gaps, last)) = (self.usage(), self.gaps());
        assert_eq!(usage.used + usage.free + usage.overhead, self.heap.len() as u64);
        assert_eq!(usage.used, self.held.values().map(|held| u64::from(held.words)).sum());
        assert_eq!(usage.blocks, self.held.len() as u64);
        // The last header is behind them.
        gaps.extend(Some(last.saturating_sub(1)).filter(|gap| *gap > u64::from(WORDS_MIN)));
        let largest = gaps.iter().map(|gap| gap - 1).max().unwrap_or(0);
        assert_eq!(usage.largest, A::largest(largest), "{gaps:?}");
        if self.held.is_empty() {
            assert!(usage.free_blocks <= 1);
        } else if A::HAS_BREAK {
            // The last gap may be all behind the break.
            assert!(
                [0, 1].contains(&(gaps.len() as u64 - usage.free_blocks)),
                "{usage:?} {gaps:?}"
            );
        } else {
            assert_eq!(usage.free_blocks, gaps.len() as u64);
            assert_eq!(usage.free, gaps.iter().map(|gap| gap - 1).sum());
        }
    }

    /// Frees all blocks: then they are one again.
    fn end(mut self, order: usize) {
        self.held.keys().for_each(|start| self.verify(*start));
        while !self.held.is_empty() {
            self.free(order);
            self.check();
        }
        let Usage { largest, free_blocks, .. } = self.usage();
        assert!(free_blocks <= 1);
        let words = self.heap.len() as u64;
        assert_eq!(largest, if words < 4 { 0 } else { A::largest(words - 2) });
        assert_eq!(self.allocate(largest as u32 + 1), None);
        assert_eq!(self.allocate(largest as u32).is_some(), largest > 0);
        self.check();
    }
}

#[derive(Clone, Debug)]
enum Step {
    Allocate(u32),
    Free(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let words =
        prop_oneof![8 => 0u32..12, 8 => 12u32..120, 3 => 120u32..1200, 1 => 0u32..=u32::MAX];
    let step = prop_oneof![
        5 => words.prop_map(Step::Allocate),
        4 => any::<usize>().prop_map(Step::Free),
    ];
    prop::collection::vec(step, 1..250)
}

fn run<A: Checked>(words: u64, steps: &[Step], order: usize) {
    let mut shadow = Shadow::<A>::new(words);
    shadow.check();
    for step in steps {
        match *step {
            Step::Allocate(words) => drop(shadow.allocate(words)),
            Step::Free(which) => shadow.free(which),
        }
        shadow.check();
    }
    shadow.end(order);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Blocks never overlap, keep their words, and are found again.
    #[test]
    fn first_fit_is_a_map_of_intervals(
        words in prop_oneof![0u64..40, 0u64..6000],
        steps in steps(),
        order in any::<usize>(),
    ) {
        run::<FirstFit>(words, &steps, order);
    }

    /// Blocks never overlap, keep their words, and are found again.
    #[test]
    fn tlsf_is_a_map_of_intervals(
        words in prop_oneof![0u64..40, 0u64..6000],
        steps in steps(),
        order in any::<usize>(),
    ) {
        run::<Tlsf>(words, &steps, order);
    }
}

fn small_heaps<A: Checked>() {
    let least: Vec<bool> =
        (0..6).map(|words| Shadow::<A>::new(words).allocate(0).is_some()).collect();
    assert_eq!(least, [false, false, false, false, true, true]);
    let mut shadow = Shadow::<A>::new(4);
    assert_eq!((shadow.allocate(3), shadow.allocate(2)), (None, Some(1)));
    shadow.end(0);
}

#[test]
fn a_heap_too_small_for_a_block_gives_out_nothing() {
    small_heaps::<FirstFit>();
    small_heaps::<Tlsf>();
}

/// A block at the end of a heap of 2^32 words can be used, and is found again.
fn largest_heap<A: Checked>() {
    let region = Region::reserve(32 << 30, Residency::OnTouch).unwrap();
    let heap: &[AtomicU64] = region.dram(Span::new(0, 1 << 32));
    let mut allocator = A::new(1 << 32);
    let largest = allocator.usage(heap).largest;
    assert_eq!(largest, A::largest(u64::from(u32::MAX) - 2));
    assert_eq!(allocator.allocate(heap, u32::MAX), None);
    let [low, high] = [10, largest as u32 - 100].map(|words| allocator.allocate(heap, words));
    let [low, high] = [low, high].map(|block| block.expect("there is room"));
    let last = high.0 + allocator.words(heap, high) - 1;
    heap[last as usize].store(7, Relaxed);
    assert_eq!(allocator.check(heap), Ok(()));
    [low, high].into_iter().for_each(|block| allocator.free(heap, block));
    assert_eq!(allocator.check(heap), Ok(()));
    assert_eq!((allocator.usage(heap).largest, heap[last as usize].load(Relaxed)), (largest, 7));
    // The whole heap in one block, if the allocator can.
    assert_eq!(allocator.allocate(heap, largest as u32), Some(low));
    let left = u64::from(u32::MAX) - 2 - largest;
    assert!(allocator.usage(heap).largest <= left);
    assert_eq!(allocator.allocate(heap, left as u32 + 1), None);
    assert_eq!(allocator.check(heap), Ok(()));
}

#[test]
fn a_heap_may_have_all_words_that_a_block_can_name() {
    largest_heap::<FirstFit>();
    largest_heap::<Tlsf>();
}

/// Makes a heap with `free` free blocks of four words, each between blocks in use, and no other
/// free block. Returns it with blocks in use.
fn with_free_blocks<A: Checked>(free: u64) -> (Vec<AtomicU64>, A, Vec<Block>) {
    // First fit gives up to two words more than four where the break was.
    let words = (2 * free + 1) * 5 * 102 / 100 + 10;
    let heap: Vec<AtomicU64> = (0..words).map(AtomicU64::new).collect();
    let mut allocator = A::new(words);
    let blocks: Vec<Block> =
        (0..=2 * free).map(|_| allocator.allocate(&heap, 4).expect("there is room")).collect();
    // The rest.
    while let largest @ 1.. = allocator.usage(&heap).largest as u32 {
        allocator.allocate(&heap, largest).expect("it is the largest");
    }
    blocks.iter().skip(1).step_by(2).for_each(|block| allocator.free(&heap, *block));
    assert_eq!(allocator.usage(&heap).free_blocks, free);
    (heap, allocator, blocks.into_iter().step_by(2).collect())
}

/// Returns the most loads and stores of an allocation, and of a free, among 4,000 calls. When they
/// begin, there are `free` free blocks.
fn accesses_max<A: Checked>(free: u64) -> [u64; 2] {
    let (heap, mut allocator, mut held) = with_free_blocks::<A>(free);
    let (mut most, mut state) = ([0, 0], 1u64);
    for _ in 0..4000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let draw = (state >> 33) as usize;
        if draw.is_multiple_of(2) && !held.is_empty() {
            let block = held.swap_remove(draw / 2 % held.len());
            let (count, ()) = accesses::of(|| allocator.free(&heap, block));
            most[1] = most[1].max(count);
        } else {
            let words = [2, 4, 4, 9, 14, 24, 1000][draw / 2 % 7];
            let (count, block) = accesses::of(|| allocator.allocate(&heap, words));
            most[0] = most[0].max(count);
            held.extend(block);
        }
    }
    assert_eq!(allocator.check(&heap), Ok(()));
    most
}

#[test]
fn tlsf_touches_as_many_words_however_many_blocks_are_free() {
    let most = [1, 10, 1000, 100_000].map(accesses_max::<Tlsf>);
    println!("loads and stores of [allocate, free] with 1, 10, 1,000, 100,000 free: {most:?}");
    assert_eq!(most[1..], [[14, 26]; 3]);
    // A block that is alone in its list has no neighbours there.
    assert!(most[0][0] <= 14 && most[0][1] <= 26);
}

#[test]
fn first_fit_looks_at_more_words_with_more_free_blocks() {
    let most = [1, 10, 1000, 100_000].map(accesses_max::<FirstFit>);
    println!("loads and stores of [allocate, free] with 1, 10, 1,000, 100,000 free: {most:?}");
    let [_, _, few, many] = most.map(|[allocate, _]| allocate);
    assert!(few >= 1500 && many >= 150_000, "a header and a link of most free blocks");
    assert!(most.iter().all(|[_, free]| *free <= 26), "a free takes constant time");
}
