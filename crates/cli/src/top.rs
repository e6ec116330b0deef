//! `spirit top`: what a server does now. A sample is taken, compared with the one before, and shown.

mod figures;
mod sample;
mod screen;
mod source;
mod view;

pub(crate) use sample::Sample;
pub(crate) use screen::{Screen, Wish};
pub(crate) use source::{Server, Trust};
pub(crate) use view::{Order, View};
