//! `s1m2`: how long common words take where all matches are scored, by medium: figures 4c and 15 and table 2 of part 004.
//!
//! | set | queries |
//! |---|---|
//! | S1 | one word |
//! | M2 | two different words, both required |
//!
//! Measured: each query alone, from the prebuilt query to its matches, by as many threads as there are cores. They take the next
//! query of the set when they have answered one, so the machine is saturated, and each query is sequential. Every match is scored and
//! no block skipped; 10,000 matches at most are returned, where the paper reports all. In the order *proximity* the place of a word in the
//! document and the closeness of words count, as they do in the paper, which gives no formula; in the order *best*, BM25 alone. Each
//! set in each order has a process of its own, which opens the index anew, with its dictionary in DRAM. *Short* and *long* are the
//! shorter and the longer half of the queries by their latency, as in the paper. All media must find as many matches.
//!
//! | medium | what it is | the paper's |
//! |---|---|---|
//! | DRAM | a file in memory, asked once before | DRAM, also tmpfs |
//! | disk, warm | a mapped file of the disk, asked once before | - |
//! | disk, cold | the same, none of it in the page cache at first | SSD |
//! | disk, 55 %, 15 % | the same in a memory cgroup, which limits the page cache to this share of the index | - |
//! | slow disk | cold, with 100 MB and 150 reads a second, by a cgroup | Disk |
//!
//! Corpus: articles. The paper draws from a list of 3,000 common English words, which is not part of the data here: words are
//! drawn, with the seed, from the 3,000 alphabetic words that are in most articles. 10,000 queries a set; 1,000 at `--scale small`.
//!
//! Lists are packed, with their positions behind each block, as the paper's postings have them. Raw lists have positions in document vectors.
//!
//! Caveats: nothing stands in for Optane. The disk is virtual, and its host may cache it. Pages that were read stay in the page cache, as in
//! the paper, so cold queries get faster while they go on. The paper asks 10,000 queries at once on 96 cores, and its latencies include
//! their waiting for each other; ours do not. Its index is 12 GB. A run ends after 20 seconds: then the table shows how many queries were
//! answered. Limits are at least 8 MiB, which the readers need. A slow disk reads ahead, so that bytes and reads both bound it. Where
//! cgroups are not allowed, or files in memory, rows say so.

mod figures;
mod media;
pub(crate) mod process;
mod set;

use std::path::{Path, PathBuf};

use serde_json::json;
use spirit::lab::{PointerUpdate, Postings};

use crate::Fallible;
use crate::args::Scale;
use crate::bench::Bench;
use crate::corpus::Corpus;
use crate::engine;
use crate::scratch::Scratch;

use figures::{Figures, Of};
use media::{MEDIA, Medium};
use process::{ORDERS, Run};
use set::Set;

/// Queries of a set, by scale.
const QUERIES: usize = 10_000;
const QUERIES_SMALL: usize = 1_000;
/// The second tier for each byte of text, and at least.
const NVM_PER_TEXT: u64 = 4;
const NVM_BYTES_MIN: u64 = 512 << 20;

/// An index that is closed.
struct Closed {
    scratch: Scratch,
    /// Of its segments in the second tier.
    bytes: u64,
}

/// What the processes ask.
struct Asked {
    memory: Closed,
    disk: Closed,
    dram_bytes: u64,
    /// Each with the file of its queries.
    sets: Vec<(Set, PathBuf)>,
    _files: Scratch,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("articles")?;
    let count = if bench.scale == Scale::Small { QUERIES_SMALL } else { QUERIES };
    bench.begin("s1m2", &corpus, &[("queries", json!(count))]);
    let asked = Asked::new(&corpus, Set::both(&corpus, count, bench.seed)?)?;
    println!("index: {} KiB, packed, with positions", asked.disk.bytes >> 10);
    let mut figures = Figures::default();
    for _ in 0..bench.rounds {
        for (at, medium) in MEDIA.iter().enumerate() {
            for (set, file) in &asked.sets {
                for order in ORDERS {
                    let of = Of { medium: at, set: set.name, order };
                    figures.push(of, asked.run(medium, file, order)?);
                }
            }
        }
    }
    figures.check(count)?;
    figures.print(bench, &corpus)
}

impl Asked {
    fn new(corpus: &Corpus, sets: Vec<Set>) -> Fallible<Asked> {
        let files = Scratch::new()?;
        let with_file = |set: Set| -> Fallible<(Set, PathBuf)> {
            let file = files.path().join(set.name);
            std::fs::write(&file, set.lines.join("\n"))?;
            Ok((set, file))
        };
        Ok(Asked {
            memory: Closed::filled(corpus, Scratch::new()?)?,
            disk: Closed::filled(corpus, Scratch::on_disk()?)?,
            dram_bytes: engine::heap_bytes(corpus),
            sets: sets.into_iter().map(with_file).collect::<Fallible<_>>()?,
            _files: files,
        })
    }

    /// A run, or why the machine cannot have the medium.
    fn run(&self, medium: &Medium, queries: &Path, order: &str) -> Fallible<Result<Run, String>> {
        let index = if medium.is_in_memory { &self.memory } else { &self.disk };
        let groups = match medium.groups(index.scratch.path()) {
            Ok(groups) => groups,
            Err(reason) => return Ok(Err(reason.to_string())),
        };
        process::run(&json!({
            "directory": index.scratch.path(),
            "dram_bytes": self.dram_bytes,
            "queries": queries,
            "order": order,
            "is_warm": medium.is_warm,
            "memory_group": groups.memory.as_ref().map(|group| group.path()),
            "memory_bytes": medium.cached_bytes(index.bytes),
            "reads_group": groups.reads.as_ref().map(|group| group.path()),
        }))
        .map(Ok)
    }
}

impl Closed {
    fn filled(corpus: &Corpus, scratch: Scratch) -> Fallible<Closed> {
        let nvm_bytes = (corpus.text_bytes() * NVM_PER_TEXT).max(NVM_BYTES_MIN);
        let options = engine::options(corpus)
            .prefault(false)
            .directory(scratch.path())
            .nvm_bytes(nvm_bytes.next_multiple_of(1 << 20))
            .postings(Postings::Packed)
            .pointer_update(PointerUpdate::Eager);
        let index = engine::filled(options, corpus)?;
        index.flush()?;
        engine::wait_until_merged(&index)?;
        let bytes = index.stats()?.sections.iter().map(|(_, bytes)| bytes).sum();
        index.close()?;
        Ok(Closed { scratch, bytes })
    }
}
