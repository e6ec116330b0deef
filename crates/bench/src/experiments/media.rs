//! `media`: where a collection is read from, and where its index is written to.
//!
//! Measured: `spirit index` of articles as JSON lines, positions and texts kept, from the start of the process to its end: documents
//! a second, and gigabytes of the collection's files a minute, as the paper counts them (part 002, table 1). Sources and targets are
//! a file system in memory and the disk of temporary files; and XFS, and Btrfs with compression, in files of that disk, where the
//! tools to make them are installed and may be used. Two more sources are memory with compressed files, and a slow disk: the same
//! disk, of which a cgroup reads 100 MB a second. The bottleneck is named: the processors if they
//! were busy for nine tenths of the time, or the threads that add, or that flush; else the medium that waited.
//!
//! | medium | the paper's |
//! |---|---|
//! | memory | - |
//! | disk | SSD |
//! | xfs | disk array, XFS |
//! | btrfs, zstd | disk array, ZFS with compression |
//! | slow disk | Ceph, over a network; it is only read |
//!
//! The paper's column is of ClueWeb09b; its gigabytes are compressed.
//!
//! Corpus: articles (BASELINE §1). The seed has no part in it.
//!
//! Caveats: the page cache is emptied before each run if that is allowed, and the index is written through it: nothing is synced,
//! at level process. The paper has 48 threads and collections of 231 and 389 GB, and each medium is a device of its own: ours share
//! one disk. The command is the program beside this one: build it first.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::Fallible;
use crate::bench::Bench;
use crate::cgroup::{Cgroup, READS};
use crate::cores::On;
use crate::corpus::Corpus;
use crate::report::{Table, number};
use crate::scratch::Scratch;
use crate::timing::median;

/// Runs of each pair, at least.
const RUNS: usize = 3;
/// Bytes of the file that holds a file system.
const LOOP_BYTES: u64 = 6 << 30;
/// What a slow disk reads in a second.
const SLOW_BYTES: u64 = 100_000_000;
const SLOW_READS: u64 = 1000;
/// Gigabytes of ClueWeb09b a minute, from one medium to another (part 002, table 1).
const PAPER: &[(&str, &str, f64)] = &[
    ("slow disk", "btrfs, zstd", 1.57),
    ("btrfs, zstd", "btrfs, zstd", 1.56),
    ("slow disk", "xfs", 2.48),
    ("xfs", "xfs", 1.98),
    ("slow disk", "disk", 3.88),
    ("btrfs, zstd", "disk", 3.11),
    ("xfs", "disk", 4.01),
    ("disk", "disk", 2.61),
];
/// A shell that enters the cgroup of its first argument and becomes the command of the others.
const ENTER: &str = r#"echo $$ > "$0/cgroup.procs" && exec "$@""#;
/// The share of the time from which on something is the bottleneck.
const BUSY: f64 = 0.9;
/// Ticks of a second in `/proc/self/stat`.
const TICKS: f64 = 100.0;

/// A directory on a medium.
struct Medium {
    name: &'static str,
    path: PathBuf,
    /// It is unmounted at the end.
    is_mounted: bool,
    /// Limits what is read from it. Nothing is written to such a medium.
    reads: Option<Cgroup>,
    _files: Scratch,
}

impl Drop for Medium {
    fn drop(&mut self) {
        if self.is_mounted {
            // A mount that stays behind shows when its files are removed.
            let _ = Command::new("umount").arg(&self.path).status();
        }
    }
}

/// How a collection is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packed {
    No,
    Zstd,
    Gzip,
}

impl Packed {
    fn name(self) -> &'static str {
        match self {
            Packed::No => "",
            Packed::Zstd => ", zst",
            Packed::Gzip => ", gz",
        }
    }
}

/// A run of a pair of media.
struct Taken {
    seconds: f64,
    bottleneck: String,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("articles")?;
    bench.begin("media", &corpus, &[("store", json!(true))]);
    let program = super::program()?;
    let media = media()?;
    let _pinned = bench.cores.pin(On::Both);
    let title = format!("{}: a collection from one medium to another", corpus.name);
    let head = ["source", "target", "docs/s", "± %", "GB/min", "paper", "bottleneck"];
    let mut table = Table::new(title, &head);
    for source in &media {
        let all = [Packed::No, Packed::Zstd, Packed::Gzip];
        // How a source is packed matters as much wherever it lies.
        let kinds = if source.name == "memory" { &all[..] } else { &all[..1] };
        for packed in kinds {
            let file = source.path.join("articles.jsonl");
            let file = write(&corpus, &file, *packed)?;
            for target in media.iter().filter(|medium| medium.reads.is_none()) {
                let runs = bench.rounds.max(RUNS);
                let taken: Fallible<Vec<Taken>> =
                    (0..runs).map(|_| index(&program, source, &file, &target.path)).collect();
                let names = (format!("{}{}", source.name, packed.name()), target.name);
                print(bench, &corpus, &file, names, &taken?, &mut table)?;
            }
            std::fs::remove_file(&file)?;
        }
    }
    table.print();
    Ok(())
}

/// The media of this machine.
fn media() -> Fallible<Vec<Medium>> {
    let mut media = Vec::new();
    for (name, files) in [("memory", Scratch::new()?), ("disk", Scratch::on_disk()?)] {
        let path = files.path().to_owned();
        media.push(Medium { name, path, is_mounted: false, reads: None, _files: files });
    }
    for (name, make, options) in
        [("xfs", "mkfs.xfs", "loop"), ("btrfs, zstd", "mkfs.btrfs", "loop,compress=zstd:1")]
    {
        match mounted(name, make, options) {
            Ok(medium) => media.push(medium),
            Err(why) => println!("{name}: not measured: {why}"),
        }
    }
    match slow() {
        Ok(medium) => media.push(medium),
        Err(why) => println!("slow disk: not measured: {why}"),
    }
    Ok(media)
}

/// The disk, of which less can be read.
fn slow() -> Fallible<Medium> {
    let files = Scratch::on_disk()?;
    let group = Cgroup::new(&READS)?;
    group.throttle(files.path(), SLOW_BYTES, SLOW_READS)?;
    let path = files.path().to_owned();
    Ok(Medium { name: "slow disk", path, is_mounted: false, reads: Some(group), _files: files })
}

/// A file system in a file.
fn mounted(name: &'static str, make: &str, options: &str) -> Fallible<Medium> {
    let files = Scratch::on_disk()?;
    let (image, path) = (files.path().join("image"), files.path().join("mounted"));
    File::create(&image)?.set_len(LOOP_BYTES)?;
    std::fs::create_dir(&path)?;
    let ran = |command: &mut Command| -> Fallible<()> {
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if output.status.success() { Ok(()) } else { Err(said.into()) }
    };
    ran(Command::new(make).arg("-f").arg(&image)).map_err(|why| format!("{make}: {why}"))?;
    ran(Command::new("mount").args(["-o", options]).args([&image, &path]))?;
    Ok(Medium { name, path, is_mounted: true, reads: None, _files: files })
}

fn write(corpus: &Corpus, path: &Path, packed: Packed) -> Fallible<PathBuf> {
    let mut file = BufWriter::new(File::create(path)?);
    for text in corpus.iter() {
        writeln!(file, "{}", json!({ "text": text }))?;
    }
    file.into_inner()?.sync_all()?;
    let (program, ending) = match packed {
        Packed::No => return Ok(path.to_owned()),
        Packed::Zstd => (["zstd", "-q", "--rm"].as_slice(), ".zst"),
        Packed::Gzip => (["gzip"].as_slice(), ".gz"),
    };
    let status = Command::new(program[0]).args(&program[1..]).arg(path).status()?;
    if !status.success() {
        return Err(format!("{} ended with {status}", program[0]).into());
    }
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    Ok(name.into())
}

/// Indexes the file into a new directory of a medium.
fn index(program: &Path, source: &Medium, file: &Path, target: &Path) -> Fallible<Taken> {
    let directory = target.join("index");
    // It may not be allowed; then files come from the page cache.
    let _ = Command::new("sync").status();
    let _ = std::fs::write("/proc/sys/vm/drop_caches", "1");
    let (start, before) = (Instant::now(), processors()?);
    let mut command = match &source.reads {
        None => Command::new(program),
        Some(group) => {
            let mut command = Command::new("sh");
            command.args(["-c", ENTER]).args([group.path(), program]);
            command
        }
    };
    let output = command
        .args(["index", "--store", "yes", "--analyzer", "simple", "--dram", "1GiB", "-d"])
        .args([&directory, file])
        .output()?;
    let (seconds, busy) = (start.elapsed().as_secs_f64(), processors()? - before);
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    std::fs::remove_dir_all(&directory)?;
    let summary: Value = serde_json::from_slice(&output.stdout)?;
    let bottleneck = bottleneck(&summary, seconds, busy)?;
    Ok(Taken { seconds, bottleneck })
}

/// Seconds of processors that children took which have ended.
fn processors() -> Fallible<f64> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    // The name, in brackets, may have blanks.
    let (_, rest) = text.rsplit_once(") ").ok_or("no name in /proc/self/stat")?;
    let of_children = rest.split(' ').skip(13).take(2).map(str::parse::<f64>);
    Ok(of_children.sum::<Result<f64, _>>()? / TICKS)
}

fn bottleneck(summary: &Value, seconds: f64, busy: f64) -> Fallible<String> {
    let executors = summary["executors"].as_array().ok_or("no executors in the summary")?;
    let sum = |names: &[&str]| -> f64 {
        let of = |one: &Value| names.iter().filter_map(|name| one[*name].as_f64()).sum::<f64>();
        executors.iter().map(of).sum::<f64>() / executors.len() as f64 / seconds
    };
    let cores = std::thread::available_parallelism()?.get() as f64;
    let shares = [
        ("processors", busy / seconds / cores),
        ("adding", sum(&["document_ids", "hash"])),
        ("flushing", sum(&["sort", "flush", "merge"])),
    ];
    let busiest = shares.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).ok_or("no shares")?;
    let (name, percent) = (busiest.0, (busiest.1 * 100.0) as u64);
    Ok(match busiest.1 >= BUSY {
        true => format!("{name}, {percent} %"),
        false => format!("the media; {name} {percent} %"),
    })
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    file: &Path,
    (source, target): (String, &str),
    taken: &[Taken],
    table: &mut Table,
) -> Fallible<()> {
    let seconds: Vec<f64> = taken.iter().map(|taken| taken.seconds).collect();
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    let squares = seconds.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
    let deviation = (squares / (seconds.len() - 1).max(1) as f64).sqrt();
    let paper = PAPER.iter().find(|(from, to, _)| *from == source && *to == target);
    let paper = paper.map(|(_, _, gigabytes)| *gigabytes);
    let mut config = vec![("source", json!(source)), ("target", json!(target))];
    config.extend(paper.map(|gigabytes| ("paper_gb_min", json!(gigabytes))));
    bench.report.row("spirit", &config, "seconds", "s", &seconds)?;
    let gigabytes = std::fs::metadata(file)?.len() as f64 / 1e9;
    table.line([
        source,
        target.to_owned(),
        number(corpus.len() as f64 / mean),
        number(deviation / mean * 100.0),
        number(gigabytes / median(&seconds) * 60.0),
        paper.map_or_else(String::new, number),
        taken.last().map_or(String::new(), |taken| taken.bottleneck.clone()),
    ]);
    Ok(())
}
