//! `spirit completions`: a shell completes what can be typed.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs};
use crate::failure::Failure;
use crate::output::out;

pub(crate) fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    // To memory first: the generator panics where a pipe is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "spirit", &mut script);
    let mut out = out();
    out.write_all(&script)?;
    Ok(out.flush()?)
}
