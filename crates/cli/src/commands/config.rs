//! `spirit config`: the server's settings in force, and where each is from.

use std::io::Write;

use super::serve::in_force;
use crate::args::ServeArgs;
use crate::failure::Failure;

pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let in_force = in_force(args)?;
    let mut out = std::io::stdout().lock();
    for (name, value, origin) in in_force.lines() {
        writeln!(out, "{name:<18} {value:<24} {origin}")?;
    }
    Ok(())
}
