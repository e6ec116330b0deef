//! The schema of an open index: read by all, grown by one at a time, and durable before anything relies on a new field.
//!
//! A document's values are encoded against the schema before its executor is asked for, so what reaches an ingest role names
//! fields that are durable already. A document that is refused leaves the schema as it was; one that is refused later, by an
//! executor that has no room, may leave fields behind that no document has.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use spirit_door::Door;
use spirit_index::form::field_list::{self, FieldList};
use spirit_index::form::root::Root;
use spirit_index::ground::corrupt::Corrupt;
use spirit_index::ground::layout::ROOT_BYTES;
use spirit_mem::{HeapFile, Region};
use spirit_schema::{FieldError, Schema, Value};

use crate::config::document::Document;
use crate::config::error::{OpenError, WriteError};
use crate::config::options::Options;
use crate::storage::open_root::OpenRoot;
use crate::storage::trust;

/// The schema, and where it is kept.
pub(crate) struct Fields {
    current: RwLock<Arc<Schema>>,
    /// How often it has grown: queries look at this, and at the schema when it is another number.
    growths: AtomicU64,
    /// The index's first bytes and the generation of the list that was read, if another process writes it.
    followed: Option<(Region, AtomicU64)>,
    /// Held while it grows.
    kept: Mutex<Kept>,
}

/// Where the list of fields is kept.
enum Kept {
    /// Nowhere: the index is in memory.
    Nowhere,
    /// In the file, which another process writes.
    Elsewhere,
    /// In the file.
    Here(Box<Here>),
}

struct Here {
    region: Region,
    door: Door,
    root: Arc<OpenRoot>,
    generation: u64,
}

impl Fields {
    /// Of an index in memory.
    pub(crate) fn in_memory(options: &Options) -> Result<Fields, OpenError> {
        let mut schema = Schema::new(options.analyzer, !options.strict);
        declare(&mut schema, options)?;
        Ok(Fields::new(schema, Kept::Nowhere))
    }

    /// Of an index that this process writes, whose file begins with `region`. What `options` name and the index has not is
    /// added.
    pub(crate) fn open(
        region: Region,
        door: Door,
        root: Arc<OpenRoot>,
        options: &Options,
    ) -> Result<Fields, OpenError> {
        let list = field_list::read(&region, root.fields_generation());
        let list = list.map_err(|what| damaged(root.path(), &what))?;
        let mut schema = schema_of(root.path(), &list, options)?;
        let had = schema.fields().len();
        declare(&mut schema, options)?;
        let is_torn = field_list::is_torn(&region);
        let mut here = Here { region, door, root, generation: list.generation };
        if schema.fields().len() > had || is_torn {
            let written = here.write(&schema);
            written.or_else(|_| here.root.check_synced().map_err(OpenError::File))?;
        }
        Ok(Fields::new(schema, Kept::Here(Box::new(here))))
    }

    /// Of an index that another process may be writing.
    pub(crate) fn follow(
        file: &HeapFile,
        root: &Root,
        options: &Options,
    ) -> Result<Fields, OpenError> {
        let region = trust::root_region(file)?;
        let list = read_beside_writer(&region, root.fields);
        let list = list.map_err(|what| damaged(file.path(), &what))?;
        let schema = schema_of(file.path(), &list, options)?;
        let followed = Some((region, AtomicU64::new(list.generation)));
        Ok(Fields { followed, ..Fields::new(schema, Kept::Elsewhere) })
    }

    fn new(schema: Schema, kept: Kept) -> Fields {
        let current = RwLock::new(Arc::new(schema));
        Fields { current, growths: AtomicU64::new(0), followed: None, kept: Mutex::new(kept) }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The schema as it is.
    pub(crate) fn current(&self) -> Arc<Schema> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, schema: Schema) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(schema);
        // Release: anyone who sees it finds the schema grown, which a lock guards anyway.
        self.growths.fetch_add(1, Release);
    }

    /// How often the schema has grown.
    #[inline]
    pub(crate) fn growths(&self) -> u64 {
        if let Some((region, read)) = &self.followed
            && field_list::newest(region) != read.load(Acquire)
        {
            // A damaged list is reported by the reader of a document that has such a field.
            let _ = self.catch_up();
        }
        self.growths.load(Acquire)
    }

    /// The values of a document's fields, encoded. What they bring along is in the schema then, and durable.
    pub(crate) fn encode(&self, document: &Document<'_>) -> Result<Vec<u8>, WriteError> {
        let mut out = Vec::new();
        let values = || document.fields.iter().copied();
        match self.current().encode(values(), &mut out) {
            Err(FieldError::Unknown { .. }) if self.current().is_dynamic() => {
                out.clear();
                self.grow(values, &mut out)?;
                Ok(out)
            }
            encoded => encoded.map(|()| out).map_err(WriteError::Field),
        }
    }

    /// The same for values of fields that there are not.
    #[cold]
    fn grow<'a, V>(&self, values: impl Fn() -> V, out: &mut Vec<u8>) -> Result<(), WriteError>
    where
        V: Iterator<Item = (&'a str, Value<'a>)>,
    {
        let mut kept = self.kept();
        let mut grown = Schema::clone(&self.current());
        grown.grow(values()).map_err(WriteError::Field)?;
        // All of the document before any of its fields is there for ever.
        grown.encode(values(), out).map_err(WriteError::Field)?;
        if let Kept::Here(here) = &mut *kept {
            here.write(&grown)?;
        }
        self.set(grown);
        Ok(())
    }

    /// Reads the list again, if another process writes it. Documents that were visible before the call have their fields in it.
    #[cold]
    pub(crate) fn catch_up(&self) -> Result<(), Corrupt> {
        let Some((region, read)) = &self.followed else { return Ok(()) };
        let _one_at_a_time = self.kept();
        let before = read.load(Relaxed);
        let list = read_beside_writer(region, before)?;
        if list.generation > before {
            let schema = self.current();
            let schema = Schema::from_list(&list.bytes, schema.analyzer(), schema.is_dynamic());
            let why = "it names a field that this version does not know";
            let corrupt = |_| Corrupt { what: "list of fields", at: ROOT_BYTES, why };
            self.set(schema.map_err(corrupt)?);
            read.store(list.generation, Release);
        }
        Ok(())
    }
}

impl Here {
    /// Durable on return.
    fn write(&mut self, schema: &Schema) -> Result<(), WriteError> {
        let list = FieldList { generation: self.generation + 1, bytes: schema.list() };
        field_list::write(&self.region, &self.door, &list);
        if self.door.failure().is_some() {
            return Err(WriteError::SyncFailed);
        }
        self.generation = list.generation;
        self.root.note_fields(list.generation);
        self.root.check_synced().map_err(|_| WriteError::SyncFailed)
    }
}

/// Times that a list is read anew which its writer may have been writing over.
const READS_MAX: usize = 100;

/// The newest list of a file that another process writes. It writes over the older one, so that one list is whole at any time, though
/// perhaps not the same for as long as both are read.
pub(crate) fn read_beside_writer(
    region: &Region,
    generation_min: u64,
) -> Result<FieldList, Corrupt> {
    let mut read = field_list::read(region, generation_min);
    for _ in 0..READS_MAX {
        if read.is_ok() {
            break;
        }
        std::thread::yield_now();
        read = field_list::read(region, generation_min);
    }
    read
}

/// The error of a file whose list of fields is not what was stored there.
pub(crate) fn damaged(path: &Path, what: &dyn std::fmt::Display) -> OpenError {
    OpenError::Root { path: path.into(), why: format!("{what}; restore a backup") }
}

fn schema_of(path: &Path, list: &FieldList, options: &Options) -> Result<Schema, OpenError> {
    Schema::from_list(&list.bytes, options.analyzer, !options.strict)
        .map_err(|error| damaged(path, &format_args!("list of fields: {error}")))
}

/// Adds the fields that `options` name. One that there is keeps its kind, as all that an index was made with.
fn declare(schema: &mut Schema, options: &Options) -> Result<(), OpenError> {
    for (name, kind) in options.fields() {
        match schema.add(name, kind) {
            Ok(_) | Err(FieldError::Known { .. }) => {}
            Err(error) => return Err(OpenError::Field(error)),
        }
    }
    Ok(())
}
