//! Stages after the ingest role: segments are flushed, engraved, merged and dropped.

pub(crate) mod background;
pub(crate) mod background_stage;
pub(crate) mod flush_stage;
pub(crate) mod key_import;
pub(crate) mod late;
pub(crate) mod lease;
pub(crate) mod merging;
pub(crate) mod placement;
