//! Other engines, as child processes that speak the protocol of `peers/README.md`.
//!
//! A peer is built when it is first needed. One that cannot be built or run is reported with the reason, and the
//! experiment goes on without it. Documents and indexes are put in a folder below `/dev/shm` (or the folder for
//! temporary files), which is removed at the end.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use spirit_peer_protocol::{Answer, AnswerLine, Unsupported};

use crate::Fallible;
use crate::cores::{Cores, On};
use crate::corpus::Corpus;
use crate::timing::median;

/// A working folder's name begins so and ends in the process's number.
const WORK_PREFIX: &str = "spirit-bench-";
/// How the names of options begin that concern the heap.
const HEAP: &str = "--heap";
/// OpenSearch's own default.
const OPENSEARCH_HEAP: &str = "1g";

/// An engine that we are measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum System {
    Tantivy,
    Lucene,
    Sqlite,
    /// A server: it is asked over HTTP.
    OpenSearch,
}

impl System {
    /// Those that speak the protocol.
    pub(crate) const ALL: [System; 3] = [System::Tantivy, System::Lucene, System::Sqlite];
    /// All of them, and the server.
    pub(crate) const NAMED: [System; 4] =
        [System::Tantivy, System::Lucene, System::Sqlite, System::OpenSearch];

    pub(crate) fn name(self) -> &'static str {
        match self {
            System::Tantivy => "tantivy",
            System::Lucene => "lucene",
            System::Sqlite => "sqlite",
            System::OpenSearch => "opensearch",
        }
    }

    /// True if it is written in Java, and a script builds and starts it.
    fn is_java(self) -> bool {
        matches!(self, System::Lucene | System::OpenSearch)
    }

    /// Whether it makes the same terms of every text as we do.
    pub(crate) fn analyzes_alike(self) -> bool {
        self != System::Sqlite
    }
}

/// A row of a peer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PeerRow {
    pub(crate) workload: String,
    pub(crate) metric: String,
    pub(crate) unit: String,
    /// The runs that count: what an engine did before it was warm is left out.
    pub(crate) runs: Vec<f64>,
    /// Operations a round.
    pub(crate) operations: Option<u64>,
}

impl PeerRow {
    fn parse(line: &str) -> Result<PeerRow, String> {
        let row: Value =
            serde_json::from_str(line).map_err(|e| format!("not a row: {e}: {line}"))?;
        let text = |name: &str| {
            row[name]
                .as_str()
                .map(str::to_owned)
                .ok_or_else(|| format!("no {name} in the row {line}"))
        };
        let runs: Option<Vec<f64>> =
            row["runs"].as_array().and_then(|runs| runs.iter().map(Value::as_f64).collect());
        let runs = runs
            .filter(|runs| !runs.is_empty())
            .ok_or_else(|| format!("no runs in the row {line}"))?;
        let warm = row["warm_from"].as_u64().unwrap_or(0) as usize;
        Ok(PeerRow {
            workload: text("workload")?,
            metric: text("metric")?,
            unit: text("unit")?,
            runs: runs.get(warm..).filter(|runs| !runs.is_empty()).unwrap_or(&runs).to_vec(),
            operations: row["n"].as_u64(),
        })
    }
}

/// All rows of a peer's runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows(pub(crate) Vec<PeerRow>);

impl Rows {
    pub(crate) fn parse(output: &str) -> Result<Rows, String> {
        let lines = output.lines().filter(|line| !line.trim().is_empty());
        lines.map(PeerRow::parse).collect::<Result<_, _>>().map(Rows)
    }

    pub(crate) fn find(&self, workload: &str, metric: &str) -> Option<&PeerRow> {
        self.0.iter().find(|row| row.workload == workload && row.metric == metric)
    }

    /// The median over the runs.
    pub(crate) fn value(&self, workload: &str, metric: &str) -> Result<f64, String> {
        let row = self.find(workload, metric);
        row.map(|row| median(&row.runs)).ok_or_else(|| format!("no {metric} of {workload}"))
    }

    /// Takes the runs of a later turn in.
    pub(crate) fn merge(&mut self, later: Rows) {
        for row in later.0 {
            let same = |r: &&mut PeerRow| r.workload == row.workload && r.metric == row.metric;
            match self.0.iter_mut().find(same) {
                Some(earlier) => earlier.runs.extend(row.runs),
                None => self.0.push(row),
            }
        }
    }
}

/// What came of a query: an answer, or that there is no such query.
pub(crate) type Outcome = Result<Answer, Unsupported>;

/// A run of a peer program.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) task: &'static str,
    pub(crate) docs: PathBuf,
    pub(crate) queries: Option<PathBuf>,
    pub(crate) on: On,
    /// Names and values. Names that begin with [`HEAP`] are of the script that starts a peer in Java.
    pub(crate) options: Vec<(&'static str, String)>,
}

/// The peers that were asked for.
pub(crate) struct Peers {
    list: Vec<System>,
    cores: Cores,
    folder: PathBuf,
    work: Option<PathBuf>,
    built: HashMap<System, Result<(), String>>,
}

impl Peers {
    pub(crate) fn new(list: Vec<System>, cores: Cores) -> Peers {
        let here = PathBuf::from("peers");
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers");
        let folder = if here.join("README.md").is_file() { here } else { beside };
        let folder = fs::canonicalize(&folder).unwrap_or(folder);
        Peers { list, cores, folder, work: None, built: HashMap::new() }
    }

    pub(crate) fn wants(&self, system: System) -> bool {
        self.list.contains(&system)
    }

    /// The corpus as a file, written when first asked for.
    pub(crate) fn docs_file(&mut self, corpus: &Corpus) -> Fallible<PathBuf> {
        let path = self.work()?.join(format!("{}-{}.txt", corpus.name, corpus.len()));
        if !path.exists() {
            let mut file = std::io::BufWriter::new(fs::File::create(&path)?);
            for text in corpus.iter() {
                file.write_all(text.as_bytes())?;
                file.write_all(b"\n")?;
            }
            file.flush()?;
        }
        Ok(path)
    }

    /// The corpus as another file, of objects with columns, written when first asked for.
    pub(crate) fn objects_file(
        &mut self,
        corpus: &Corpus,
        lines: impl FnOnce() -> String,
    ) -> Fallible<PathBuf> {
        // Indexes are kept beside their documents, under the name without its ending.
        let name = format!("{}-{}-columns.jsonl", corpus.name, corpus.len());
        let path = self.work()?.join(name);
        if !path.exists() {
            fs::write(&path, lines())?;
        }
        Ok(path)
    }

    /// A file of queries beside the documents.
    pub(crate) fn query_file(&mut self, name: &str, content: &str) -> Fallible<PathBuf> {
        let path = self.work()?.join(name);
        fs::write(&path, content)?;
        Ok(path)
    }

    /// Runs a peer to its end. The error says, in a line, why there are no rows.
    pub(crate) fn run(&mut self, system: System, call: &Call) -> Result<Rows, String> {
        Rows::parse(&self.output(system, call)?)
    }

    /// What a peer answers to each query of a file.
    pub(crate) fn answers(&mut self, system: System, call: &Call) -> Result<Vec<Outcome>, String> {
        let output = self.output(system, call)?;
        output.lines().map(|line| AnswerLine::parse(line).map(AnswerLine::outcome)).collect()
    }

    /// Returns the command that starts OpenSearch with its data in a folder, built if need be.
    pub(crate) fn open_search(&mut self, folder: &Path) -> Result<Command, String> {
        self.build(System::OpenSearch)?;
        let mut command = Command::new(program(&self.folder, System::OpenSearch));
        command.arg("--heap").arg(OPENSEARCH_HEAP).arg(folder).stdin(Stdio::null());
        Ok(command)
    }

    fn build(&mut self, system: System) -> Result<(), String> {
        let _pinned = self.cores.pin(On::Both);
        let build = || build(&self.folder, system);
        self.built.entry(system).or_insert_with(build).clone()
    }

    fn output(&mut self, system: System, call: &Call) -> Result<String, String> {
        if !self.wants(system) {
            return Err("not asked for".to_owned());
        }
        self.build(system)?;
        let _pinned = self.cores.pin(call.on);
        eprintln!("{} {} {}", system.name(), call.task, options_text(call));
        let output = self.command(system, call).output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(last_line(&output.stderr, "failed"));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn command(&self, system: System, call: &Call) -> Command {
        let mut command = Command::new(program(&self.folder, system));
        let of_script = |(name, _): &&(&str, String)| name.starts_with(HEAP);
        for (name, value) in call.options.iter().filter(of_script) {
            command.arg(name).arg(value);
        }
        command.arg(call.task).arg("--docs").arg(&call.docs);
        command.arg("--work").arg(call.docs.with_extension("indexes"));
        if let Some(queries) = &call.queries {
            command.arg("--queries").arg(queries);
        }
        for (name, value) in call.options.iter().filter(|option| !of_script(option)) {
            command.arg(name).arg(value);
        }
        command.stdin(Stdio::null());
        command
    }

    fn work(&mut self) -> Fallible<&Path> {
        if self.work.is_none() {
            let shm = Path::new("/dev/shm");
            let base = if shm.is_dir() { shm.to_owned() } else { std::env::temp_dir() };
            remove_leftovers(&base);
            let path = base.join(format!("{WORK_PREFIX}{}", std::process::id()));
            fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            self.work = Some(path);
        }
        Ok(self.work.as_deref().expect("made above"))
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        if let Some(work) = &self.work {
            let _ = fs::remove_dir_all(work);
        }
    }
}

/// Removes what a run that was killed left behind.
fn remove_leftovers(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(WORK_PREFIX));
        let process =
            number.filter(|n| n.parse::<u32>().is_ok()).map(|n| Path::new("/proc").join(n));
        if process.is_some_and(|process| !process.exists()) && Path::new("/proc/self").exists() {
            // If it is not ours to remove, it stays.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn program(folder: &Path, system: System) -> PathBuf {
    match system {
        java if java.is_java() => folder.join(java.name()).join("run.sh"),
        _ => folder.join(format!("{0}/target/release/spirit-peer-{0}", system.name())),
    }
}

fn build(folder: &Path, system: System) -> Result<(), String> {
    let home = folder.join(system.name());
    if !home.is_dir() {
        return Err(format!("no folder {}", home.display()));
    }
    eprintln!("building the peer {} if need be", system.name());
    let mut command = match system {
        java if java.is_java() => Command::new(program(folder, java)),
        _ => Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())),
    };
    match system {
        java if java.is_java() => command.arg("--build"),
        _ => command.args(["build", "--release", "--quiet", "--target-dir", "target"]),
    };
    let output =
        command.current_dir(&home).output().map_err(|e| format!("cannot be built: {e}"))?;
    if output.status.success() { Ok(()) } else { Err(last_line(&output.stderr, "cannot be built")) }
}

fn options_text(call: &Call) -> String {
    call.options.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = write!(text, "{name} {value} ");
        text
    })
}

fn last_line(text: &[u8], otherwise: &str) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(otherwise).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = r#"{"task":"ingest","system":"lucene","version":"9","workload":"corpus","metric":"add",
        "unit":"1/s","value":2.5,"runs":[1.0,2.0,3.0],"warm_from":1}"#;

    #[test]
    fn runs_before_the_engine_was_warm_do_not_count() {
        let row = PeerRow::parse(ROW).unwrap();
        assert_eq!((row.workload.as_str(), row.metric.as_str()), ("corpus", "add"));
        assert_eq!((row.runs.as_slice(), row.operations), ([2.0, 3.0].as_slice(), None));
    }

    #[test]
    fn rows_are_found_and_merged_over_turns() {
        let line = |value: u32| {
            format!(
                r#"{{"workload":"MM","metric":"p50_us","unit":"us","value":{value},"runs":[{value}],"n":9}}"#
            )
        };
        let mut rows = Rows::parse(&format!("{}\n\n", line(4))).unwrap();
        rows.merge(Rows::parse(&line(8)).unwrap());
        assert_eq!(rows.find("MM", "p50_us").unwrap().operations, Some(9));
        assert_eq!(rows.value("MM", "p50_us"), Ok(6.0));
        assert!(rows.value("L", "p50_us").is_err());
    }

    #[test]
    fn what_is_no_row_is_refused() {
        for line in ["oops", "{}", r#"{"workload":"x","metric":"y","unit":"z","runs":[]}"#] {
            assert!(Rows::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_peer_that_was_not_asked_for_does_not_run() {
        let mut peers = Peers::new(vec![System::Tantivy], Cores::find());
        let call = Call {
            task: "ingest",
            docs: PathBuf::from("none"),
            queries: None,
            on: On::Both,
            options: Vec::new(),
        };
        assert_eq!(peers.run(System::Lucene, &call).unwrap_err(), "not asked for");
    }
}
