//! Disks: full, failing, copied, and in other machines. These tests run programs that make file systems.

mod copies;
mod failing_disk;
mod full_disk;
mod trust;

#[path = "../support/mod.rs"]
mod support;
