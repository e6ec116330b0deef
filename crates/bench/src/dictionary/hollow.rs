//! An engine that drops everything. What it costs is the interface.

use spirit_index::ground::{FieldId, Term};

use crate::Fallible;
use crate::dictionary::engine::DictionaryEngine;

pub(crate) struct Hollow;

impl DictionaryEngine for Hollow {
    fn put(&mut self, _: Term<'_>, _: u64) -> Fallible<()> {
        Ok(())
    }

    fn finish(&mut self) -> Fallible<()> {
        Ok(())
    }

    fn get(&self, _: Term<'_>) -> Fallible<Option<u64>> {
        Ok(None)
    }

    fn iterate(&self, _: &mut dyn FnMut(FieldId, &[u8], u64)) -> Fallible<()> {
        Ok(())
    }
}
