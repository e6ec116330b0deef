//! Why a command did not do what was asked, and the exit code that says so.
//!
//! 1: the work failed. 2: wrong usage. 3: done, but documents were refused. 130, 143, 129: interrupted, by Ctrl-C, by SIGTERM or
//! by SIGHUP. Each is one line on standard error.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use spirit::OpenError;
use spirit::error::BackupError;

use crate::note::note;

#[derive(Debug)]
pub(crate) enum Failure {
    /// What was asked cannot be honoured.
    Usage(String),
    /// The work failed.
    Work(String),
    /// The work is done, but for documents that were refused, each of which was reported.
    Refused,
    /// Nobody reads standard output any more.
    OutputClosed,
    /// The process was asked to end, and has come to an orderly end: with this exit code.
    Interrupted(u8),
}

impl Failure {
    pub(crate) fn usage(message: impl Display) -> Failure {
        Failure::Usage(message.to_string())
    }

    pub(crate) fn work(message: impl Display) -> Failure {
        Failure::Work(message.to_string())
    }

    pub(crate) fn file(path: &Path, error: &io::Error) -> Failure {
        Failure::Work(format!("{}: {error}", path.display()))
    }

    /// Says what happened. A reader that has seen enough (`spirit search ... | head`) closes the pipe: on Unix
    /// that is how one program tells another to stop, so it is a success and nothing is said about it.
    pub(crate) fn exit(self) -> ExitCode {
        match self {
            Failure::Usage(message) => exit(2, &message),
            Failure::Work(message) => exit(1, &message),
            Failure::Refused => ExitCode::from(3),
            Failure::OutputClosed => ExitCode::SUCCESS,
            Failure::Interrupted(code) => exit(code, "interrupted"),
        }
    }
}

fn exit(code: u8, message: &str) -> ExitCode {
    note(message);
    ExitCode::from(code)
}

/// An error of standard output: files are named by [`Failure::file`].
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::Work(format!("standard output: {error}")),
        }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Failure {
        match error {
            OpenError::DramTooSmall { .. } | OpenError::TooLarge { name: "dram_bytes", .. } => {
                Failure::usage(format_args!("--dram: {error}"))
            }
            OpenError::NvmTooSmall { .. } | OpenError::TooLarge { .. } => {
                Failure::usage(format_args!("--nvm: {error}"))
            }
            OpenError::Setting { name, asked, min, max } => setting(name, asked, min, max),
            _ => Failure::work(error),
        }
    }
}

/// A setting out of its range, by the name of its option.
fn setting(name: &str, asked: u64, min: u64, max: u64) -> Failure {
    let time = |ms| humantime::format_duration(Duration::from_millis(ms));
    Failure::usage(match name {
        "executors" => format!("--executors {asked}: choose {min} to {max}"),
        "merge_after" => format!("--merge-after {asked}: choose {min} to {max}"),
        "stage_threads" => format!("--stage-threads {asked}: choose {min} or {max}"),
        "retain in ms" => {
            format!("--retain {}: choose {} to {} days", time(asked), time(min), max / 86_400_000)
        }
        "segment_bytes" => {
            format!("--segment: a segment of {asked} bytes: choose {min} to {max} bytes")
        }
        part if part.starts_with("dram_") || part.starts_with("nvm_") => {
            let option = part.replace('_', "-");
            match asked > max {
                true => format!("--{option}: {asked} bytes are too many: give at most {max}"),
                false => format!(
                    "--{option}: {asked} bytes are too small for the segments: give at least {min}"
                ),
            }
        }
        name => format!("{name} is {asked}: choose {min} to {max}"),
    })
}

/// Files that cannot be used are no wrong usage.
impl From<BackupError> for Failure {
    fn from(error: BackupError) -> Failure {
        Failure::work(error)
    }
}
