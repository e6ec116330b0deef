//! A chain: processes that work on one index, one after the other.

use std::path::Path;
use std::time::Duration;

use super::disk::Disk;
use super::document::{Document, Maker};
use super::judge::judge;
use super::model::Model;
use super::tally::Tally;
use super::victim::{self, End, Moment, Victim};
use crate::common::{Folder, spirit};
use spirit::lab::Random;

/// Documents of an index that drops none: the terms of more do not fit in the smallest DRAM.
const DOCUMENTS_MAX: u64 = 5000;
/// The smallest DRAM of an executor, in MiB.
const DRAM: u64 = 4;

/// Where the index is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Disk,
    /// A file system in memory; a machine that has none has the disk twice.
    Memory,
}

impl Place {
    fn folder(self) -> Folder {
        let memory = Path::new("/dev/shm");
        if self == Place::Memory && memory.is_dir() {
            Folder::within(memory)
        } else {
            Folder::new()
        }
    }
}

/// The kind of index.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) place: Place,
    pub(crate) executors: u64,
    /// Whether the second tier is so small that the oldest documents make room.
    pub(crate) drops: bool,
    /// What an acknowledged document survives.
    pub(crate) durability: &'static str,
}

impl Setting {
    /// An ordinary one.
    pub(crate) fn at(place: Place) -> Setting {
        Setting { place, executors: 1, drops: false, durability: "process" }
    }

    /// What the index is made with.
    fn options(self, random: &mut Random) -> Vec<String> {
        let Setting { executors, drops, .. } = self;
        let nvm = if drops { 5 } else { random.pick(&[16, 64]) * executors };
        let mut options: Vec<String> = Vec::new();
        let mut option = |name: &str, value: String| options.extend([name.to_owned(), value]);
        option("--dram", format!("{}MiB", DRAM * executors));
        option("--segment", random.pick(&["64KiB", "128KiB"]).into());
        option("--nvm", format!("{nvm}MiB"));
        option("--executors", executors.to_string());
        option("--durability", self.durability.into());
        option("--on-full", if drops { "drop" } else { "refuse" }.into());
        option("--analyzer", random.pick(&["simple", "standard"]).into());
        option("--positions", random.pick(&["yes", "yes", "no"]).into());
        option("--reserve", random.pick(&["lazy", "lazy", "full"]).into());
        options
    }
}

/// Processes that work on one index, one after the other.
pub(crate) struct Chain {
    setting: Setting,
    seed: u64,
    folder: Folder,
    directory: String,
    /// A disk of its own, whose power is cut instead of the process being killed.
    disk: Option<Disk>,
    random: Random,
    maker: Maker,
    model: Model,
    /// Of the next process.
    options: Vec<String>,
    /// What the last process left.
    left: Left,
    pub(crate) tally: Tally,
}

impl Drop for Chain {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("SPIRIT_KILL_SEED={} begins with this chain", self.seed);
        }
    }
}

impl Chain {
    pub(crate) fn new(setting: Setting, seed: u64) -> Chain {
        Self::on(setting, seed, None)
    }

    /// The same on a disk that loses power.
    pub(crate) fn on(setting: Setting, seed: u64, disk: Option<Disk>) -> Chain {
        let folder = setting.place.folder();
        let mut random = Random::new(seed);
        let options = setting.options(&mut random);
        Chain {
            setting,
            seed,
            directory: match &disk {
                Some(disk) => disk.path().join("index").to_str().unwrap().to_owned(),
                None => folder.path("index"),
            },
            folder,
            disk,
            random,
            maker: Maker::new(),
            model: Model::default(),
            options,
            left: Left::default(),
            tally: Tally::default(),
        }
    }

    /// One process is fed, and others look at what it left. Says whether it came to its end by what was done to it.
    pub(crate) fn link(&mut self) -> bool {
        let documents = self.documents();
        let input: String = documents.iter().map(Document::json_line).collect();
        let moment = self.moment(documents.len());
        let delay = self.delay();
        let merge_after = self.random.pick(&["1", "2", "3", "4"]);
        let mut args = vec!["ingest", "-d", &self.directory, "--ack", "--format", "jsonl", "-"];
        args.extend(["--merge-after", merge_after]);
        args.extend(self.options.iter().map(String::as_str));
        let victim = self.run(&args, input, moment, delay);
        assert!(victim.hit || victim.acknowledged.len() == documents.len(), "{moment:?}");
        self.model.fed(documents, &victim.acknowledged);
        self.tally.cuts += u64::from(victim.hit && self.disk.is_some());
        if !self.has_index() {
            // Killed before there was one: the next process makes it.
            assert_eq!(victim.acknowledged.len(), 0);
            return victim.hit;
        }
        self.options = self.dram();
        self.look(&victim);
        // Now and then the next process finds what two of them left. One that drops must not forget what is unsure.
        let unseen = if self.disk.is_some() { 2 } else { 4 };
        if self.setting.drops || !self.random.one_in(unseen) {
            self.judge();
            if self.random.one_in(2) {
                self.delete();
            }
        }
        victim.hit
    }

    /// A last look at what is left. Says what took effect.
    pub(crate) fn end(mut self) -> Tally {
        if self.has_index() {
            self.judge();
        }
        Tally { dropped: self.model.dropped, ..self.tally }
    }

    /// How long a process whose disk lost power lives on; none: until it sees that.
    fn delay(&mut self) -> Option<Duration> {
        self.disk.as_ref()?;
        let random = &mut self.random;
        (!random.one_in(3)).then(|| Duration::from_micros(random.pick(&[0, 0, 500, 5000])))
    }

    /// Runs a process and ends it. A disk that lost power has it again afterwards.
    fn run(&self, args: &[&str], input: String, moment: Moment, delay: Option<Duration>) -> Victim {
        let end = self.disk.as_ref().map_or(End::Kill, |disk| End::PowerCut(disk, delay));
        let victim = victim::run(args, input, moment, end);
        self.disk.as_ref().inspect(|disk| disk.restart());
        victim
    }

    /// What a power cut left is sound before anybody has mended it. Counts what took effect.
    fn look(&mut self, victim: &Victim) {
        if self.disk.is_none() {
            return;
        }
        // By a process of its own: one that another test starts meanwhile would inherit the file and its lock for a moment.
        let report = spirit(&["check", "-d", &self.directory]).done();
        let left = Left::of(&report);
        let before = std::mem::replace(&mut self.left, left);
        let acknowledged = victim.acknowledged.len() as u64;
        let hit = |what: bool| u64::from(victim.hit && what);
        self.tally = self.tally.and(Tally {
            acknowledged,
            complained: hit(!victim.said.is_empty()),
            starts: hit(acknowledged == 0 && before.segments + before.operations > 0),
            engraved: hit(acknowledged > 0 && left.segments != before.segments),
            merged: hit(acknowledged > 0 && left.merged > before.merged),
            logged: hit(left.operations > 0),
            operations: left.operations,
            ..Tally::default()
        });
    }

    fn has_index(&self) -> bool {
        Path::new(&self.directory).join("heap").exists()
    }

    fn documents(&mut self) -> Vec<Document> {
        let most = match self.setting {
            Setting { drops: true, .. } => 2500,
            _ if self.disk.is_some() => self.random.pick(&[20, 1000, 2000, 2000]),
            // Each of them waits for the disk.
            Setting { durability: "os", .. } => 100,
            _ => self.random.pick(&[20, 200, 1000, 1000]),
        };
        let room = DOCUMENTS_MAX.saturating_sub(self.model.number_most());
        let room = if self.setting.drops { most } else { room };
        let count = self.random.below(most).min(room);
        let number = self.model.number();
        (0..count).map(|_| self.maker.make(&mut self.random, number)).collect()
    }

    fn moment(&mut self, documents: usize) -> Moment {
        let random = &mut self.random;
        if self.disk.is_some() && random.one_in(3) {
            // While it recovers, which takes a few milliseconds.
            return Moment::Start(Duration::from_micros(random.below(8_000)));
        }
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
        let least = DRAM * self.setting.executors;
        let bytes =
            if self.setting.drops { least } else { least * self.random.pick(&[1, 1, 1, 2, 4]) };
        vec!["--dram".into(), format!("{bytes}MiB")]
    }

    fn judge(&mut self) {
        // Without any, the engine has its own default.
        let options =
            if !self.setting.drops && self.random.one_in(4) { Vec::new() } else { self.dram() };
        let options: Vec<_> = options.iter().map(String::as_str).collect();
        judge(&mut self.model, &self.folder, &self.directory, &options, self.setting.drops);
    }

    /// Deletes some documents, to the end or not.
    fn delete(&mut self) {
        let mut keys: Vec<String> = Vec::new();
        for (key, _) in self.model.live() {
            if self.random.one_in(20) {
                keys.push(key.clone());
            }
        }
        let (dram, delay) = (self.dram(), self.delay());
        let args = ["delete", "-d", &self.directory, "--json", &dram[0], &dram[1], "nobody"];
        let args: Vec<_> = args.into_iter().chain(keys.iter().map(String::as_str)).collect();
        if self.random.one_in(3) {
            let moment = Moment::Start(Duration::from_micros(self.random.below(20_000)));
            self.run(&args, String::new(), moment, delay);
            self.model.deleting = keys;
            return self.judge();
        }
        let said = spirit(&args).json().remove(0);
        let missing = said["missing"].as_array().unwrap();
        let deleted = keys.len() + 1 - missing.len();
        assert_eq!((&said["deleted"], &missing[0]), (&deleted.into(), &"nobody".into()));
        // The oldest, which are named last, may be dropped before their turn comes.
        assert!(self.setting.drops || deleted == keys.len(), "{said}");
        assert!(keys[deleted..].iter().eq(&missing[1..]), "{said}");
        keys.iter().for_each(|key| self.model.delete(key));
    }
}

/// What a check says that a process left.
#[derive(Clone, Copy, Default)]
struct Left {
    segments: u64,
    /// Of those, merged ones.
    merged: u64,
    /// In the log.
    operations: u64,
}

impl Left {
    fn of(report: &str) -> Left {
        Left {
            segments: number_before(report, "segments"),
            merged: number_before(report, "merged,"),
            operations: number_before(report, "operations"),
        }
    }
}

/// The number that stands before `word`.
fn number_before(text: &str, word: &str) -> u64 {
    let words: Vec<_> = text.split_whitespace().collect();
    let at = words.iter().position(|other| *other == word).expect(word);
    words[at - 1].parse().expect(text)
}
