//! A server as a child process: its start, its costs, its end.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::cores::{Cores, On};

/// The time in which a server ends in order.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that runs. It is killed when this is dropped.
pub(super) struct Server {
    child: Child,
    pub(super) address: SocketAddr,
    /// The time at which its process was started.
    pub(super) started: Instant,
    folder: PathBuf,
}

/// The memory of a process, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    /// All that is resident.
    pub(super) resident: f64,
    /// What of it is of files.
    pub(super) of_files: f64,
}

impl Server {
    /// Starts a server on the servers' core. It prints its URL as its first line.
    pub(super) fn start(
        mut command: Command,
        folder: &Path,
        cores: Cores,
    ) -> Result<Server, String> {
        let _pinned = cores.pin(On::Second);
        let log = std::fs::File::create(folder.join("server.log"));
        let log = log.map_err(|error| format!("{}: {error}", folder.display()))?;
        let started = Instant::now();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("{command:?}: {error}"))?;
        let stdout = child.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        let address =
            lines.find_map(|line| line.rsplit_once("http://").and_then(|(_, a)| a.parse().ok()));
        // A server whose output is not read any more would wait.
        std::thread::spawn(move || lines.for_each(drop));
        let Some(address) = address else {
            let _ = child.kill();
            let _ = child.wait();
            let log = std::fs::read_to_string(folder.join("server.log")).unwrap_or_default();
            let why = log.lines().last().unwrap_or("it ended without a word").to_owned();
            return Err(format!("the server did not start: {why}"));
        };
        Ok(Server { child, address, started, folder: folder.to_owned() })
    }

    /// Seconds of processors that it has used, in all its threads.
    pub(super) fn cpu_s(&self) -> Result<f64, String> {
        cpu_s(&self.child.id().to_string())
    }

    pub(super) fn memory(&self) -> Result<Memory, String> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let of = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kib| kib * 1024.0)
        };
        let missing = || format!("{path} does not say how much memory the process has");
        let resident = of("VmRSS").ok_or_else(missing)?;
        let of_files = of("RssFile").unwrap_or(0.0) + of("RssShmem").unwrap_or(0.0);
        Ok(Memory { resident, of_files })
    }

    /// Bytes of the disk that its folder takes.
    pub(super) fn disk_bytes(&self) -> f64 {
        blocks(&self.folder) as f64 * 512.0
    }

    /// Ends it in order.
    pub(super) fn end(mut self) -> Result<(), String> {
        let id = Pid::from_child(&self.child);
        kill_process(id, Signal::TERM).map_err(|error| error.to_string())?;
        let end = Instant::now() + PATIENCE;
        while self.child.try_wait().map_err(|error| error.to_string())?.is_none() {
            if Instant::now() > end {
                return Err("the server does not end".to_owned());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Seconds of processors that a process has used, in all its threads.
pub(super) fn cpu_s(process: &str) -> Result<f64, String> {
    let path = format!("/proc/{process}/stat");
    let stat = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    ticks(&stat)
        .map(|ticks| ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
        .ok_or_else(|| format!("{path} does not say what processors did"))
}

/// Time as a user and in the kernel. The name before them may have blanks and brackets.
fn ticks(stat: &str) -> Option<u64> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let mut fields = behind_name.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

fn blocks(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => blocks(&entry.path()),
        Ok(data) => data.blocks(),
        // A file that is gone takes no room.
        Err(_) => 0,
    };
    entries.map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_processors_is_read_behind_any_name() {
        let stat = "12 (a) b) c) S 1 2 3 4 5 6 7 8 9 10 70 30 0 0 20 0";
        assert_eq!(ticks(stat), Some(100));
        assert_eq!(ticks("12 (a) S 1"), None);
        assert!(cpu_s("self").is_ok_and(|seconds| seconds >= 0.0));
    }
}
