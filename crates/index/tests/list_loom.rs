//! The fresh list's protocol, model-checked: a writer appends past a spill while a reader that took a
//! watermark reads. Whatever the interleaving, the reader finds each visible posting once, in order, and the old ones by the directory.

#[path = "../../mem/tests/modelled/mod.rs"]
mod modelled;

use loom::sync::Arc;
use loom::sync::atomic::AtomicU32;
use loom::thread;
use modelled::{Model32, Model64};
use spirit_index::ground::Blocks;
use spirit_index::ground::{local, posting, rank_of};
use spirit_index::lists::{BUFFER, List};
use spirit_mem::sync::Atom32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

struct World {
    chain: Model64,
    count: Model32,
    buffer: Vec<Model32>,
    area: Vec<Model32>,
    given: AtomicU32,
    visible: AtomicU32,
}

const BLOCKS: Blocks = Blocks::Variable { doublings: 0 };

impl World {
    fn append(&self, row: u32) {
        let list = List { chain: &self.chain, count: &self.count, buffer: &self.buffer };
        let allocate = |words| Some(self.given.fetch_add(words, Relaxed));
        list.append(posting(row), &self.area, BLOCKS, allocate).unwrap();
    }

    /// The visible rows of the list, newest first.
    fn rows(&self) -> (u32, Vec<u32>) {
        let visible = self.visible.load(Acquire);
        let list = List { chain: &self.chain, count: &self.count, buffer: &self.buffer };
        let head = list.read();
        let mut words: Vec<u32> = head.buffer[..head.buffered].iter().rev().copied().collect();
        if let Some((block, _)) = head.chain.next(&self.area, BLOCKS) {
            words.extend(block.iter().rev().map(|w| w.load(Relaxed)));
        }
        // The oldest has nothing behind it, and nothing is older than that.
        assert_eq!(head.chain.from_rank(&self.area, BLOCKS, rank_of(0)), head.chain);
        let none = head.chain.from_rank(&self.area, BLOCKS, rank_of(0) + 1);
        assert_eq!(none.postings(), 0);
        (visible, words.into_iter().map(local).filter(|row| *row < visible).collect())
    }
}

#[test]
fn a_reader_finds_every_visible_posting_once() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let word = || Model32::new(0);
        let world = Arc::new(World {
            chain: Model64::new(0),
            count: word(),
            buffer: (0..BUFFER).map(|_| word()).collect(),
            area: (0..80).map(|_| word()).collect(),
            given: AtomicU32::new(1),
            visible: AtomicU32::new(0),
        });
        // One short of a full buffer, all visible; then the posting that fills it, and the one that spills.
        for row in 0..7 {
            world.append(row);
        }
        world.visible.store(7, Release);
        let writer = thread::spawn({
            let world = world.clone();
            move || {
                for row in 7..10 {
                    world.append(row);
                    world.visible.store(row + 1, Release);
                }
            }
        });
        let (visible, rows) = world.rows();
        assert_eq!(rows, (0..visible).rev().collect::<Vec<_>>());
        writer.join().unwrap();
    });
}
