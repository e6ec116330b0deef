//! `dictionaries`: the merge at the end of a bulk load, in place and out of place, by dictionary engine.
//!
//! Measured: documents in memory, added in order by a bulk load, two executors, positions kept, until everything is engraved and
//! nothing merged. Then the executors merge side by side. *Out of place* ([`out_of_place`](crate::out_of_place)): the postings of all
//! segments are copied to one file, and terms and document keys put into one of the six [engines](crate::dictionary). It does not
//! change the index, so one load serves all. *In place*, last: the production merge, which links nodes and copies nothing. Lookups
//! are of terms drawn from the first executor's, each found.
//!
//! The paper's column (part 004, figure 11) has times of a whole indexing run, that with BDB being 1. So has ours: the load and
//! the merge, those with the B-tree being 1.
//!
//! Corpora: articles, posts (BASELINE §1). The seed draws the lookups.
//!
//! Caveats: all files lie below `/dev/shm` where there is one, so a sync costs nothing, and write-back and fence what they cost in
//! DRAM. Terms are put in the order of hashes, that of our own structure; the two rows by word have the order of the B-tree and
//! the LSM. The in-place merge has no document map to make: documents enter the key table when they are added. An engine is asked
//! one key at a time, so that ours cannot prefetch as the production merge does. Positions are copied by none.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use serde_json::json;
use spirit::{Index, Mode};
use spirit_door::Site;
use spirit_door::sim::Random;
use spirit_index::form::Merged;
use spirit_index::ground::{Gauge, Term, TermKey};
use spirit_index::memory::Memory;
use spirit_index::merge::RUN_MAX;
use spirit_index::snapshot::Snapshot;

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::dictionary::kind::Kind;
use crate::out_of_place::terms::{self, Order};
use crate::out_of_place::{OutOfPlace, Plan, Taken};
use crate::report::{Table, number};
use crate::scratch::Scratch;
use crate::timing::median;

const EXECUTORS: usize = 2;
const DRAM_BYTES: u64 = 1 << 30;
/// Of the second tier, for each byte of text: so much that no segment is packed or merged for want of room.
const NVM_PER_TEXT: u64 = 16;
const NVM_BYTES_MIN: u64 = 1 << 30;
/// Lookups of a round.
const LOOKUPS: usize = 200_000;
/// Of these, terms whose postings are compared.
const COMPARED: usize = 2_000;
/// Bytes of a line of the merged dictionary, and of a bucket.
const LINE_BYTES: u64 = 64;
const BUCKET_BYTES: u64 = 8;
/// What the in-place merge stores.
const STORES: [Site; 8] = [
    Site::Grow,
    Site::GrowCount,
    Site::Link,
    Site::Record,
    Site::Enter,
    Site::Head,
    Site::Unlink,
    Site::Mark,
];

/// A way to merge: none of these is in place.
struct Way {
    name: &'static str,
    plan: Option<Plan>,
    paper: &'static str,
}

const fn out_of_place(engine: Kind, order: Order, writes: bool) -> Option<Plan> {
    Some(Plan { engine, order, writes })
}

const WAYS: [Way; 10] = [
    Way { name: "in place", plan: None, paper: "" },
    Way {
        name: "own, in the file",
        plan: out_of_place(Kind::File, Order::Hashes, false),
        paper: "",
    },
    Way {
        name: "own, in the file, postings written",
        plan: out_of_place(Kind::File, Order::Hashes, true),
        paper: "",
    },
    Way {
        name: "own, in memory",
        plan: out_of_place(Kind::Memory, Order::Hashes, false),
        paper: "VCMap: ≤ 2, closing",
    },
    Way {
        name: "own, each put",
        plan: out_of_place(Kind::EachPut, Order::Hashes, false),
        paper: "CMap: ≤ 1.84",
    },
    Way { name: "B-tree", plan: out_of_place(Kind::Tree, Order::Hashes, false), paper: "BDB: 1" },
    Way {
        name: "B-tree, by word",
        plan: out_of_place(Kind::Tree, Order::Words, false),
        paper: "BDB: 1",
    },
    Way { name: "LSM", plan: out_of_place(Kind::Lsm, Order::Hashes, false), paper: "" },
    Way { name: "LSM, by word", plan: out_of_place(Kind::Lsm, Order::Words, false), paper: "" },
    Way {
        name: "hollow",
        plan: out_of_place(Kind::Hollow, Order::Hashes, false),
        paper: "Hollow: the interface",
    },
];
/// The way to which times are compared as the paper does.
const BASE: &str = "B-tree, by word";

/// Each round of a way.
#[derive(Default)]
struct Rounds {
    /// Seconds: terms and postings, document map, closing, and the whole.
    seconds: [Vec<f64>; 4],
    written_bytes: Vec<f64>,
    dictionary_bytes: Vec<f64>,
    lookups: Vec<f64>,
}

const PARTS: [&str; 4] = ["terms_s", "documents_s", "closing_s", "whole_s"];

impl Rounds {
    fn push(&mut self, seconds: [f64; 4], written: u64, dictionary: u64, lookups: f64) {
        for (rounds, seconds) in self.seconds.iter_mut().zip(seconds) {
            rounds.push(seconds);
        }
        self.written_bytes.push(written as f64);
        self.dictionary_bytes.push(dictionary as f64);
        self.lookups.push(lookups);
    }
}

/// Terms that are looked up.
struct Drawn {
    /// The number of all terms of the executor.
    terms: u64,
    /// Key, bytes of a long term, and number of postings.
    drawn: Vec<(TermKey, Vec<u8>, u64)>,
}

impl Drawn {
    fn new(memory: &Memory, seed: u64) -> Fallible<Drawn> {
        let (mut all, mut random) = (Vec::new(), Random::named(seed, "lookups"));
        terms::for_each(&Snapshot::take(memory), Order::Hashes, |term, entries| {
            let postings = entries.iter().map(|entry| u64::from(entry.postings)).sum();
            all.push((term.key, term.bytes.to_vec(), postings));
            Ok(())
        })?;
        let drawn = (0..LOOKUPS).map(|_| all[random.index(all.len())].clone()).collect();
        Ok(Drawn { terms: all.len() as u64, drawn })
    }

    /// Compares what a merge made with the segments, before its lookups are timed.
    fn compare(&self, merged: &OutOfPlace, engine: Kind) -> Fallible<()> {
        if engine == Kind::Hollow {
            return Ok(());
        }
        let (mut terms, name) = (0, engine.name());
        merged.dictionary().iterate(&mut |_, _, _| terms += 1)?;
        if terms != self.terms {
            return Err(format!("{name}: {terms} of {} terms", self.terms).into());
        }
        for (key, bytes, postings) in self.drawn.iter().take(COMPARED) {
            let found = merged.postings(Term { key: *key, bytes })?;
            if found.map(|found| found.len() as u64) != Some(*postings) {
                return Err(format!("{name}: a term has other postings").into());
            }
        }
        Ok(())
    }

    /// Looks all of them up. Returns the lookups a second.
    fn look_up(&self, mut has: impl FnMut(Term<'_>) -> Fallible<bool>) -> Fallible<f64> {
        let (start, mut found) = (Instant::now(), 0);
        for (key, bytes, _) in &self.drawn {
            found += usize::from(has(Term { key: *key, bytes })?);
        }
        let seconds = start.elapsed().as_secs_f64();
        match found {
            0 => Ok(0.0),
            found if found == self.drawn.len() => Ok(found as f64 / seconds),
            found => Err(format!("{found} of {} terms were found", self.drawn.len()).into()),
        }
    }
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    for name in bench.corpora(true) {
        let corpus = bench.corpus(name)?;
        bench.begin("dictionaries", &corpus, &[("executors", json!(EXECUTORS))]);
        on_corpus(bench, &corpus)?;
    }
    Ok(())
}

fn on_corpus(bench: &mut Bench, corpus: &Corpus) -> Fallible<()> {
    let _pinned = bench.cores.pin(On::Both);
    let (mut loads, mut rounds) = (Vec::new(), [(); WAYS.len()].map(|()| Rounds::default()));
    for round in 0..bench.rounds {
        let scratch = Scratch::new()?;
        let (index, seconds) = load(corpus, &scratch)?;
        loads.push(seconds);
        let memory = index.memories().next().ok_or("an index without executors")?;
        let drawn = Drawn::new(memory, bench.seed)?;
        // Each comes first as often as the others. The one in place changes the index: it is last.
        for at in (0..WAYS.len()).map(|at| (round + at) % WAYS.len()) {
            if let Some(plan) = WAYS[at].plan {
                merge_out_of_place(&index, plan, &drawn, &mut rounds[at])?;
            }
        }
        merge_in_place(&index, &drawn, &mut rounds[0])?;
        index.close()?;
    }
    print(bench, corpus, &loads, &rounds)
}

/// Fills an index until everything is engraved, and nothing merged. Returns the seconds too.
fn load(corpus: &Corpus, scratch: &Scratch) -> Fallible<(Index, f64)> {
    let nvm_bytes = (corpus.text_bytes() * NVM_PER_TEXT).max(NVM_BYTES_MIN);
    let index = Index::builder()
        .analyzer(spirit::Analyzer::Simple)
        .directory(scratch.path())
        .mode(Mode::Crash)
        .executors(EXECUTORS)
        .dram_bytes(DRAM_BYTES)
        .nvm_bytes(nvm_bytes.next_multiple_of(1 << 20))
        .merge_after(RUN_MAX)
        .keeps_raw(true)
        .open()?;
    let start = Instant::now();
    let mut bulk = index.bulk()?;
    bulk.add_all(corpus.iter().map(|text| (None, text)))?;
    bulk.suspend()?;
    let seconds = start.elapsed().as_secs_f64();
    if index.memories().any(|memory| memory.merged() > 0) {
        let most = RUN_MAX - 1;
        return Err(format!("more than {most} segments an executor; take fewer --docs").into());
    }
    Ok((index, seconds))
}

fn merge_out_of_place(
    index: &Index,
    plan: Plan,
    drawn: &Drawn,
    rounds: &mut Rounds,
) -> Fallible<()> {
    let target = Scratch::new()?;
    let (start, before) = (Instant::now(), system_written()?);
    let directories = (0..EXECUTORS).map(|number| target.path().join(number.to_string()));
    let merged = std::thread::scope(|scope| {
        let merges = index.memories().zip(directories).map(|(memory, directory)| {
            scope.spawn(move || {
                OutOfPlace::merge(memory, plan, &directory).map_err(|why| why.to_string())
            })
        });
        let merges: Vec<_> = merges.collect();
        let joined = merges.into_iter().map(|merge| merge.join().map_err(|_| "a merge panicked"));
        joined.map(|merged| Ok(merged??)).collect::<Fallible<Vec<_>>>()
    })?;
    let whole = start.elapsed().as_secs_f64();
    let slowest =
        |part: fn(&Taken) -> f64| merged.iter().map(|(_, taken)| part(taken)).fold(0.0, f64::max);
    let seconds = [
        slowest(|taken| taken.terms),
        slowest(|taken| taken.documents),
        slowest(|taken| taken.closing),
        whole,
    ];
    let stored: u64 = merged.iter().map(|(_, taken)| taken.stored_bytes).sum();
    let written = stored + system_written()? - before;
    let dictionaries: Fallible<Vec<u64>> = (0..EXECUTORS)
        .map(|number| disk_bytes(&target.path().join(number.to_string()).join("dictionary")))
        .collect();
    drawn.compare(&merged[0].0, plan.engine)?;
    let dictionary = merged[0].0.dictionary();
    let lookups = drawn.look_up(|term| Ok(dictionary.get(term)?.is_some()))?;
    rounds.push(seconds, written, dictionaries?.iter().sum(), lookups);
    Ok(())
}

fn merge_in_place(index: &Index, drawn: &Drawn, rounds: &mut Rounds) -> Fallible<()> {
    let before: u64 = index.memories().map(stored).sum();
    let start = Instant::now();
    index.bulk()?.finish()?;
    let seconds = start.elapsed().as_secs_f64();
    let written = index.memories().map(stored).sum::<u64>() - before;
    let (mut dictionary, mut lookups) = (0, 0.0);
    for (number, memory) in index.memories().enumerate() {
        let nvm = memory.nvm().ok_or("an index without a file")?;
        if memory.merged() < memory.window().end {
            return Err("not all segments were merged".into());
        }
        let merged = Merged::new(memory.region(), nvm.layout());
        let lines = memory.gauge(Gauge::MergedLines).load(Relaxed);
        dictionary += lines * LINE_BYTES + merged.buckets() as u64 * BUCKET_BYTES;
        if number == 0 {
            lookups = drawn.look_up(|term| Ok(merged.find(term, term.key.hash()).is_some()))?;
        }
    }
    rounds.push([seconds, 0.0, 0.0, seconds], written, dictionary, lookups);
    Ok(())
}

/// Bytes that merges have stored so far.
fn stored(memory: &Memory) -> u64 {
    let stored = |nvm: &spirit_index::tier::Nvm| {
        STORES.iter().map(|site| nvm.door().passed(*site).bytes).sum::<u64>()
    };
    memory.nvm().map_or(0, stored)
}

/// Bytes that system calls of this process have written so far.
fn system_written() -> Fallible<u64> {
    let io = std::fs::read_to_string("/proc/self/io")?;
    let written = io.lines().find_map(|line| line.strip_prefix("wchar: "));
    Ok(written.ok_or("/proc/self/io does not say what was written")?.trim().parse()?)
}

/// Bytes that a directory's files take on the disk.
fn disk_bytes(directory: &Path) -> Fallible<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes +=
            if metadata.is_dir() { disk_bytes(&entry.path())? } else { metadata.blocks() * 512 };
    }
    Ok(bytes)
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    loads: &[f64],
    rounds: &[Rounds; WAYS.len()],
) -> Fallible<()> {
    let load = median(loads);
    bench.report.row("spirit", &[], "load_s", "s", loads)?;
    let title = format!("{}: merging what {} s have engraved, s", corpus.name, number(load));
    let head = [
        "way",
        "terms",
        "documents",
        "closing",
        "whole",
        "of in place",
        "indexing",
        "paper",
        "written MB",
        "dictionary MB",
        "lookups/s",
    ];
    let mut table = Table::new(title, &head);
    let whole = |rounds: &Rounds| median(&rounds.seconds[3]);
    let base = WAYS.iter().position(|way| way.name == BASE).map_or(0, |at| at);
    let indexing = |at: usize| (load + whole(&rounds[at])) / (load + whole(&rounds[base]));
    for (at, (way, taken)) in WAYS.iter().zip(rounds).enumerate() {
        let config = [("way", json!(way.name))];
        for (part, seconds) in PARTS.iter().zip(&taken.seconds) {
            bench.report.row("spirit", &config, part, "s", seconds)?;
        }
        bench.report.row("spirit", &config, "written_bytes", "bytes", &taken.written_bytes)?;
        bench.report.row(
            "spirit",
            &config,
            "dictionary_bytes",
            "bytes",
            &taken.dictionary_bytes,
        )?;
        bench.report.row("spirit", &config, "lookups_per_s", "1/s", &taken.lookups)?;
        let seconds = taken.seconds.iter().map(|seconds| number(median(seconds)));
        let shares = [number(whole(taken) / whole(&rounds[0])), number(indexing(at))];
        let sizes = [&taken.written_bytes, &taken.dictionary_bytes];
        let sizes = sizes.map(|bytes| number(median(bytes) / 1e6));
        let cells = [way.name.to_owned()].into_iter().chain(seconds).chain(shares);
        let cells = cells.chain([way.paper.to_owned()]).chain(sizes);
        table.line(cells.chain([number(median(&taken.lookups))]));
    }
    table.print();
    println!("  indexing: load and merge; with the B-tree by word 1, as the paper's with BDB");
    Ok(())
}
