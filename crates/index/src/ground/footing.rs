//! What an executor's memory stands on.

use std::sync::Arc;

use spirit_mem::{Pins, Region};

use crate::ground::geometry::Geometry;

/// A region, how it is divided, and the slots of its readers.
pub struct Footing {
    /// The memory.
    pub region: Region,
    /// Where everything is in it.
    pub geometry: Geometry,
    /// The readers' slots.
    pub pins: Arc<Pins>,
}
