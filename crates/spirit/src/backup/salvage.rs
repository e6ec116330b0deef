//! Makes a new index from the whole parts of a damaged one, and lists the lost parts.
//!
//! The file is mapped copy-on-write. [`spirit_index::salvage`] removes the damaged parts from that
//! mapping. The rest is copied like a backup and restored. So all of it is proved again, and
//! checked before the new index gets its name.

use std::path::Path;

use spirit_index::check::Logged;
use spirit_index::salvage;
use spirit_index::salvage::{Groups, Salvage};
use spirit_mem::Region;

use crate::backup::error::BackupError;
use crate::backup::image::{Image, is_logged};
use crate::backup::make::{How, copy};
use crate::backup::new_file::NewFile;
use crate::backup::report::Report;
use crate::backup::{Backup, Progress};
use crate::config::corrupt::Corrupt;
use crate::config::error::OpenError;
use crate::index::Index;
use crate::storage::fields::{damaged, read_beside_writer};
use crate::storage::trust;
use crate::storage::trust::CLOSED;

impl Index {
    /// Copies the whole parts of the damaged index in `directory` to a new index in `out`. Calls
    /// `progress` often. The damaged index is not changed.
    ///
    /// Whole segments are copied, and whole log records, even behind damaged ones. A document is
    /// copied with its key, fields and text, or not at all. Rows that died in a segment stay dead,
    /// even if the operation that killed them is lost. If the log has lost a deletion or a
    /// replacement, an older version in the log becomes visible again. `docs/backup.md` has the
    /// rules.
    ///
    /// The report counts what the new index has. Segments that lost all their rows still count as
    /// segments. [`Report::findings`] lists the lost parts.
    ///
    /// # Errors
    /// If a process has the index open. If the root or the list of fields cannot be read. If `out`
    /// holds an index. If there is not enough space. Nothing is left then.
    pub fn salvage(
        directory: impl AsRef<Path>,
        out: impl AsRef<Path>,
        mut progress: impl FnMut(Progress),
    ) -> Result<Report, BackupError> {
        let (heap, out) = (directory.as_ref().join("heap"), out.as_ref());
        let image = Image::open_private(&heap)?;
        check_alone(&image)?;
        let doubt = trust::check(&image.file, &image.options, &image.root).err();
        let regions: Vec<Region> =
            (0..image.root.executors).map(|number| image.part(number)).collect::<Result<_, _>>()?;
        let findings = take_out_damage(&image, &regions)?;
        let made = through_backup(&image, &regions, out, &mut progress)?;
        check_alone(&image)?;
        Ok(Report { findings, doubt: doubt.map(|error| error.to_string()), ..made })
    }
}

/// Refuses an index that a writer has open or has opened since: its parts may have changed.
fn check_alone(image: &Image) -> Result<(), OpenError> {
    if image.in_use || image.has_changed() {
        return Err(OpenError::Locked { path: image.path() });
    }
    Ok(())
}

fn take_out_damage(image: &Image, regions: &[Region]) -> Result<Vec<Corrupt>, BackupError> {
    let root = &image.root;
    let list = read_beside_writer(&image.region, root.fields);
    let list = list.map_err(|what| damaged(&image.path(), &what))?;
    let schema = image.options.empty_schema().with_list(&list.bytes);
    let schema = schema.map_err(|error| {
        let why = format!("its list of fields is not valid: {error}");
        OpenError::Root { path: image.path(), why }
    })?;
    let logged = is_logged(root).then_some(Logged {
        salt: root.salt as u32,
        incarnation: root.incarnation as u32,
        closed: root.state == CLOSED,
    });
    let (mut missing, mut groups) = (Vec::new(), Groups::default());
    for (executor, region) in regions.iter().enumerate() {
        let mut part = Salvage::new(region, root, logged).map_err(OpenError::from)?;
        part.segments(&|checked| crate::backup::check::check_kinds(&schema, checked));
        groups = part.log(groups, &|fields| schema.admits(fields));
        let start = image.part_start(executor as u64);
        let place = |lost: salvage::Missing| Corrupt {
            executor: Some(executor),
            what: lost.what.what,
            at: start + lost.what.at,
            why: lost.what.why,
            documents_max: lost.documents_max,
        };
        missing.extend(part.into_missing().into_iter().map(place));
    }
    Ok(missing)
}

/// Copies the parts to a backup beside the new index, and restores that.
fn through_backup(
    image: &Image,
    regions: &[Region],
    out: &Path,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, BackupError> {
    let mut name = out.as_os_str().to_owned();
    name.push(".salvage");
    let backup = Path::new(&name);
    let heap = out.join("heap");
    if heap.symlink_metadata().is_ok() {
        return Err(BackupError::Exists { path: heap });
    }
    // Copying is a third of the work. The restore, which reads the copy twice, is the rest.
    let mut half = |p: Progress| progress(Progress { done: p.done, total: p.total * 3 });
    let how = How { has_lost_operations: true, ..How::default() };
    let mut file = NewFile::create(backup)?;
    copy(image, &image.root, regions, how, &mut file, &mut half)?;
    file.finish()?;
    let restored = Backup::at(backup)
        .progress(|p| progress(Progress { done: p.total / 2 + p.done, total: p.total / 2 * 3 }))
        .restore(out);
    let removed = std::fs::remove_file(backup).map_err(BackupError::file(backup, "remove it"));
    let restored = restored?;
    removed.map(|()| restored)
}
