//! Verification of a backup: all checksums first, then each segment and the log.
//!
//! Each segment is put into memory on its own. The rules are those of
//! [`check`](crate::backup::check()).

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use spirit_door::{Barrier, Door};
use spirit_index::backup::FrameReader;
use spirit_index::backup::target::{PutError, Target, check_rings};
use spirit_index::backup::{Contents, PartContents, survey};
use spirit_index::check::Checked;
use spirit_index::form::root::Root;
use spirit_index::ground::Geometry;
use spirit_index::ground::PARTS_START;
use spirit_mem::{Region, Residency};
use spirit_schema::Schema;

use crate::backup::check::{check_kinds, part};
use crate::backup::error::BackupError;
use crate::backup::report::Report;
use crate::backup::{Backup, Progress};
use crate::config::error::OpenError;
use crate::config::options::Options;
use crate::storage::trust::CLOSED;

impl Backup<'_> {
    /// Verifies the backup, and changes nothing.
    ///
    /// # Errors
    /// If the file is no backup or a checksum is wrong; the error names the place. Damage despite
    /// right checksums is a [finding](Report::findings) instead.
    pub fn verify(&mut self) -> Result<Report, BackupError> {
        let path = &self.path;
        let mut input = open(path)?;
        let mut reader =
            FrameReader::new(&mut input).map_err(|fault| BackupError::fault(path, fault))?;
        let contents = read_all(path, &mut reader, &mut self.progress)?;
        let mut report = Report { closed: true, ..Report::default() };
        for (number, part) in contents.parts.iter().enumerate() {
            let verifier = Verifier::new(&contents, number, path)?;
            verifier.segments(&mut reader, part, &mut report)?;
            verifier.log(&mut reader, part, &mut report)?;
            report.executors += 1;
        }
        Ok(report)
    }
}

pub(crate) fn open(path: &Path) -> Result<BufReader<File>, BackupError> {
    let file = File::open(path).map_err(BackupError::file(path, "open it"))?;
    Ok(BufReader::with_capacity(1 << 20, file))
}

/// Reads all of a backup and proves its checksums. Its contents can be trusted afterwards.
pub(crate) fn read_all(
    path: &Path,
    reader: &mut FrameReader<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Contents, BackupError> {
    let total = path.metadata().map_err(BackupError::file(path, "read its metadata"))?.len();
    let contents = survey(reader, &mut |done| progress(Progress { done, total }))
        .map_err(|fault| BackupError::fault(path, fault))?;
    let unknown = Options::default().take_over(&contents.root).err();
    let wrong = match unknown {
        Some(what) => Some(format!("this version does not know the {what} in its root")),
        None => contents
            .root
            .file_bytes()
            .is_none()
            .then(|| "its root is not valid for an index".into()),
    };
    match wrong {
        Some(why) => Err(BackupError::Damaged { path: path.into(), why }),
        None => schema_of(path, &contents).map(|_| contents),
    }
}

/// Returns the fields of a backup.
fn schema_of(path: &Path, contents: &Contents) -> Result<Schema, BackupError> {
    let mut options = Options::default();
    // A root that this version does not know was refused before.
    let _ = options.take_over(&contents.root);
    options.empty_schema().with_list(&contents.fields).map_err(|error| {
        let why = format!("its list of fields is not valid: {error}");
        BackupError::Damaged { path: path.into(), why }
    })
}

/// A part that is verified.
struct Verifier<'a> {
    root: &'a Root,
    fields: Schema,
    geometry: Geometry,
    number: usize,
    path: &'a Path,
}

impl<'a> Verifier<'a> {
    fn new(
        contents: &'a Contents,
        number: usize,
        path: &'a Path,
    ) -> Result<Verifier<'a>, BackupError> {
        let root = &contents.root;
        let settings = root.settings();
        let geometry = settings.and_then(Geometry::new).map_err(OpenError::from)?;
        let fields = schema_of(path, contents)?;
        Ok(Verifier { root, fields, geometry, number, path })
    }

    /// Reserves address space for a whole part. Only touched pages take memory, until the region is
    /// dropped.
    fn region(&self) -> Result<Region, OpenError> {
        Region::reserve(self.root.nvm_bytes, Residency::OnTouch).map_err(OpenError::from)
    }

    fn segments(
        &self,
        reader: &mut FrameReader<'_>,
        contents: &PartContents,
        report: &mut Report,
    ) -> Result<(), BackupError> {
        check_rings(&self.geometry, contents).map_err(|error| self.failed(error))?;
        let mut before = None;
        for segment in &contents.segments {
            let (region, door) = (self.region()?, Door::new(Barrier::Order));
            Target::new(&region, &door, &self.geometry)
                .put_segment(reader, segment, contents.row_end())
                .map_err(|error| self.failed(error))?;
            let part = part(&region, self.root, false)?;
            let mut checked = part.check_segment(segment.position(), before);
            check_kinds(&self.fields, &mut checked);
            self.take(report, checked);
            before = Some(segment.entry);
        }
        Ok(())
    }

    fn log(
        &self,
        reader: &mut FrameReader<'_>,
        contents: &PartContents,
        report: &mut Report,
    ) -> Result<(), BackupError> {
        let (region, door) = (self.region()?, Door::new(Barrier::Order));
        let target = Target::new(&region, &door, &self.geometry);
        let put =
            target.put_newest(contents).and_then(|()| target.put_log(reader, contents, |_| true));
        put.map_err(|error| self.failed(error))?;
        // A restored index's root says that it was closed.
        let root = Root { state: CLOSED, ..*self.root };
        self.take(report, part(&region, &root, false)?.check_log(contents.newest));
        Ok(())
    }

    fn take(&self, report: &mut Report, checked: Checked) {
        let start = PARTS_START + self.number as u64 * self.root.nvm_bytes;
        report.take(Some(self.number), start, checked);
    }

    fn failed(&self, error: PutError) -> BackupError {
        BackupError::put(self.path, self.number, error)
    }
}
