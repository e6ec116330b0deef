//! What a start finds, and how terms come to DRAM after it and leave it.

pub mod import;
pub(crate) mod packed_import;
pub mod recover;
pub mod shed;
