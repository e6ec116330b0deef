//! The checks of this repository, as code: what CI runs and a contributor runs is one command.
//!
//! `cargo xtask test` is everything, in the order of [`plan`]; `cargo xtask tidy` is the part that
//! reads the tree and compiles nothing; `cargo xtask [seeded]` checks the tests themselves. It builds
//! nothing that ships and measures nothing.
#![forbid(unsafe_code)]

mod files;
mod plan;
mod process;
mod run;
mod seeded;
mod surface;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use plan::Options;

const USAGE: &str = "\
usage: cargo xtask test [--quick] [--long]
       cargo xtask tidy
       cargo xtask surface [--write]
       cargo xtask seeded [--only NAME...]

  test     every check there is, stopping at the first that fails
           --quick  only tidy, fmt, clippy and the tests
           --long   more cases, longer streams, and fuzzing beyond the replay
  tidy     what can be checked by reading: headers, unsafe, layers, links, words, sizes
  surface  compare the public items of the crate spirit with the stored list
           --write  write the list again
  seeded   put one bug at a time into a copy of the source; the tests must find each
           --only NAME...  only these bugs";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let root = root();
    match words.as_slice() {
        ["test", flags @ ..] => match options(flags) {
            Ok(options) => run::test(&root, options),
            Err(unknown) => wrong_usage(&format!("unknown option {unknown}")),
        },
        ["tidy"] => run::tidy(&root),
        ["surface"] => surface::run(&root, false),
        ["surface", "--write"] => surface::run(&root, true),
        ["surface", ..] => wrong_usage("surface takes only --write"),
        ["seeded"] => seeded::run(&root, &[]),
        ["seeded", "--only", names @ ..] if !names.is_empty() => seeded::run(&root, names),
        ["seeded", ..] => wrong_usage("seeded takes only --only and names"),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        [] => wrong_usage("which check?"),
        words => wrong_usage(&format!("no such command: {}", words.join(" "))),
    }
}

fn options(flags: &[&str]) -> Result<Options, String> {
    let mut options = Options::default();
    for &flag in flags {
        match flag {
            "--quick" => options.quick = true,
            "--long" => options.long = true,
            unknown => return Err(unknown.into()),
        }
    }
    Ok(options)
}

fn wrong_usage(what: &str) -> ExitCode {
    eprintln!("xtask: {what}\n\n{USAGE}");
    ExitCode::from(2)
}

/// The root of the project: two above this crate, which Cargo names when it runs us.
fn root() -> PathBuf {
    match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(manifest) => PathBuf::from(manifest).ancestors().skip(2).take(1).collect(),
        None => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_combine_and_a_misspelt_one_is_refused() {
        let long = Options { long: true, ..Options::default() };
        assert_eq!(options(&["--long"]), Ok(long));
        assert_eq!(options(&["--long", "--quick"]), Ok(Options { quick: true, ..long }));
        assert_eq!(options(&["--slow"]), Err("--slow".into()));
    }
}
