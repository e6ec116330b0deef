//! `spirit top`: what a server, or an index in a directory, does now. A sample is taken, compared with
//! the one before, and shown.

mod directory;
mod figures;
mod sample;
mod screen;
mod server;
mod source;
mod view;

pub(crate) use directory::Directory;
pub(crate) use sample::Sample;
pub(crate) use screen::{Screen, Wish};
pub(crate) use server::{Server, Trust};
pub(crate) use source::Source;
pub(crate) use view::{Order, View};
