//! An embedded B-tree: redb, a copy-on-write B-tree in one file, written with system calls. The whole load is one write
//! transaction: until it is committed, pages wait in redb's own cache, of 1 GiB. The commit writes and syncs them.

use std::path::Path;

use redb::{
    Database, ReadOnlyTable, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};
use spirit_index::ground::{FieldId, Term};

use crate::Fallible;
use crate::dictionary::code;
use crate::dictionary::engine::DictionaryEngine;

const TABLE: TableDefinition<'static, &'static [u8], u64> = TableDefinition::new("dictionary");
/// Puts that are handed on together. A table is open only while its transaction is borrowed, and opening one costs as much as
/// some puts.
const WAITING_MAX: usize = 4096;

pub(crate) struct Tree {
    database: Database,
    /// The load's transaction, until it ends.
    load: Option<WriteTransaction>,
    /// The bytes of keys that were not handed on yet, one behind the other, and the end and the word of each.
    keys: Vec<u8>,
    waiting: Vec<(usize, u64)>,
    loaded: Option<ReadOnlyTable<&'static [u8], u64>>,
}

impl Tree {
    pub(super) fn create(directory: &Path) -> Fallible<Tree> {
        let database = Database::create(directory.join("dictionary.redb"))?;
        let load = Some(database.begin_write()?);
        Ok(Tree { database, load, keys: Vec::new(), waiting: Vec::new(), loaded: None })
    }

    fn hand_on(&mut self) -> Fallible<()> {
        let load = self.load.as_ref().ok_or("the load has ended")?;
        let (mut table, mut start) = (load.open_table(TABLE)?, 0);
        for (end, head) in self.waiting.drain(..) {
            table.insert(&self.keys[start..end], head)?;
            start = end;
        }
        self.keys.clear();
        Ok(())
    }

    fn loaded(&self) -> Fallible<&ReadOnlyTable<&'static [u8], u64>> {
        Ok(self.loaded.as_ref().ok_or("the load has not ended")?)
    }
}

impl DictionaryEngine for Tree {
    fn put(&mut self, key: Term<'_>, head: u64) -> Fallible<()> {
        code::push(key, &mut self.keys);
        self.waiting.push((self.keys.len(), head));
        if self.waiting.len() < WAITING_MAX { Ok(()) } else { self.hand_on() }
    }

    fn finish(&mut self) -> Fallible<()> {
        self.hand_on()?;
        self.load.take().ok_or("the load has ended")?.commit()?;
        self.loaded = Some(self.database.begin_read()?.open_table(TABLE)?);
        Ok(())
    }

    fn get(&self, key: Term<'_>) -> Fallible<Option<u64>> {
        let mut bytes = Vec::with_capacity(code::KEY_BYTES_MAX);
        code::encode(key, &mut bytes);
        Ok(self.loaded()?.get(bytes.as_slice())?.map(|head| head.value()))
    }

    fn iterate(&self, take: &mut dyn FnMut(FieldId, &[u8], u64)) -> Fallible<()> {
        for entry in self.loaded()?.iter()? {
            let (key, head) = entry?;
            let (field, bytes) = code::decode(key.value())?;
            take(field, bytes, head.value());
        }
        Ok(())
    }
}
