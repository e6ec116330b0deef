//! The foundation: ids, words, terms, and the division of memory and file.

pub mod blocks;
pub mod corrupt;
pub mod damage;
pub mod footing;
pub mod geometry;
pub mod ids;
pub mod layout;
pub mod line_table;
pub mod posting;
pub mod roots;
pub mod section;
pub mod slot;
pub mod term;
pub mod values;
