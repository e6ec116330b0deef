//! Power cuts from end to end, on a structure that is small enough to see through: the correct protocol survives every
//! image, and each planted bug is found. What is found here in a toy is what the simulator is for in the engine.
#![forbid(unsafe_code)]

mod bugs;
mod judge;
mod recovery;
mod run;
mod toy;
