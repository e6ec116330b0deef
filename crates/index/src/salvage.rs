//! Salvage: a damaged part becomes one that can be [copied](crate::backup). Damaged data is removed
//! from it and reported.
//!
//! The part is a private mapping, so stores need no order and no fence, and the file does not
//! change.
//!
//! | file | noun |
//! |---|---|
//! | `segments` | segments: each is kept whole, or replaced by an empty one |
//! | `empty` | a segment without rows |
//! | `log` | the log: its whole records, one behind the other |
//!
//! Salvage keeps the parts that checksums prove and in which [`check`](crate::check) finds no
//! fault. Death stamps have no checksum: a stamped row stays dead, even if the operation that
//! killed it is lost.

mod empty;
mod log;
mod segments;

use spirit_door::{Barrier, Door};
use spirit_mem::Region;

use crate::check::{Logged, Part};
use crate::form::root::Root;
use crate::ground::corrupt::Corrupt;
use crate::ground::geometry::{Geometry, GeometryError};
use crate::ground::layout::NvmLayout;

pub use log::Groups;

/// Data that was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The data, its place in the part, and its damage.
    pub what: Corrupt,
    /// Upper bound of the documents in it; `None` if that is unknown.
    pub documents_max: Option<u64>,
}

/// A part that is being salvaged, mapped from offset 0 of a private region.
pub struct Salvage<'a> {
    region: &'a Region,
    root: &'a Root,
    logged: Option<Logged>,
    geometry: Geometry,
    layout: NvmLayout,
    door: Door,
    missing: Vec<Missing>,
}

impl<'a> Salvage<'a> {
    /// Makes the salvage of the part in `region` of an index with this root. `logged` is as for
    /// [`Part::new`].
    pub fn new(
        region: &'a Region,
        root: &'a Root,
        logged: Option<Logged>,
    ) -> Result<Salvage<'a>, GeometryError> {
        let geometry = Geometry::new(root.settings()?)?;
        let layout = geometry.nvm.expect("the settings have a second tier");
        let door = Door::new(Barrier::Order);
        Ok(Salvage { region, root, logged, geometry, layout, door, missing: Vec::new() })
    }

    /// Returns the data that was lost.
    pub fn into_missing(self) -> Vec<Missing> {
        self.missing
    }

    fn part(&self) -> Part<'a> {
        Part::new(self.region, self.root, self.logged, false)
            .expect("the geometry was checked before")
    }

    fn lose(&mut self, what: Corrupt, documents_max: Option<u64>) {
        self.missing.push(Missing { what, documents_max });
    }
}
