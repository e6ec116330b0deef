//! Restores a backup to an index in a directory that has none.
//!
//! The file has another name until it is complete and checked.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spirit_door::{Barrier, Door};
use spirit_index::backup::FrameReader;
use spirit_index::backup::target;
use spirit_index::backup::{Contents, PartContents};
use spirit_index::form::field_list;
use spirit_index::form::field_list::FieldList;
use spirit_index::form::root;
use spirit_index::form::root::Root;
use spirit_index::ground::PARTS_START;
use spirit_index::ground::Settings;
use spirit_index::memory::Memory;
use spirit_index::tier::Tier;
use spirit_mem::{Dram, HeapFile, Pins};

use crate::backup::check::check_file;
use crate::backup::error::BackupError;
use crate::backup::new_file::sync_directory_of;
use crate::backup::report::Report;
use crate::backup::verify::{open, read_all};
use crate::backup::{Backup, Progress};
use crate::config::error::OpenError;
use crate::config::options::Options;
use crate::storage::store::{make_directory, make_file, remove_unfinished};
use crate::storage::trust;
use crate::storage::trust::{CLOSED, OPEN};

impl Backup<'_> {
    /// Makes an index in `directory` from the backup, and checks it.
    ///
    /// The directory is made if it does not exist. It must not hold an index. The restored index
    /// opens like one that was closed.
    ///
    /// # Errors
    /// If the file is no backup or is damaged. If the directory holds an index. If there is not
    /// enough space. Nothing is left then.
    pub fn restore(&mut self, directory: impl AsRef<Path>) -> Result<Report, BackupError> {
        let (path, directory, progress) = (&self.path, directory.as_ref(), &mut self.progress);
        check_absent(directory)?;
        let mut input = open(path)?;
        let mut reader =
            FrameReader::new(&mut input).map_err(|fault| BackupError::fault(path, fault))?;
        // Each byte is read twice: now, and when it is put in its place.
        let mut twice =
            |done: Progress| progress(Progress { done: done.done, total: done.total * 2 });
        let contents = read_all(path, &mut reader, &mut twice)?;
        let place = NewIndex::create(directory)?;
        let mut maker = Maker { path, new: &place.new, contents: &contents, progress };
        maker.make(&mut reader)?;
        let restored = maker.check()?;
        place.finish()?;
        Ok(restored)
    }
}

fn check_absent(directory: &Path) -> Result<(), BackupError> {
    let heap = directory.join("heap");
    match heap.symlink_metadata() {
        Ok(_) => Err(BackupError::Exists { path: heap }),
        Err(_) => Ok(()),
    }
}

/// The directory of an index whose file is being made.
struct NewIndex {
    /// The locked directory: no other process makes an index here meanwhile.
    _held: File,
    heap: PathBuf,
    new: PathBuf,
    directory: PathBuf,
    made_directory: bool,
    is_done: bool,
}

impl NewIndex {
    fn create(directory: &Path) -> Result<NewIndex, BackupError> {
        let made_directory = !directory.exists();
        make_directory(directory)?;
        let held =
            File::open(directory).map_err(BackupError::file(directory, "open the directory"))?;
        held.lock().map_err(BackupError::file(directory, "lock the directory"))?;
        check_absent(directory)?;
        let (heap, new) = (directory.join("heap"), directory.join("heap.new"));
        remove_unfinished(&new)?;
        let directory = directory.into();
        Ok(NewIndex { _held: held, heap, new, directory, made_directory, is_done: false })
    }

    fn finish(mut self) -> Result<(), BackupError> {
        std::fs::rename(&self.new, &self.heap)
            .map_err(BackupError::file(&self.heap, "rename the index's file"))?;
        self.is_done = true;
        sync_directory_of(&self.heap)?;
        if self.made_directory { sync_directory_of(&self.directory) } else { Ok(()) }
    }
}

impl Drop for NewIndex {
    fn drop(&mut self) {
        if !self.is_done {
            // If this fails, the file is still no index. The next index made here removes it.
            let _ = std::fs::remove_file(&self.new);
            if self.made_directory {
                let _ = std::fs::remove_dir(&self.directory);
            }
        }
    }
}

/// A restore: makes the file of an index.
struct Maker<'a> {
    path: &'a Path,
    new: &'a Path,
    contents: &'a Contents,
    progress: &'a mut dyn FnMut(Progress),
}

impl Maker<'_> {
    fn make(&mut self, reader: &mut FrameReader<'_>) -> Result<(), BackupError> {
        let root = &self.contents.root;
        let mut options = Options::default();
        options.take_over(root).expect("the settings of the root were checked before");
        let nvm = root.nvm();
        let settings = root.settings().map_err(OpenError::from)?;
        let file = make_file(self.new, root.executors, nvm, root.segment_bytes, &options)?;
        let file = Arc::new(file);
        for (number, part) in self.contents.parts.iter().enumerate() {
            self.part(number, part, settings, &file, reader)?;
        }
        write_head(&file, root, &self.contents.fields)?;
        Ok(file.sync_all().map_err(OpenError::from)?)
    }

    fn part(
        &mut self,
        number: usize,
        part: &PartContents,
        settings: Settings,
        file: &Arc<HeapFile>,
        reader: &mut FrameReader<'_>,
    ) -> Result<(), BackupError> {
        let start = PARTS_START + number as u64 * self.contents.root.nvm_bytes;
        // No process relies on the file before all of it is synced.
        let tier = Tier {
            file: file.clone(),
            start,
            door: Door::new(Barrier::Order),
            is_new: true,
            verify: false,
        };
        let pins = Arc::new(Pins::new(1));
        let memory =
            Memory::new(settings, Some(tier), Dram::Private, pins).map_err(OpenError::from)?;
        let (bytes, progress) = (self.contents.bytes, &mut *self.progress);
        target::restore(&memory, reader, part, &mut |left| {
            progress(Progress { done: bytes * 2 - left.min(bytes), total: bytes * 2 });
        })
        .map_err(|error| match error {
            target::PutError::NoRoom => BackupError::no_room(self.new),
            error => BackupError::put(self.path, number, error),
        })
    }

    /// Checks the new file, as [`Index::check`](crate::Index::check) does.
    fn check(&self) -> Result<Report, BackupError> {
        let report = check_file(self.new)?;
        if let Some(finding) = report.findings.first() {
            let why = format!("the restored index is damaged: {finding}");
            return Err(BackupError::Damaged { path: self.path.into(), why });
        }
        Ok(report)
    }
}

/// Writes list of fields and root, as if the index had been made with all its fields and then
/// closed.
fn write_head(file: &HeapFile, root: &Root, fields: &[u8]) -> Result<(), OpenError> {
    let (region, door) = (trust::root_region(file)?, Door::new(Barrier::Order));
    let list = FieldList { generation: u64::from(!fields.is_empty()), bytes: fields.to_vec() };
    if list.generation > 0 {
        field_list::write(&region, &door, &list);
    }
    let fields = list.generation;
    let mut root = Root { fields, ..*root };
    trust::note_place(&mut root, file.identity().map_err(OpenError::from)?);
    for (generation, state) in [(0, OPEN), (1, CLOSED)] {
        root::write(&region, &door, &Root { generation, state, ..root });
    }
    Ok(())
}
