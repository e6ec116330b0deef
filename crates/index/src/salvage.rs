//! A damaged part becomes one that can be [copied](crate::backup): what is not what was stored is taken out of it, and said.
//!
//! The part is a mapping of its own, which nobody else sees, so nothing needs an order or a fence, and the file stays as it is.
//!
//! | file | noun |
//! |---|---|
//! | `segments` | segments: each is kept whole, or an empty one takes its place |
//! | `empty` | a segment without rows |
//! | `log` | the log: the whole records in it, one behind the other |
//!
//! Salvage keeps the parts that checksums prove and in which [`check`](crate::check) finds nothing wrong. Death stamps have no
//! checksum: a row that is stamped stays dead, also if the operation that killed it is lost.

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

/// Something that is not there any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What, where in the part, and what was wrong with it.
    pub what: Corrupt,
    /// Documents that were in it, at most; none if that is unknown.
    pub documents_max: Option<u64>,
}

/// A part that is salvaged, mapped from offset 0 of a region that nobody else sees.
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
    /// The part in `region` of an index with this root; `logged` as for [`Part::new`].
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

    /// The damage that was taken out.
    pub fn into_missing(self) -> Vec<Missing> {
        self.missing
    }

    fn part(&self) -> Part<'a> {
        Part::new(self.region, self.root, self.logged, false).expect("the geometry was made before")
    }

    fn lose(&mut self, what: Corrupt, documents_max: Option<u64>) {
        self.missing.push(Missing { what, documents_max });
    }
}
