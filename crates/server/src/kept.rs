//! What the server keeps of an index, beside the index's file: `server.json`.
//!
//! An index does not keep how much DRAM it had. The budget depends on it, so a start has to give it the
//! same again.
//!
//! | member | |
//! |---|---|
//! | `dram` | bytes of DRAM |

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file's name.
const NAME: &str = "server.json";
/// Its name until it is whole.
const NEW: &str = "server.json.new";

/// What is kept of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    /// The DRAM of the index, in bytes.
    pub(crate) dram: u64,
}

impl Kept {
    /// Reads it from the directory of an index; none if the server did not make the index.
    pub(crate) fn read(directory: &Path) -> io::Result<Option<Kept>> {
        match fs::read(directory.join(NAME)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes it to the directory of an index: after a crash it is whole, or not there.
    pub(crate) fn write(self, directory: &Path) -> io::Result<()> {
        let mut file = File::create(directory.join(NEW))?;
        file.write_all(&serde_json::to_vec(&self)?)?;
        file.sync_all()?;
        fs::rename(directory.join(NEW), directory.join(NAME))?;
        File::open(directory)?.sync_all()
    }
}
