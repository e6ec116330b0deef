//! Recovery of the state in the second tier at a start. Import of terms to DRAM after it, and their
//! shedding.

pub(crate) mod import;
pub(crate) mod packed_import;
pub mod recover;
pub(crate) mod shed;

pub use import::Importer;
pub use shed::{Progress, Shed};
