//! `--rejects FILE`: refused records as they stood in their files, so that they can be mended and read again; the reasons in a
//! file beside it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use spirit_forms::escape::escaped;

use crate::failure::Failure;

/// The ending of the file of reasons.
const REASONS: &str = ".reasons";

pub(crate) struct Rejects {
    path: PathBuf,
    records: BufWriter<File>,
    reasons: BufWriter<File>,
    /// Lines of the file of records.
    line: u64,
    /// The row with the names of columns that is in the file, and that of the source which is read.
    written: Vec<u8>,
    names: Vec<u8>,
}

impl Rejects {
    /// Makes `path` anew, or `goes_on` behind what is in it.
    pub(crate) fn open(path: &Path, inputs: &[PathBuf], goes_on: bool) -> Result<Rejects, Failure> {
        let reasons = reasons_of(path);
        for (made, input) in [path, &reasons]
            .into_iter()
            .flat_map(|made| inputs.iter().map(move |input| (made, input)))
        {
            if is_same(made, input) {
                return Err(Failure::usage(format_args!(
                    "--rejects {}: {} is read; choose another name",
                    path.display(),
                    input.display()
                )));
            }
        }
        let lines = match goes_on {
            true => fs::read(path).map_or(0, |text| text.split(|byte| *byte == b'\n').count() - 1),
            false => 0,
        };
        let open = |path: &Path| {
            let mut options = OpenOptions::new();
            options.create(true).write(true).append(goes_on).truncate(!goes_on);
            options.open(path).map(BufWriter::new).map_err(|error| Failure::file(path, &error))
        };
        Ok(Rejects {
            records: open(path)?,
            reasons: open(&reasons)?,
            path: path.into(),
            line: lines as u64,
            written: Vec::new(),
            names: Vec::new(),
        })
    }

    /// Another source begins; `names` is its row with the names of columns.
    pub(crate) fn begin(&mut self, names: &[u8]) {
        self.names = names.to_owned();
    }

    /// Writes a record, if it was short enough to be read, and why it was refused.
    pub(crate) fn write(&mut self, record: Option<&[u8]>, reason: &str) -> Result<(), Failure> {
        self.try_write(record, reason).map_err(|error| Failure::file(&self.path, &error))
    }

    fn try_write(&mut self, record: Option<&[u8]>, reason: &str) -> io::Result<()> {
        if self.names != self.written && record.is_some() {
            self.written.clone_from(&self.names);
            let names = self.names.clone();
            self.put(&names)?;
        }
        let line = self.line + 1;
        match record {
            Some(record) => {
                self.put(record)?;
                writeln!(self.reasons, "{line}\t{}", escaped(reason))?;
            }
            None => writeln!(self.reasons, "-\t{}", escaped(reason))?,
        }
        // Refused records are few, and a kill loses none.
        self.records.flush()?;
        self.reasons.flush()
    }

    /// Writes a record, and counts its lines.
    fn put(&mut self, record: &[u8]) -> io::Result<()> {
        self.line += 1 + record.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.records.write_all(record)?;
        self.records.write_all(b"\n")
    }
}

/// The file of reasons beside `path`.
pub(crate) fn reasons_of(path: &Path) -> PathBuf {
    let mut name: OsString = path.into();
    name.push(REASONS);
    name.into()
}

fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino()));
    matches!((place(one), place(other)), (Ok(one), Ok(other)) if one == other)
}
