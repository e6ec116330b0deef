//! Backups of an index, and checks of an index and its backups.

pub(crate) mod check;
pub(crate) mod error;
pub(crate) mod image;
pub(crate) mod make;
pub(crate) mod new_file;
pub(crate) mod restore;
pub(crate) mod salvage;
pub(crate) mod verify;

pub use check::{Finding, Report, check};
pub use make::{Backup, Progress, backup, backup_watched};
pub use restore::{Restored, restore, restore_watched};
pub use salvage::{Missing, Salvaged, salvage, salvage_watched};
pub use verify::{verify, verify_watched};
