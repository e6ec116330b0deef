//! An embedded log-structured merge tree: fjall. A put goes to a journal and to a table in memory. Full tables become sorted
//! files, which threads of its own merge. Blocks are not compressed: the crate is built without.

use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use spirit_index::ground::{FieldId, Term};

use crate::Fallible;
use crate::dictionary::code;
use crate::dictionary::engine::DictionaryEngine;

pub(crate) struct Lsm {
    database: Database,
    keyspace: Keyspace,
    key: Vec<u8>,
}

impl Lsm {
    pub(super) fn create(directory: &Path) -> Fallible<Lsm> {
        let database = Database::builder(directory).open()?;
        let keyspace = database.keyspace("dictionary", KeyspaceCreateOptions::default)?;
        Ok(Lsm { database, keyspace, key: Vec::new() })
    }
}

impl DictionaryEngine for Lsm {
    fn put(&mut self, key: Term<'_>, head: u64) -> Fallible<()> {
        code::encode(key, &mut self.key);
        Ok(self.keyspace.insert(self.key.as_slice(), head.to_le_bytes())?)
    }

    fn finish(&mut self) -> Fallible<()> {
        // The journal has all that no file has yet.
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }

    fn get(&self, key: Term<'_>) -> Fallible<Option<u64>> {
        let mut bytes = Vec::with_capacity(code::KEY_BYTES_MAX);
        code::encode(key, &mut bytes);
        self.keyspace.get(bytes)?.map(|value| word(&value)).transpose()
    }

    fn iterate(&self, take: &mut dyn FnMut(FieldId, &[u8], u64)) -> Fallible<()> {
        for entry in self.keyspace.iter() {
            let (key, value) = entry.into_inner()?;
            let (field, bytes) = code::decode(&key)?;
            take(field, bytes, word(&value)?);
        }
        Ok(())
    }
}

fn word(value: &[u8]) -> Fallible<u64> {
    Ok(u64::from_le_bytes(value.try_into()?))
}
