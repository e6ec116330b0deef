//! Recovery of the state in the second tier at a start. Import of terms to DRAM after it, and their
//! shedding.

pub mod import;
pub(crate) mod packed_import;
pub mod recover;
pub mod shed;
