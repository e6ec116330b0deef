//! Folders among the files that were named: all regular files below, in order of their names.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// What is below the folders that were named and is not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Passed {
    /// Files and folders whose name begins with a dot.
    pub(crate) hidden: u64,
    /// Links, pipes and devices.
    pub(crate) special: u64,
}

/// `paths` with the files below each folder in its place. `except` is passed over, wherever it is: what the command writes.
///
/// Links are not followed: none leads in a circle, and no file is read twice.
pub(crate) fn files_below(
    paths: &[PathBuf],
    except: &[&Path],
) -> io::Result<(Vec<PathBuf>, Option<Passed>)> {
    let except = except.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    let mut walk = Walk { except, ..Walk::default() };
    let mut has_folder = false;
    for path in paths {
        if path.is_dir() {
            has_folder = true;
            walk.folder(path)?;
        } else {
            walk.files.push(path.clone());
        }
    }
    Ok((walk.files, has_folder.then_some(walk.passed)))
}

#[derive(Default)]
struct Walk {
    files: Vec<PathBuf>,
    passed: Passed,
    except: Vec<PathBuf>,
}

impl Walk {
    /// Ends: a folder that is no link has a finite number of them below.
    fn folder(&mut self, path: &Path) -> io::Result<()> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let mut entries =
            fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(named)?;
        entries.sort_unstable_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (kind, path) = (entry.file_type().map_err(named)?, entry.path());
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                self.passed.hidden += 1;
            } else if self.is_excepted(&path) {
            } else if kind.is_dir() {
                self.folder(&path)?;
            } else if kind.is_file() {
                self.files.push(path);
            } else {
                self.passed.special += 1;
            }
        }
        Ok(())
    }

    fn is_excepted(&self, path: &Path) -> bool {
        !self.except.is_empty()
            && fs::canonicalize(path).is_ok_and(|path| self.except.contains(&path))
    }
}
