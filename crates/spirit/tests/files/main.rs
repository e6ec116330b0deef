//! Indexes in files: starts, copies, followers, loads, and damage.

mod backup;
mod bulk;
mod check;
mod creation;
mod follower;
mod format;
mod groups;
mod hostile;
mod persistence;
mod references;
mod salvage;
mod untouched;
mod verified;

#[path = "../damage/mod.rs"]
mod damage;
#[path = "../support/mod.rs"]
mod support;
