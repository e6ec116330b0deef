//! Disks: full, failing, copied, and in other machines. Tests here run programs, alone in their process: while a process forks, its files are open
//! twice, and other tests would find an index in use that is not.

mod copies;
mod failing_disk;
mod full_disk;
mod trust;

#[path = "../support/mod.rs"]
mod support;
