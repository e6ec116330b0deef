//! The `spirit` command: real-time full-text search from a shell.
//!
//! What was typed is in [`args`], what it means in [`settings`]; each command is a file of
//! [`commands`]. The engine is the `spirit` crate; nothing here knows how it works. Documents,
//! questions and answers have the forms of the crate `spirit-forms`.
#![forbid(unsafe_code)]

mod answer;
mod args;
mod asked;
mod choice;
mod chunk;
mod commands;
mod config;
mod demo;
mod directory;
mod document;
mod facets;
mod failure;
mod format;
mod full;
mod input;
mod interrupt;
mod kept;
mod layout;
mod load;
mod logfmt;
mod made;
mod misfits;
mod note;
mod output;
mod progress;
mod queries;
mod query_threads;
mod refusals;
mod rejects;
mod report;
mod resume;
mod room;
mod schema;
mod settings;
mod snippets;
mod stats;
mod terminal;
mod top;
mod totals;
mod values;
mod web;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match commands::run(args::Args::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.exit(),
    }
}
