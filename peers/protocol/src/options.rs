//! The command line shared by all peers: `PROGRAM TASK --docs FILE [--name value]...`.

use crate::Fallible;
use std::path::PathBuf;
use std::str::FromStr;

/// How the task `queries` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The ten newest, on an index that stores the newest first: stop after ten.
    NewestSorted,
    /// The ten newest, on the index as documents arrived: visit every match.
    Newest,
    /// The number of matches, visiting every match.
    Count,
    /// The number of matches by the engine's own counting call.
    CountFast,
    /// The best by BM25, by the engine's own call, which need not visit every match.
    Top,
}

impl Mode {
    /// The name on the command line and in the rows.
    pub fn name(self) -> &'static str {
        match self {
            Mode::NewestSorted => "newest-sorted",
            Mode::Newest => "newest",
            Mode::Count => "count",
            Mode::CountFast => "count-fast",
            Mode::Top => "top",
        }
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(name: &str) -> Result<Mode, String> {
        [Mode::NewestSorted, Mode::Newest, Mode::Count, Mode::CountFast, Mode::Top]
            .into_iter()
            .find(|mode| mode.name() == name)
            .ok_or_else(|| format!("no such mode: {name}"))
    }
}

/// Which documents the task `answers` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The best by BM25; of equals the oldest.
    Bm25,
    /// Those with the highest keys.
    Newest,
}

impl FromStr for Order {
    type Err = String;

    fn from_str(name: &str) -> Result<Order, String> {
        match name {
            "bm25" => Ok(Order::Bm25),
            "newest" => Ok(Order::Newest),
            _ => Err(format!("no such order: {name}")),
        }
    }
}

/// The two parameters of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    /// How much the second and later occurrences of a term count.
    pub k1: f32,
    /// How much the length of a document counts.
    pub b: f32,
}

impl Default for Bm25 {
    /// What Lucene and tantivy begin with.
    fn default() -> Bm25 {
        Bm25 { k1: 1.2, b: 0.75 }
    }
}

/// What the caller asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// `ingest`, `bulk`, `queries`, `answers`, `visible` or `freshness`.
    pub task: String,
    /// The documents, one a line.
    pub docs: PathBuf,
    /// The queries, one a line.
    pub queries: Option<PathBuf>,
    /// Shortest warm-up of a workload, shortest total of the ingest rounds; seconds.
    pub seconds_min: f64,
    /// How often a measurement is repeated.
    pub rounds: usize,
    /// `bulk`: how many threads index.
    pub threads: usize,
    /// Where indexes are put.
    pub work: PathBuf,
    /// How `queries` asks.
    pub mode: Mode,
    /// `answers`: which documents are shown.
    pub order: Order,
    /// `answers` and mode `top`: how many documents are shown.
    pub k: usize,
    /// `answers` and mode `top`: how they are scored.
    pub bm25: Bm25,
    /// A pass over a workload's queries stops after this many seconds.
    pub pass_seconds_max: f64,
    /// `visible`: documents made visible one at a time, per round.
    pub adds: usize,
    /// `visible`: documents made visible before the first round.
    pub warm_adds: usize,
    /// `freshness`: documents a second the writer aims at.
    pub rate: f64,
    /// `freshness`: length of the run.
    pub seconds: f64,
}

impl Options {
    /// Reads the arguments that follow the program's name.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Fallible<Options> {
        let task = arguments
            .next()
            .ok_or("say a task: ingest, bulk, queries, answers, visible or freshness")?;
        let mut options = Options::defaults(task);
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            options.set(&name, &value)?;
        }
        options.check()?;
        Ok(options)
    }

    /// The file named by `--queries`, which the task needs.
    pub fn queries_file(&self) -> Fallible<&PathBuf> {
        self.queries.as_ref().ok_or_else(|| format!("{} needs --queries FILE", self.task).into())
    }

    fn defaults(task: String) -> Options {
        Options {
            task,
            docs: PathBuf::new(),
            queries: None,
            seconds_min: 2.5,
            rounds: 5,
            threads: 2,
            work: PathBuf::from("/dev/shm/spirit-peers"),
            mode: Mode::NewestSorted,
            order: Order::Bm25,
            k: 10,
            bm25: Bm25::default(),
            pass_seconds_max: 10.0,
            adds: 1000,
            warm_adds: 500,
            rate: 1000.0,
            seconds: 10.0,
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Fallible<()> {
        match name {
            "--docs" => self.docs = value.into(),
            "--queries" => self.queries = Some(value.into()),
            "--seconds-min" => self.seconds_min = number(name, value)?,
            "--rounds" => self.rounds = number(name, value)?,
            "--threads" => self.threads = number(name, value)?,
            "--work" => self.work = value.into(),
            "--mode" => self.mode = value.parse()?,
            "--order" => self.order = value.parse()?,
            "--k" => self.k = number(name, value)?,
            "--k1" => self.bm25.k1 = number(name, value)?,
            "--b" => self.bm25.b = number(name, value)?,
            "--pass-seconds-max" => self.pass_seconds_max = number(name, value)?,
            "--adds" => self.adds = number(name, value)?,
            "--warm-adds" => self.warm_adds = number(name, value)?,
            "--rate" => self.rate = number(name, value)?,
            "--seconds" => self.seconds = number(name, value)?,
            _ => return Err(format!("no such option: {name}").into()),
        }
        Ok(())
    }

    fn check(&self) -> Fallible<()> {
        if self.docs.as_os_str().is_empty() {
            return Err("--docs FILE is missing".into());
        }
        if self.rounds == 0 || self.adds == 0 || self.k == 0 || self.threads == 0 {
            return Err("--rounds, --adds, --k and --threads must be at least 1".into());
        }
        for (name, value) in [("--rate", self.rate), ("--seconds", self.seconds)] {
            if value <= 0.0 || value.is_nan() {
                return Err(format!("{name} must be above 0").into());
            }
        }
        Ok(())
    }
}

fn number<T: FromStr>(name: &str, value: &str) -> Fallible<T> {
    value.parse().map_err(|_| format!("{name} takes a number, not {value}").into())
}
