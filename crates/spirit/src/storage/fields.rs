//! The schema of an open index. All threads read it; one at a time grows it. A new field is durable
//! before anything relies on it.
//!
//! A field that a document has added may be widened from integers to floating-point numbers. The
//! list that says so is durable before a document has such a number. Documents from before keep
//! their integers, also those that are encoded already and wait for an ingest role.
//!
//! A document's values are encoded with the schema before an executor is chosen. So all fields that
//! reach an ingest role are durable. A document that does not fit the schema leaves it unchanged.
//! One that is refused later, for lack of room, may leave fields behind that no document has.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use spirit_door::Door;
use spirit_index::form::field_list;
use spirit_index::form::field_list::FieldList;
use spirit_index::form::root::Root;
use spirit_index::ground::Corrupt;
use spirit_index::ground::ROOT_BYTES;
use spirit_mem::{HeapFile, Region};
use spirit_schema::{FieldError, Schema, Value};

use crate::config::document::Document;
use crate::config::error::{OpenError, WriteError};
use crate::config::options::Options;
use crate::storage::open_root::OpenRoot;
use crate::storage::trust;

/// The schema, and the place of its list of fields.
pub(crate) struct Fields {
    current: RwLock<Arc<Schema>>,
    /// The number of its growths. A query reads the schema only if this has changed.
    growths: AtomicU64,
    /// The root region and the generation of the list that was read, if another process writes the
    /// index.
    followed: Option<(Region, AtomicU64)>,
    /// The place of the list, locked while the schema grows.
    kept: Mutex<Kept>,
}

/// The place of the list of fields.
enum Kept {
    /// No place: the index is in memory.
    Nowhere,
    /// The file, which another process writes.
    Elsewhere,
    /// The file, which this process writes.
    Here(Box<Here>),
}

struct Here {
    region: Region,
    door: Door,
    root: Arc<OpenRoot>,
    generation: u64,
}

impl Fields {
    /// Makes the fields of an index in memory.
    pub(crate) fn in_memory(options: &Options) -> Result<Fields, OpenError> {
        let given = options.schema.as_deref().cloned();
        let mut schema = given.unwrap_or_else(|| options.empty_schema());
        declare(&mut schema, options)?;
        Ok(Fields::new(schema, Kept::Nowhere))
    }

    /// Opens the fields of an index that this process writes, whose file begins with `region`. Adds
    /// the fields of `options` that the index does not have.
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
            written.or_else(|_| here.root.check_synced().map_err(OpenError::from))?;
        }
        Ok(Fields::new(schema, Kept::Here(Box::new(here))))
    }

    /// Opens the fields of an index that another process may be writing.
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

    /// Returns the current schema.
    pub(crate) fn current(&self) -> Arc<Schema> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, schema: Schema) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(schema);
        // Release: a thread that sees the count finds the schema grown, which a lock guards anyway.
        self.growths.fetch_add(1, Release);
    }

    /// Returns the number of growths of the schema.
    #[inline]
    pub(crate) fn growths(&self) -> u64 {
        if let Some((region, read)) = &self.followed
            && field_list::newest(region) != read.load(Acquire)
        {
            // The reader of a document that has such a field reports a damaged list.
            let _ = self.catch_up();
        }
        self.growths.load(Acquire)
    }

    /// Encodes the values of a document's fields. New fields are in the schema then, and durable.
    pub(crate) fn encode(&self, document: &Document<'_>) -> Result<Vec<u8>, WriteError> {
        let mut out = Vec::new();
        let values = || document.fields.iter().copied();
        match self.current().encode(values(), &mut out) {
            Err(_) if self.current().grows_by(values()) => {
                out.clear();
                self.grow(values, &mut out)?;
                Ok(out)
            }
            encoded => encoded.map(|()| out).map_err(WriteError::Field),
        }
    }

    /// Encodes like [`encode`](Self::encode), and adds the unknown fields to the schema,
    /// or widens fields.
    #[cold]
    fn grow<'a, V>(&self, values: impl Fn() -> V, out: &mut Vec<u8>) -> Result<(), WriteError>
    where
        V: Iterator<Item = (&'a str, Value<'a>)>,
    {
        let mut kept = self.kept();
        let mut grown = Schema::clone(&self.current());
        let has_grown = grown.grow(values()).map_err(WriteError::Field)?;
        // The whole document is checked before any of its fields is added for ever.
        grown.encode(values(), out).map_err(WriteError::Field)?;
        // Another thread may have added the same fields meanwhile.
        if !has_grown {
            return Ok(());
        }
        if let Kept::Here(here) = &mut *kept {
            here.write(&grown)?;
        }
        self.set(grown);
        Ok(())
    }

    /// Reads the list again, if another process writes it. The schema then has the fields of all
    /// documents that were visible before the call.
    #[cold]
    pub(crate) fn catch_up(&self) -> Result<(), Corrupt> {
        let Some((region, read)) = &self.followed else { return Ok(()) };
        let _one_at_a_time = self.kept();
        let before = read.load(Relaxed);
        let list = read_beside_writer(region, before)?;
        if list.generation > before {
            let schema = self.current().emptied().with_list(&list.bytes);
            let why = "it names a field that this version does not know";
            let corrupt = |_| Corrupt { what: "list of fields", at: ROOT_BYTES, why };
            self.set(schema.map_err(corrupt)?);
            read.store(list.generation, Release);
        }
        Ok(())
    }
}

impl Here {
    /// Writes the list, which is durable on return.
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

/// The most attempts to read a list that its writer may be overwriting.
const READS_MAX: usize = 100;

/// Reads the newest list of a file that another process writes. The writer overwrites the older
/// one. So one list is whole at any time, but not always the same one during the read. The loop
/// ends after `READS_MAX` attempts.
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

/// Returns the error of a file whose list of fields is damaged.
pub(crate) fn damaged(path: &Path, what: &dyn std::fmt::Display) -> OpenError {
    OpenError::Root { path: path.into(), why: format!("{what}; restore a backup") }
}

fn schema_of(path: &Path, list: &FieldList, options: &Options) -> Result<Schema, OpenError> {
    let schema = options.empty_schema().with_list(&list.bytes);
    schema.map_err(|error| damaged(path, &format_args!("list of fields: {error}")))
}

/// Adds the fields of `options`. An existing field keeps its kind, like all settings that an index
/// was made with.
fn declare(schema: &mut Schema, options: &Options) -> Result<(), OpenError> {
    for (name, kind) in options.fields() {
        match schema.add(name, kind) {
            Ok(_) | Err(FieldError::Known { .. }) => {}
            Err(error) => return Err(OpenError::Field(error)),
        }
    }
    Ok(())
}
