//! Real text for a demonstration: a file, or every text file below a directory.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spirit::Analyzer;
use spirit::schema::Schema;

use super::corpus::{BYTES_MAX, Corpus};
use crate::document::{Parser, Rules};
use crate::failure::Failure;
use crate::format::Format;
use crate::input::{Cutting, Records, Step};
use crate::interrupt::Interrupt;

/// Folders of things that were made from the text beside them.
const MADE: [&str; 2] = ["target", "node_modules"];
/// Bytes at a file's beginning that are read to tell text from binary: a zero byte means binary.
const SNIFF_BYTES: u64 = 8 << 10;

/// What was found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) corpus: Corpus,
    pub(crate) files: u64,
    /// Lines that are no documents, and files that cannot be read.
    pub(crate) refused: u64,
}

/// Up to `documents_max` documents of `path`.
pub(crate) fn read(
    path: &Path,
    format: Option<Format>,
    documents_max: u64,
) -> Result<Found, Failure> {
    let mut found = Found::default();
    if path.is_dir() {
        found.directory(path, format, documents_max);
    } else {
        found.file(path, format, documents_max).map_err(|error| Failure::file(path, &error))?;
    }
    Ok(found)
}

impl Found {
    fn is_full(&self, documents_max: u64) -> bool {
        self.corpus.len() as u64 >= documents_max
    }

    /// In order of names, so that the same folder gives the same stream. Links are not followed: no loops.
    fn directory(&mut self, path: &Path, format: Option<Format>, documents_max: u64) {
        for (path, is_directory) in entries(path) {
            if self.is_full(documents_max) {
                return;
            }
            if is_directory {
                self.directory(&path, format, documents_max);
            } else if is_text(&path) && self.file(&path, format, documents_max).is_err() {
                self.refused += 1;
            }
        }
    }

    fn file(
        &mut self,
        path: &Path,
        format: Option<Format>,
        documents_max: u64,
    ) -> std::io::Result<()> {
        let schema = Schema::new(Analyzer::default(), true);
        let (cutting, rules) =
            (Cutting::of(format), Arc::new(Rules::new(&[], b',', schema.fields())));
        let mut records = Records::open(&Interrupt::default(), path, &cutting)?;
        let mut parser = None;
        self.files += 1;
        while !self.is_full(documents_max) {
            let record = match records.step()? {
                Step::Begin(format, names) => {
                    parser = Parser::new(format, names, rules.clone()).ok();
                    continue;
                }
                Step::Record(_, record) | Step::Unfinished(_, record, _) => record,
                Step::Pause => continue,
                Step::End => break,
            };
            let document = parser.as_ref().and_then(|parser| parser.parse(&record).ok());
            match document.flatten().filter(|document| document.text.len() <= BYTES_MAX) {
                Some(document) => self.corpus.push(&document.text),
                None => self.refused += 1,
            }
        }
        Ok(())
    }
}

/// Files and folders in `path` that are not hidden and not made from others.
fn entries(path: &Path) -> Vec<(PathBuf, bool)> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut wanted: Vec<_> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let kind = entry.file_type().ok()?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let made = kind.is_dir() && MADE.contains(&&*name);
            let plain = (kind.is_dir() || kind.is_file()) && !name.starts_with('.') && !made;
            plain.then(|| (entry.path(), kind.is_dir()))
        })
        .collect();
    wanted.sort_unstable();
    wanted
}

/// Compressed files are taken at their word.
fn is_text(path: &Path) -> bool {
    if Format::is_packed(path) {
        return true;
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SNIFF_BYTES).read_to_end(&mut start));
    read.is_ok() && !start.contains(&0)
}
