//! Indexes in files: starts, copies, followers, loads, full and failing disks, and damage.

mod backup;
mod bulk;
mod check;
mod copies;
mod creation;
mod failing_disk;
mod follower;
mod format;
mod full_disk;
mod groups;
mod hostile;
mod persistence;
mod references;
mod salvage;
mod trust;
mod untouched;
mod verified;

#[path = "../damage/mod.rs"]
mod damage;
#[path = "../support/mod.rs"]
mod support;
