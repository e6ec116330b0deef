//! What is said about the work, on standard error.

use std::fmt::Display;
use std::io::{self, Write};

use spirit_forms::escape::escaped;

/// One line on standard error. If that is closed there is nobody left to tell.
pub(crate) fn note(message: impl Display) {
    report(format_args!("spirit: {message}"));
}

/// One line on standard error, without the program's name: `FILE:LINE: reason`. It is written at once, so that a kill, or another
/// process that writes there, leaves no part of it. It may quote a document: nothing in it acts on a terminal.
pub(crate) fn report(message: impl Display) {
    let line = format!("{}\n", escaped(&message.to_string()));
    let _ = io::stderr().lock().write_all(line.as_bytes());
}
