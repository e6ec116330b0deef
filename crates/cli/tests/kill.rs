//! Kill -9 at any moment: what was acknowledged is there afterwards, whole and once; what was not is whole or absent.
//!
//! A chain of processes works on one index: each is fed documents and killed, while it starts, while it ingests or while
//! it closes; between them others delete and ask. `SPIRIT_KILLS` says how many kills there are in all, `SPIRIT_KILL_SEED`
//! which chain is the first one.

mod common;
mod killing;

use std::path::Path;
use std::time::Duration;

use common::{Folder, spirit};
use killing::document::{Document, Maker};
use killing::judge::judge;
use killing::model::Model;
use killing::random::Random;
use killing::victim::{self, Moment};

const KILLS: u64 = 200;
const TESTS: u64 = 5;
const KILLS_OF_A_CHAIN: u64 = 10;
/// Documents of an index that drops none: the terms of more do not fit in the smallest DRAM.
const DOCUMENTS_MAX: u64 = 5000;

#[test]
fn one_executor_on_a_disk() {
    kill(&Setting { executors: 1, ..Setting::DISK });
}

#[test]
fn several_executors_on_a_disk() {
    kill(&Setting { executors: 3, ..Setting::DISK });
}

#[test]
fn one_executor_in_a_file_system_in_memory() {
    kill(&Setting { executors: 1, ..Setting::MEMORY });
}

#[test]
fn several_executors_in_a_file_system_in_memory() {
    kill(&Setting { executors: 2, ..Setting::MEMORY });
}

#[test]
fn a_full_index_that_drops_its_oldest() {
    kill(&Setting { executors: 1, drops: true, ..Setting::MEMORY });
}

/// Where chains run, and on what kind of index.
struct Setting {
    base: &'static str,
    executors: u64,
    /// The second tier is so small that the oldest documents make room.
    drops: bool,
}

impl Setting {
    const DISK: Setting = Setting { base: env!("CARGO_TARGET_TMPDIR"), executors: 1, drops: false };
    const MEMORY: Setting = Setting { base: "/dev/shm", ..Setting::DISK };

    /// A machine without a file system in memory has the disk twice.
    fn base(&self) -> &Path {
        let base = Path::new(self.base);
        if base.is_dir() { base } else { Path::new(Setting::DISK.base) }
    }
}

fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect(variable))
}

/// Runs chains until there were enough kills.
fn kill(setting: &Setting) {
    let wanted = number_of("SPIRIT_KILLS").unwrap_or(KILLS).div_ceil(TESTS);
    let mut seed = number_of("SPIRIT_KILL_SEED").unwrap_or(1);
    let mut kills = 0;
    while kills < wanted {
        let mut chain = Chain::new(setting, seed);
        let end = wanted.min(kills + KILLS_OF_A_CHAIN);
        while kills < end {
            kills += u64::from(chain.link());
        }
        chain.judge();
        chain.debug();
        seed += 1;
    }
}

/// Processes that work on one index, one after the other.
struct Chain {
    seed: u64,
    folder: Folder,
    directory: String,
    random: Random,
    maker: Maker,
    model: Model,
    options: Vec<String>,
    executors: u64,
    drops: bool,
}

impl Drop for Chain {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("SPIRIT_KILL_SEED={} begins with this chain: {:?}", self.seed, self.options);
        }
    }
}

impl Chain {
    fn new(setting: &Setting, seed: u64) -> Chain {
        let folder = Folder::within(setting.base());
        let mut random = Random::new(seed);
        let options = options(setting, &mut random);
        Chain {
            seed,
            directory: folder.path("index"),
            folder,
            random,
            maker: Maker::new(),
            model: Model::default(),
            options,
            executors: setting.executors,
            drops: setting.drops,
        }
    }

    /// One process is fed, and others look at what it left. Says whether it was killed.
    fn link(&mut self) -> bool {
        let documents = self.documents();
        let input: String = documents.iter().map(Document::json_line).collect();
        let moment = self.moment(documents.len());
        let mut args = vec!["ingest", "-d", &self.directory, "--ack", "--format", "jsonl", "-"];
        args.extend(self.options.iter().map(String::as_str));
        let victim = victim::kill(&args, input, moment);
        let first = !Path::new(&self.directory).join("heap").exists();
        assert!(victim.killed || victim.acknowledged.len() == documents.len(), "{moment:?}");
        self.model.fed(documents, &victim.acknowledged);
        if first {
            // Killed before there was an index: nothing to look at.
            assert_eq!(victim.acknowledged.len(), 0);
            return victim.killed;
        }
        self.options = self.dram();
        // Now and then the next process finds what two of them left. One that drops must not forget what is unsure.
        if self.drops || !self.random.one_in(4) {
            self.judge();
            if self.random.one_in(2) {
                self.delete();
            }
        }
        victim.killed
    }

    fn documents(&mut self) -> Vec<Document> {
        let most = if self.drops { 2500 } else { self.random.pick(&[20, 200, 1000, 1000]) };
        let room = if self.drops { most } else { DOCUMENTS_MAX - self.model.accepted_most() };
        let count = self.random.below(most).min(room);
        let accepted = self.model.accepted();
        (0..count).map(|_| self.maker.make(&mut self.random, accepted)).collect()
    }

    fn moment(&mut self, documents: usize) -> Moment {
        let random = &mut self.random;
        match random.below(8) {
            0..2 => Moment::Start(Duration::from_micros(random.below(25_000))),
            2 => Moment::Acknowledged(documents, Duration::from_micros(random.below(4000))),
            _ => {
                let count = random.below(documents as u64 + 1) as usize;
                Moment::Acknowledged(count, Duration::from_micros(random.below(500)))
            }
        }
    }

    /// DRAM for the next process: as it was, or more if that makes no difference to what is dropped.
    fn dram(&mut self) -> Vec<String> {
        let least = 4 * self.executors;
        let bytes = if self.drops { least } else { least * self.random.pick(&[1, 1, 1, 2, 4]) };
        vec!["--dram".into(), format!("{bytes}MiB")]
    }

    fn debug(&mut self) {
        let d = self.dram();
        let s = spirit(&["stats", "-d", &self.directory, &d[0], &d[1], "--json"]).json().remove(0);
        eprintln!(
            "seed {} exec {} live {} accepted {:?} gone {} segs {} drops {}",
            self.seed,
            self.executors,
            self.model.live().count(),
            self.model.accepted_most(),
            self.model.gone.len(),
            s["segments"],
            self.drops
        );
    }

    fn judge(&mut self) {
        // Without any, the engine has its own default.
        let options = if !self.drops && self.random.one_in(4) { Vec::new() } else { self.dram() };
        let options: Vec<_> = options.iter().map(String::as_str).collect();
        judge(&mut self.model, &self.folder, &self.directory, &options, self.drops);
    }

    /// Deletes some documents, to the end or not.
    fn delete(&mut self) {
        let mut keys: Vec<String> = Vec::new();
        for (key, _) in self.model.live() {
            if self.random.one_in(20) {
                keys.push(key.clone());
            }
        }
        let dram = self.dram();
        let args = ["delete", "-d", &self.directory, "--json", &dram[0], &dram[1], "nobody"];
        let args: Vec<_> = args.into_iter().chain(keys.iter().map(String::as_str)).collect();
        if self.random.one_in(3) {
            let moment = Moment::Start(Duration::from_micros(self.random.below(20_000)));
            victim::kill(&args, String::new(), moment);
            self.model.deleting = keys;
            return self.judge();
        }
        let said = spirit(&args).json().remove(0);
        let missing = said["missing"].as_array().unwrap();
        let deleted = keys.len() + 1 - missing.len();
        assert_eq!((&said["deleted"], &missing[0]), (&deleted.into(), &"nobody".into()));
        // The oldest, which are named last, may be dropped before their turn comes.
        assert!(self.drops || deleted == keys.len(), "{said}");
        assert!(keys[deleted..].iter().eq(&missing[1..]), "{said}");
        keys.iter().for_each(|key| self.model.delete(key));
    }
}

/// What a chain's index is made with.
fn options(setting: &Setting, random: &mut Random) -> Vec<String> {
    let executors = setting.executors;
    let nvm = if setting.drops { 6 } else { random.pick(&[16, 64]) * executors };
    let mut options: Vec<String> = Vec::new();
    let mut option = |name: &str, value: String| options.extend([name.to_owned(), value]);
    option("--dram", format!("{}MiB", 4 * executors));
    option("--segment", random.pick(&["64KiB", "128KiB"]).into());
    option("--nvm", format!("{nvm}MiB"));
    option("--executors", executors.to_string());
    option("--on-full", if setting.drops { "drop" } else { "refuse" }.into());
    option("--analyzer", random.pick(&["simple", "standard"]).into());
    option("--positions", random.pick(&["yes", "yes", "no"]).into());
    option("--reserve", random.pick(&["lazy", "lazy", "full"]).into());
    options
}
