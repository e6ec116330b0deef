//! Posting lists: growing ones, block maxima and packed ones.

pub mod list;
pub mod maxima;
pub mod packed;
