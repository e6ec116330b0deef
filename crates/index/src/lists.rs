//! Posting lists: growing ones, block maxima, packed ones.

pub mod list;
pub mod maxima;
pub mod packed;
