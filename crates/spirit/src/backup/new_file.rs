//! A file that gets its name once it is complete. An abandoned one is removed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use spirit_index::backup::Sink;

use crate::backup::error::BackupError;

const BUFFER_BYTES: usize = 1 << 20;

/// A file on its way to its name. Its lock tells other processes that it is not abandoned.
pub(crate) struct NewFile {
    out: BufWriter<File>,
    new: PathBuf,
    path: PathBuf,
    is_done: bool,
}

impl NewFile {
    /// Makes the file beside `path`, where nothing may exist.
    pub(crate) fn create(path: &Path) -> Result<NewFile, BackupError> {
        if path.symlink_metadata().is_ok() {
            return Err(BackupError::Exists { path: path.into() });
        }
        let mut name = path.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        let mut made = Self::make(&new);
        if matches!(&made, Err(e) if e.kind() == ErrorKind::AlreadyExists) {
            Self::remove_abandoned(&new)?;
            made = Self::make(&new);
        }
        let file = made.map_err(BackupError::file(&new, "create it"))?;
        Self::lock(&file, &new)?;
        let out = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(NewFile { out, new, path: path.into(), is_done: false })
    }

    fn make(new: &Path) -> io::Result<File> {
        // Exclusive: a link of this name is not followed.
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(new)
    }

    /// Removes the file of an interrupted backup, unless a process is writing it.
    fn remove_abandoned(new: &Path) -> Result<(), BackupError> {
        let is_file = new.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        if !is_file {
            return Err(BackupError::Exists { path: new.into() });
        }
        let file = File::open(new).map_err(BackupError::file(new, "open it"))?;
        Self::lock(&file, new)?;
        std::fs::remove_file(new).map_err(BackupError::file(new, "remove it"))
    }

    fn lock(file: &File, new: &Path) -> Result<(), BackupError> {
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => BackupError::Busy { path: new.into() },
            TryLockError::Error(error) => BackupError::file(new, "lock it")(error),
        })
    }

    /// Returns the path of the file until it is finished.
    pub(crate) fn unfinished(&self) -> &Path {
        &self.new
    }

    /// Renames the file, once all of it is on the disk.
    pub(crate) fn finish(mut self) -> Result<(), BackupError> {
        self.out.flush().map_err(BackupError::file(&self.new, "write it"))?;
        self.out.get_ref().sync_all().map_err(BackupError::file(&self.new, "sync it"))?;
        std::fs::rename(&self.new, &self.path).map_err(BackupError::file(&self.path, "name it"))?;
        self.is_done = true;
        sync_directory_of(&self.path)
    }
}

/// Makes a file's name durable, by syncing its directory.
pub(crate) fn sync_directory_of(path: &Path) -> Result<(), BackupError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let synced = File::open(parent).and_then(|directory| directory.sync_all());
    synced.map_err(BackupError::file(parent, "sync the directory"))
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Sink for NewFile {
    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.out.flush()?;
        self.out.get_ref().set_len(bytes)?;
        self.out.seek(SeekFrom::Start(bytes)).map(drop)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_done {
            // If this fails, the next `create` of this name removes the file.
            let _ = std::fs::remove_file(&self.new);
        }
    }
}
