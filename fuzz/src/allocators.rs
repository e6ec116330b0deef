//! Any calls of an allocator: blocks in use never overlap and keep their words, and the tags and
//! lists are right after each call.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_cache::allocator::first_fit::FirstFit;
use spirit_cache::allocator::tlsf::Tlsf;
use spirit_cache::allocator::{Allocator, Block};

use crate::bytes::Bytes;

/// Heaps have fewer words.
const WORDS_END: u16 = 5000;
/// No block has fewer words.
const BLOCK_WORDS_MIN: u32 = 2;

/// An allocator's check of its own rules.
type Check<A> = fn(&A, &[AtomicU64]) -> Result<(), &'static str>;

/// Takes the heap's words from the first two bytes. Each byte that follows is a call. An even one
/// frees a block. An odd one allocates a small block, or one whose words are in the next two bytes.
pub fn allocators(data: &[u8]) {
    let mut bytes = Bytes(data);
    let words = bytes.number() % WORDS_END;
    run(FirstFit::new(words.into()), FirstFit::check, words, Bytes(bytes.0));
    run(Tlsf::new(words.into()), Tlsf::check, words, bytes);
}

fn run<A: Allocator>(allocator: A, check: Check<A>, words: u16, mut bytes: Bytes<'_>) {
    // Words of an earlier use.
    let heap = (0..u64::from(words)).map(|word| AtomicU64::new(!word)).collect();
    let mut shadow = Shadow { allocator, heap, held: BTreeMap::new(), calls: 0 };
    while !bytes.is_empty() {
        let byte = bytes.byte();
        match byte % 4 {
            1 => shadow.allocate((byte / 4).into()),
            3 => shadow.allocate(u32::from(bytes.number()) >> (byte / 4 % 16)),
            _ => shadow.free((byte / 2).into()),
        }
        shadow.check(check);
    }
    while !shadow.held.is_empty() {
        shadow.free(shadow.calls);
        shadow.check(check);
    }
    assert!(shadow.allocator.usage(&shadow.heap).free_blocks <= 1, "all is one block again");
}

/// A heap beside a map of the blocks in use: their first word, and words and pattern.
struct Shadow<A> {
    allocator: A,
    heap: Vec<AtomicU64>,
    held: BTreeMap<u32, (u32, u64)>,
    calls: usize,
}

impl<A: Allocator> Shadow<A> {
    fn allocate(&mut self, asked: u32) {
        self.calls += 1;
        let asked = asked.max(BLOCK_WORDS_MIN);
        let largest = self.allocator.usage(&self.heap).largest;
        let block = self.allocator.allocate(&self.heap, asked);
        assert_eq!(block.is_some(), u64::from(asked) <= largest, "{asked} words of {largest}");
        let Some(block) = block else { return };
        let words = self.allocator.words(&self.heap, block);
        assert!((asked..=asked + BLOCK_WORDS_MIN).contains(&words), "{words} for {asked}");
        let (start, end) = (block.0, block.0 + words);
        let before = self.held.range(..end).next_back();
        assert!(before.is_none_or(|(other, (words, _))| other + words < start), "{start}..{end}");
        let pattern = (self.calls as u64) << 32;
        for (word, value) in self.heap[start as usize..end as usize].iter().zip(pattern..) {
            word.store(value, Relaxed);
        }
        self.held.insert(start, (words, pattern));
    }

    fn free(&mut self, which: usize) {
        self.calls += 1;
        let Some(start) = self.held.keys().nth(which % self.held.len().max(1)).copied() else {
            return;
        };
        self.verify(start);
        self.held.remove(&start);
        self.allocator.free(&self.heap, Block(start));
    }

    /// A block has what was written to it.
    fn verify(&self, start: u32) {
        let (words, pattern) = self.held[&start];
        assert_eq!(self.allocator.words(&self.heap, Block(start)), words);
        for (word, value) in self.heap[start as usize..][..words as usize].iter().zip(pattern..) {
            assert_eq!(word.load(Relaxed), value, "a word of block {start}");
        }
    }

    fn check(&self, check: Check<A>) {
        assert_eq!(check(&self.allocator, &self.heap), Ok(()));
        let usage = self.allocator.usage(&self.heap);
        assert_eq!(usage.used + usage.free + usage.overhead, self.heap.len() as u64);
        assert_eq!(usage.used, self.held.values().map(|(words, _)| u64::from(*words)).sum::<u64>());
    }
}
