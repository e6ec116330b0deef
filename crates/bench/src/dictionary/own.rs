//! Our own structure, the [merged dictionary's](TermMap), in three ways.

use std::path::Path;
use std::sync::Arc;

use spirit_door::{Barrier, Door};
use spirit_index::ground::{FieldId, Term};
use spirit_index::merge::{Puts, TermMap};
use spirit_mem::HeapFile;

use crate::Fallible;
use crate::dictionary::engine::{DictionaryEngine, Room};

/// The file's name in the engine's directory.
const NAME: &str = "dictionary";

pub(crate) struct Own {
    map: TermMap,
    /// The file that a map in memory is written to at the end.
    kept: Option<Arc<HeapFile>>,
    is_in_memory: bool,
}

impl Own {
    /// Stores go to the mapped file, and one fence at the end makes them count.
    pub(super) fn in_file(directory: &Path, room: Room) -> Fallible<Own> {
        let file = new_file(directory, room)?;
        Own::of(TermMap::create(file, Door::new(Barrier::Order), Puts::Together)?, room)
    }

    /// Each put is written back and fenced before it returns, on any medium.
    pub(super) fn durable(directory: &Path, room: Room) -> Fallible<Own> {
        let file = new_file(directory, room)?;
        Own::of(TermMap::create(file, Door::new(Barrier::WriteBack), Puts::Durable)?, room)
    }

    /// Stores go to pages of this process alone, until all of them are written to the file by system calls.
    pub(super) fn in_memory(directory: &Path, room: Room) -> Fallible<Own> {
        let kept = new_file(directory, room)?;
        let own = Arc::new(HeapFile::open_private(kept.path())?);
        let map = TermMap::create(own, Door::new(Barrier::Order), Puts::Together)?;
        Ok(Own { kept: Some(kept), is_in_memory: true, ..Own::of(map, room)? })
    }

    fn of(mut map: TermMap, room: Room) -> Fallible<Own> {
        map.reserve(room.keys)?;
        Ok(Own { map, kept: None, is_in_memory: false })
    }
}

fn new_file(directory: &Path, room: Room) -> Fallible<Arc<HeapFile>> {
    let bytes = TermMap::file_bytes(room.lines);
    Ok(Arc::new(HeapFile::create(&directory.join(NAME), bytes)?))
}

impl DictionaryEngine for Own {
    fn put(&mut self, key: Term<'_>, head: u64) -> Fallible<()> {
        Ok(self.map.put(key, head)?)
    }

    fn finish(&mut self) -> Fallible<()> {
        self.map.finish()?;
        if let Some(file) = self.kept.take() {
            let door = Door::new(Barrier::Order).writing(file.clone(), 0);
            self.map.copy_to(file, door)?;
        }
        Ok(())
    }

    fn get(&self, key: Term<'_>) -> Fallible<Option<u64>> {
        Ok(self.map.get(key)?)
    }

    fn iterate(&self, take: &mut dyn FnMut(FieldId, &[u8], u64)) -> Fallible<()> {
        Ok(self.map.for_each(take)?)
    }

    fn stored_bytes(&self) -> u64 {
        if self.is_in_memory { 0 } else { self.map.stored_bytes() }
    }
}
