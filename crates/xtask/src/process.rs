//! One command, run until it ends or its time is up.
//!
//! A command keeps our process group, so that an interrupt from the terminal reaches it; what it
//! started is found through `/proc` when it has to be stopped.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A command as one would type it in the project's root.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) environment: Vec<(&'static str, String)>,
    pub(crate) words: Vec<String>,
}

impl Line {
    pub(crate) fn new(typed: &str) -> Line {
        let words = typed.split_whitespace().map(str::to_owned).collect();
        Line { environment: Vec::new(), words }
    }

    pub(crate) fn word(mut self, word: impl Into<String>) -> Line {
        self.words.push(word.into());
        self
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Line {
        self.environment.push((name, value.into()));
        self
    }

    fn command(&self, root: &Path) -> Command {
        let (program, arguments) = self.words.split_first().expect("a line has a program");
        let mut command = Command::new(program);
        // Nothing here asks: the demo's prompt would wait for ever.
        command.args(arguments).current_dir(root).stdin(Stdio::null());
        // What Cargo says about this package is not about the one that the command builds.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&*name);
            }
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Whether the command succeeds, its output unseen.
    pub(crate) fn succeeds(&self, root: &Path) -> bool {
        let mut command = self.command(root);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    /// Runs the command, for at most `bound`.
    pub(crate) fn run(&self, root: &Path, bound: Duration) -> io::Result<Ended> {
        wait(self.command(root).spawn()?, bound)
    }

    /// The same, with all that it prints in the file at `output`.
    pub(crate) fn run_into(
        &self,
        output: &Path,
        root: &Path,
        bound: Duration,
    ) -> io::Result<Ended> {
        // One place in the file for both, so that neither writes over the other.
        let printed = File::create(output)?;
        let noted = printed.try_clone()?;
        wait(self.command(root).stdout(printed).stderr(noted).spawn()?, bound)
    }
}

fn wait(mut child: Child, bound: Duration) -> io::Result<Ended> {
    let deadline = Instant::now() + bound;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Itself(status));
        }
        if Instant::now() >= deadline {
            stop(&mut child)?;
            return Ok(Ended::Stopped(bound));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.environment {
            write!(f, "{name}={} ", quoted(value))?;
        }
        let words: Vec<String> = self.words.iter().map(|word| quoted(word)).collect();
        f.write_str(&words.join(" "))
    }
}

/// How a command ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// On its own.
    Itself(ExitStatus),
    /// By us, after this long.
    Stopped(Duration),
}

/// In quotes if a shell would split it.
fn quoted(word: &str) -> String {
    if word.contains(char::is_whitespace) { format!("\"{word}\"") } else { word.into() }
}

/// Kills `child` and everything that it started.
fn stop(child: &mut Child) -> io::Result<()> {
    let started = descendants(child.id(), &parents());
    // The shell's own `kill`: the program of that name is not everywhere.
    let mut kill = Command::new("sh");
    kill.args(["-c", "kill -KILL \"$@\"", "kill"]).args(started.iter().map(u32::to_string));
    // Some may be gone by now, and then `kill` says so; the child itself is killed for certain.
    let _gone = kill.stderr(Stdio::null()).status();
    child.kill()?;
    child.wait().map(|_| ())
}

/// Every process with its parent; empty where there is no `/proc`.
fn parents() -> Vec<(u32, u32)> {
    let Ok(processes) = PathBuf::from("/proc").read_dir() else { return Vec::new() };
    let parent_of = |path: PathBuf| {
        let process = path.file_name()?.to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(path.join("stat")).ok()?;
        Some((process, parent(&stat)?))
    };
    processes.flatten().filter_map(|entry| parent_of(entry.path())).collect()
}

/// The parent in a line of `/proc/PID/stat`: `PID (NAME) STATE PARENT ...`, where NAME may hold anything.
fn parent(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// `process` and all that descends from it.
fn descendants(process: u32, parents: &[(u32, u32)]) -> Vec<u32> {
    let mut found = vec![process];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = parents.iter().filter(|&&(child, of)| of == parent && child != parent);
        found.extend(children.map(|&(child, _)| child));
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_as_it_is_typed() {
        let line = Line::new("cargo doc --no-deps").with("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(line.to_string(), "RUSTDOCFLAGS=\"-D warnings\" cargo doc --no-deps");
        assert_eq!(Line::new("ls").word("a b").to_string(), "ls \"a b\"");
    }

    #[test]
    fn the_parent_is_read_past_a_name_with_brackets() {
        assert_eq!(parent("41 (a) b) c) S 7 41 41 0"), Some(7));
        assert_eq!(parent("41"), None);
    }

    #[test]
    fn descendants_are_children_of_children_too_and_nobody_else() {
        let parents = [(1, 0), (2, 1), (3, 2), (4, 2), (5, 1), (6, 5)];
        assert_eq!(descendants(2, &parents), [2, 3, 4]);
    }

    #[test]
    fn what_outlives_its_bound_is_stopped_with_what_it_started() {
        // The outer shell waits for the inner one, which would create the file a second later.
        let folder = std::env::temp_dir().join(format!("xtask-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a fresh folder");
        let line = Line::new("sh -c").word("sh -c 'sleep 1; touch late'; true");
        let ended = line.run(&folder, Duration::from_millis(200)).expect("sh runs");
        assert!(matches!(ended, Ended::Stopped(_)), "{ended:?}");
        std::thread::sleep(Duration::from_millis(1500));
        let late = folder.join("late").exists();
        std::fs::remove_dir_all(&folder).expect("ours");
        assert!(!late, "the inner shell went on");
    }

    #[test]
    fn a_command_that_ends_by_itself_tells_how() {
        let ended = Line::new("sh -c").word("exit 3").run(Path::new("."), Duration::from_secs(10));
        assert!(matches!(ended, Ok(Ended::Itself(status)) if status.code() == Some(3)));
    }

    #[test]
    fn what_a_command_prints_is_kept_in_order() {
        let output = std::env::temp_dir().join(format!("xtask-printed-{}", std::process::id()));
        let line = Line::new("sh -c").word("echo one; echo two >&2; echo three");
        line.run_into(&output, Path::new("."), Duration::from_secs(10)).expect("sh runs");
        let printed = std::fs::read_to_string(&output).expect("there");
        std::fs::remove_file(&output).expect("ours");
        assert_eq!(printed, "one\ntwo\nthree\n");
    }
}
