//! Where indexes live: fresh folders for ingest, cached ones for queries.

use crate::{Fallible, Options};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, UNIX_EPOCH};

/// Raised whenever an index built earlier is of no use to the program as it is now.
const FORMAT: u32 = 2;

/// The order in which an index stores its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As they arrive.
    OldestFirst,
    /// The other way round, which no index that is written to live can have.
    NewestFirst,
}

impl Layout {
    fn name(self) -> &'static str {
        match self {
            Layout::OldestFirst => "oldest-first",
            Layout::NewestFirst => "newest-first",
        }
    }
}

/// An empty folder of this name below `work`.
pub fn fresh_directory(work: &Path, name: &str) -> Fallible<PathBuf> {
    let path = work.join(name);
    if path.exists() {
        fs::remove_dir_all(&path)
            .map_err(|error| format!("cannot empty {}: {error}", path.display()))?;
    }
    fs::create_dir_all(&path)
        .map_err(|error| format!("cannot create {}: {error}", path.display()))?;
    Ok(path)
}

/// The folder with the index of these documents; built only if its stamp is missing or differs.
pub fn cached_index(
    options: &Options,
    system: &str,
    version: &str,
    layout: Layout,
    build: impl FnOnce(&Path) -> Fallible<()>,
) -> Fallible<PathBuf> {
    let name = format!("{system}-{}", layout.name());
    let stamp_file = options.work.join(format!("{name}.stamp"));
    let stamp = format!("{FORMAT} {version} {}\n", fingerprint(&options.docs)?);
    let path = options.work.join(&name);
    if path.is_dir() && fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp) {
        eprintln!("index {name}: as built earlier");
        return Ok(path);
    }
    let _ = fs::remove_file(&stamp_file);
    let path = fresh_directory(&options.work, &name)?;
    let start = Instant::now();
    build(&path)?;
    fs::write(&stamp_file, stamp)?;
    eprintln!("index {name}: built in {:.1} s", start.elapsed().as_secs_f64());
    Ok(path)
}

/// Size and time of change stand for the file's content.
fn fingerprint(docs: &Path) -> Fallible<String> {
    let metadata = fs::metadata(docs)?;
    let changed = metadata.modified()?.duration_since(UNIX_EPOCH)?;
    Ok(format!("{} {}", metadata.len(), changed.as_nanos()))
}

/// The bytes of all files directly inside the folder.
pub fn directory_bytes(path: &Path) -> Fallible<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(path)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
