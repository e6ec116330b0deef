//! The parts that an executor's memory is built on.

use std::sync::Arc;

use spirit_mem::{Pins, Region};

use crate::ground::geometry::Geometry;

/// A region, its layout, and the slots of its readers.
pub struct Footing {
    /// The memory.
    pub region: Region,
    /// The layout of the memory.
    pub geometry: Geometry,
    /// The readers' slots.
    pub pins: Arc<Pins>,
}
