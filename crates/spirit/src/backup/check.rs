//! Checks of an index's file against what was stored there: `spirit check`.

use std::path::Path;

use spirit_index::check::{Checked, Logged, Part};
use spirit_index::form::field_list;
use spirit_index::form::root;
use spirit_index::form::root::Root;
use spirit_index::ground::Corrupt as Damage;
use spirit_index::ground::ROOT_BYTES;
use spirit_mem::Region;
use spirit_schema::Schema;

use crate::backup::image::{Image, is_logged};
use crate::backup::report::Report;
use crate::config::error::OpenError;
use crate::index::Index;
use crate::storage::fields::read_beside_writer;
use crate::storage::trust::CLOSED;

impl Index {
    /// Checks the index in `directory`, as far as its file alone can tell.
    ///
    /// It changes nothing, recovers nothing, and keeps no process out. A process may have the index
    /// open for writing, or open it meanwhile. Then only the parts that do not change are checked.
    ///
    /// Two kinds of damage are not found. Death stamps have no checksums. If the index was not
    /// closed, a lost last log record looks like one that was never written whole.
    ///
    /// # Errors
    /// If there is no file to check, or if its root cannot be read.
    pub fn check(directory: impl AsRef<Path>) -> Result<Report, OpenError> {
        check_file(&directory.as_ref().join("heap"))
    }
}

/// Checks the file at `path`, like [`Index::check`].
pub(crate) fn check_file(path: &Path) -> Result<Report, OpenError> {
    loop {
        let image = Image::open(path)?;
        let report = check_image(&image);
        // A difference is no damage if a writer has started meanwhile.
        if image.in_use || !image.has_changed() {
            return report;
        }
    }
}

fn check_image(image: &Image) -> Result<Report, OpenError> {
    let closed = image.root.state == CLOSED;
    let mut report = Report { in_use: image.in_use, closed, ..Report::default() };
    let mut findings = root::check(&image.region);
    findings.extend(check_fields(image));
    report.take(None, 0, Checked { findings, ..Checked::default() });
    for executor in 0..image.root.executors {
        let region = image.part(executor)?;
        let mut checked = part(&region, &image.root, image.in_use)?.check();
        // After the segments: their columns are known now, and every field that they name was in
        // the list before.
        if let Some(schema) = schema_of(image) {
            check_kinds(&schema, &mut checked);
        }
        report.take(Some(executor as usize), image.part_start(executor), checked);
        report.executors += 1;
    }
    Ok(report)
}

/// Finds errors in the list of fields. The process that has the index open may be overwriting the
/// older list.
fn check_fields(image: &Image) -> Vec<Damage> {
    let (region, generation_min) = (&image.region, image.root.fields);
    let list = match read_beside_writer(region, generation_min) {
        Ok(list) if image.in_use => list,
        read => {
            let found = field_list::check(region, generation_min);
            let (Ok(list), []) = (read, &found[..]) else { return found };
            list
        }
    };
    let malformed = image.options.empty_schema().with_list(&list.bytes).err();
    let why = "it names a field that this version does not know, or an invalid one";
    malformed.map(|_| Damage { what: "list of fields", at: ROOT_BYTES, why }).into_iter().collect()
}

/// Returns the newest fields; none if the list cannot be read, which `check_fields` has reported.
fn schema_of(image: &Image) -> Option<Schema> {
    let list = read_beside_writer(&image.region, image.root.fields).ok()?;
    image.options.empty_schema().with_list(&list.bytes).ok()
}

/// Finds columns of unknown fields, and columns whose kind differs from their field's.
pub(crate) fn check_kinds(schema: &Schema, checked: &mut Checked) {
    for ((field, kind), at) in &checked.columns {
        if !schema.may_hold(*field, *kind) {
            let why = "its values have another kind than its field";
            checked.findings.push(Damage { what: "column", at: *at, why });
        }
    }
}

/// Returns the part in `region`, for an index with this root.
pub(crate) fn part<'a>(
    region: &'a Region,
    root: &Root,
    in_use: bool,
) -> Result<Part<'a>, OpenError> {
    let logged = is_logged(root).then_some(Logged {
        salt: root.salt as u32,
        incarnation: root.incarnation as u32,
        closed: root.state == CLOSED,
    });
    Part::new(region, root, logged, in_use).map_err(OpenError::from)
}
