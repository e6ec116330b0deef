//! Every combination of the paper's choices (§4.4 to §4.8): when segments are engraved and committed, how memory is divided, what
//! survives. Each is held to the naive index, also after a start and after a kill.

use proptest::prelude::*;
use spirit::lab::{DictionaryTier, EngravePolicy, Parts, PointerUpdate, Postings};
use spirit::{Analyzer, Index, Mode, OnFull};
use spirit_oracle::Oracle;

use crate::support::directory::Directory;
use crate::support::fields::declared;
use crate::support::size_of_run;
use crate::support::steps::{Step, apply, check, step};

#[derive(Clone, Copy, Debug)]
struct Choices {
    executors: u64,
    mode: Mode,
    /// True if a volatile index has a second tier.
    has_tier: bool,
    engrave: EngravePolicy,
    pointer_update: PointerUpdate,
    dictionary: DictionaryTier,
    postings: Postings,
    has_fixed_blocks: bool,
    stage_threads: usize,
    dram_parts: Parts,
    nvm_parts: Parts,
}

impl Choices {
    fn is_kept(self) -> bool {
        self.mode != Mode::Volatile
    }

    fn open(self, directory: &Directory) -> Index {
        let options = declared(Index::builder())
            .dram_bytes(self.executors << 23)
            .segment_bytes(64 << 10)
            .executors(self.executors as usize)
            .mode(self.mode)
            .engrave(self.engrave)
            .pointer_update(self.pointer_update)
            .dictionary(self.dictionary)
            .postings(self.postings)
            .fixed_blocks(self.has_fixed_blocks)
            .stage_threads(self.stage_threads)
            .dram_parts(self.dram_parts)
            .analyzer(Analyzer::Simple)
            .on_full(OnFull::Refuse);
        let options = match self.is_kept() || self.has_tier {
            true => options.directory(directory.path()),
            false => return options.open().unwrap(),
        };
        options
            .nvm_bytes(self.executors * (16 << 20))
            .log_bytes(4 << 20)
            .document_bytes_max(64 << 10)
            .nvm_parts(self.nvm_parts)
            .open()
            .unwrap()
    }
}

/// Nothing said, or a size, of which each executor has its share.
fn size(segments: u64) -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(segments * 2 * (64 << 10))]
}

fn parts(short: u64, long: u64, dictionary: u64) -> impl Strategy<Value = Parts> {
    let sizes = (size(short), size(long), size(dictionary));
    sizes.prop_map(|(short, long, dictionary)| Parts { short, long, dictionary })
}

fn choices() -> impl Strategy<Value = Choices> {
    use EngravePolicy::{Eager, Lazy, Opportunistic};
    let engrave = prop_oneof![Just(Eager), Just(Lazy), Just(Opportunistic)];
    let update = prop_oneof![Just(PointerUpdate::Eager), Just(PointerUpdate::Lazy)];
    let mode = prop_oneof![Just(Mode::Volatile), Just(Mode::Graceful), Just(Mode::Crash)];
    let dictionary = prop_oneof![Just(DictionaryTier::Dram), Just(DictionaryTier::Nvm)];
    let postings = prop_oneof![Just(Postings::Raw), Just(Postings::Packed)];
    let parts = (parts(4, 24, 12), parts(8, 40, 8));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (1u64..3, mode, engrave, update, dictionary, postings, parts, flags).prop_map(
        |(executors, mode, engrave, pointer_update, dictionary, postings, parts, flags)| Choices {
            executors,
            mode,
            has_tier: flags.0,
            engrave,
            pointer_update,
            dictionary,
            postings,
            has_fixed_blocks: flags.1,
            stage_threads: 1 + usize::from(flags.2),
            dram_parts: parts.0,
            nvm_parts: parts.1,
        },
    )
}

fn run(index: &Index, oracle: &mut Oracle, steps: &[Step]) {
    for step in steps {
        apply(index, oracle, step);
    }
}

fn check_all(index: &Index, oracle: &Oracle, steps: &[Step]) {
    for step in steps {
        if let Step::Ask(asked) = step {
            check(index, oracle, asked);
        }
    }
}

/// Checks that partitions have the sizes asked for.
fn check_parts(index: &Index, choices: Choices) {
    let names = ["short-term", "long-term", "nvm short-term", "nvm long-term"];
    let (dram, nvm) = (choices.dram_parts, choices.nvm_parts);
    let asked = [dram.short, dram.long, nvm.short, nvm.long];
    let stats = index.stats().unwrap();
    for (name, asked) in names.into_iter().zip(asked).filter(|(_, asked)| *asked > 0) {
        let named = stats.partitions.iter().filter(|partition| partition.name == name);
        let bytes: u64 = named.map(|partition| partition.bytes).sum();
        let is_there = !name.starts_with("nvm") || choices.is_kept() || choices.has_tier;
        assert_eq!(bytes, if is_there { asked } else { 0 }, "{name} of {choices:?}");
    }
}

proptest! {
    // PROPTEST_CASES asks for more, or for fewer where all takes longer. One opens up to three indexes.
    #![proptest_config(ProptestConfig::with_cases(size_of_run("PROPTEST_CASES", 200) as u32 / 2))]

    #[test]
    fn every_combination_is_the_naive_index(
        choices in choices(),
        before in prop::collection::vec(step(), 1..40),
        after in prop::collection::vec(step(), 1..20),
    ) {
        let (directory, mut oracle) = (Directory::new(), Oracle::default());
        let index = choices.open(&directory);
        check_parts(&index, choices);
        run(&index, &mut oracle, &before);
        index.settle();
        check_all(&index, &oracle, &before);
        if choices.mode == Mode::Crash {
            let killed = directory.killed();
            check_all(&choices.open(&killed), &oracle, &before);
        }
        let index = match choices.is_kept() {
            true => {
                index.close().unwrap();
                choices.open(&directory)
            }
            false => index,
        };
        check_parts(&index, choices);
        run(&index, &mut oracle, &after);
        check_all(&index, &oracle, &before);
        check_all(&index, &oracle, &after);
        index.close().unwrap();
        if !choices.is_kept() {
            let left: Vec<_> = directory.path().read_dir().unwrap().collect();
            assert!(left.is_empty(), "{left:?}");
        }
    }
}

/// A volatile index takes no directory in which another is kept, and leaves that as it is.
#[test]
fn a_volatile_index_is_not_made_beside_one_that_is_kept() {
    let directory = Directory::new();
    let options = || Index::builder().directory(directory.path()).dram_bytes(16 << 20);
    let kept = options().nvm_bytes(64 << 20).open().unwrap();
    kept.put("k", "word").unwrap();
    kept.close().unwrap();
    let refused = options().mode(Mode::Volatile).open().unwrap_err().to_string();
    assert!(refused.ends_with("a volatile index needs a directory without one"), "{refused}");
    assert_eq!(options().open().unwrap().reader().unwrap().count("word").unwrap(), 1);
}

/// Two volatile indexes may have their second tiers in one directory.
#[test]
fn volatile_indexes_share_a_directory() {
    let directory = Directory::new();
    let open = || {
        let options = Index::builder().directory(directory.path()).mode(Mode::Volatile);
        options.dram_bytes(16 << 20).nvm_bytes(64 << 20).open().unwrap()
    };
    let (one, other) = (open(), open());
    one.add("one").unwrap();
    other.add("other").unwrap();
    assert_eq!(one.reader().unwrap().count("one OR other").unwrap(), 1);
    assert_eq!(other.reader().unwrap().count("other").unwrap(), 1);
    assert_eq!(directory.path().read_dir().unwrap().count(), 0);
}
