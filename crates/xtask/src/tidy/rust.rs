//! Checks of one Rust file.

use super::Finding;
use super::masked::{Masked, has_word};

/// Where unsafe code may be: the basement, and tests that put an allocator or a system call in the way.
const UNSAFE_ALLOWED: [&str; 3] = ["crates/mem/", "crates/kernel/", "crates/spirit/tests/"];

const LINES_MAX: usize = 700;
const LINES_WARNED: usize = 500;

/// Every file says first what it is for.
pub(super) fn no_header(path: &str, source: &str) -> Option<Finding> {
    let first = source.lines().next().unwrap_or_default();
    let text = first.strip_prefix("//!").map(str::trim);
    if text.is_some_and(|text| !text.is_empty()) {
        return None;
    }
    Some(Finding::at(
        path,
        1,
        "no header; open the file with `//!` and what it is, and why it exists",
    ))
}

/// Macros of work that was left for later, and what to do about them.
const UNFINISHED: &str = include_str!("unfinished.txt");

/// Work that was left for later.
pub(super) fn unfinished(path: &str, code: &Masked) -> Vec<Finding> {
    let macros = || UNFINISHED.lines().filter_map(|line| line.split_once(": "));
    let mut findings = Vec::new();
    for (number, line) in code.lines() {
        for (word, what) in macros() {
            if has_word(line, word) {
                findings.push(Finding::at(path, number, format!("`{word}`; {what}")));
            }
        }
        if ignores(line) {
            let what = "an ignored test; make it pass or small enough to run, or delete it";
            findings.push(Finding::at(path, number, what));
        }
    }
    findings
}

/// Whether an attribute takes a test out of every run. On condition (`cfg_attr`) it may.
fn ignores(line: &str) -> bool {
    let squeezed: String = line.split_whitespace().collect();
    let mut attributes = squeezed.split("#[").skip(1).filter_map(|a| a.strip_prefix("ignore"));
    attributes.any(|rest| rest.starts_with([']', '=']))
}

/// Unsafe code lives in the basement.
pub(super) fn unsafe_upstairs(path: &str, code: &Masked) -> Vec<Finding> {
    if UNSAFE_ALLOWED.iter().any(|allowed| path.starts_with(allowed)) {
        return Vec::new();
    }
    let lines = code.lines().filter(|(_, line)| has_word(line, "unsafe"));
    let what = "unsafe code; give `mem` or `kernel` a safe function that does this";
    lines.map(|(number, _)| Finding::at(path, number, what)).collect()
}

/// Whether `path` is the `lib.rs` or `main.rs` of a crate; `paths` are all files, sorted.
pub(super) fn is_crate_root(path: &str, paths: &[String]) -> bool {
    let folder = ["src/lib.rs", "src/main.rs"].iter().find_map(|root| path.strip_suffix(root));
    let Some(folder) = folder else { return false };
    paths.binary_search(&format!("{folder}Cargo.toml")).is_ok()
}

/// Above the basement the compiler holds the line too, against macros that write unsafe code.
pub(super) fn not_forbidding_unsafe(path: &str, code: &Masked) -> Option<Finding> {
    if UNSAFE_ALLOWED.iter().any(|allowed| path.starts_with(allowed)) {
        return None;
    }
    let forbids =
        |line: &str| line.trim_start().starts_with("#![forbid(") && has_word(line, "unsafe_code");
    if code.lines().any(|(_, line)| forbids(line)) {
        return None;
    }
    Some(Finding::at(
        path,
        1,
        "unsafe code is not ruled out; add `#![forbid(unsafe_code)]` below the header",
    ))
}

/// How long a file is, as a verdict.
pub(super) enum Length {
    Fine,
    Long(Finding),
    TooLong(Finding),
}

pub(super) fn length(path: &str, source: &str) -> Length {
    let lines = source.lines().count();
    if !path.starts_with("crates/") || lines <= LINES_WARNED {
        return Length::Fine;
    }
    let what = format!(
        "{lines} lines (at most {LINES_MAX}); find the second noun in it and give that a file"
    );
    let finding = Finding::at(path, lines, what);
    if lines > LINES_MAX { Length::TooLong(finding) } else { Length::Long(finding) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(findings: Vec<Finding>) -> Vec<usize> {
        findings.into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_header_is_the_first_line_and_says_something() {
        assert_eq!(no_header("a.rs", "//! Why.\n"), None);
        for bad in
            ["", "\n//! Late.\n", "//!\n", "// Not a doc.\n", "/// Of an item.\n", "mod a;\n"]
        {
            assert!(no_header("a.rs", bad).is_some(), "{bad:?}");
        }
    }

    #[test]
    fn unfinished_code_is_found_and_talk_about_it_is_not() {
        let source = include_str!("unfinished_sample.txt");
        assert_eq!(numbers(unfinished("a.rs", &Masked::of(source))), [1, 4, 5, 6, 9]);
    }

    #[test]
    fn unsafe_code_is_found_outside_the_basement_only() {
        let code = Masked::of(include_str!("upstairs_sample.txt"));
        assert_eq!(numbers(unsafe_upstairs("crates/text/src/a.rs", &code)), [3]);
        assert_eq!(numbers(unsafe_upstairs("crates/text/tests/a.rs", &code)), [3]);
        assert!(unsafe_upstairs("crates/mem/src/a.rs", &code).is_empty());
        assert!(unsafe_upstairs("crates/spirit/tests/a.rs", &code).is_empty());
    }

    #[test]
    fn a_crate_root_forbids_unsafe_code_in_code() {
        let missing =
            |path: &str, source: &str| not_forbidding_unsafe(path, &Masked::of(source)).is_some();
        assert!(!missing("crates/text/src/lib.rs", "//! a\n\n#![forbid(unsafe_code)]\n"));
        assert!(!missing("crates/mem/src/lib.rs", "//! a\n"));
        assert!(missing("crates/text/src/lib.rs", "//! `#![forbid(unsafe_code)]`\n"));
        assert!(missing("crates/text/src/lib.rs", "// #![forbid(unsafe_code)]\n"));
        assert!(missing("crates/text/src/lib.rs", "#![deny(unsafe_code)]\n"));
    }

    #[test]
    fn crate_roots_are_beside_a_manifest() {
        let paths: Vec<String> =
            ["crates/text/Cargo.toml", "peers/x/Cargo.toml"].map(String::from).into();
        assert!(is_crate_root("crates/text/src/lib.rs", &paths));
        assert!(is_crate_root("peers/x/src/main.rs", &paths));
        assert!(!is_crate_root("crates/text/src/scan.rs", &paths));
        assert!(!is_crate_root("crates/text/src/inner/src/lib.rs", &paths));
    }

    #[test]
    fn length_warns_and_then_fails_and_only_for_crates() {
        let lines = |count: usize| "x\n".repeat(count);
        assert!(matches!(length("crates/a.rs", &lines(500)), Length::Fine));
        assert!(matches!(length("crates/a.rs", &lines(501)), Length::Long(_)));
        assert!(matches!(length("crates/a.rs", &lines(700)), Length::Long(_)));
        assert!(matches!(length("crates/a.rs", &lines(701)), Length::TooLong(_)));
        assert!(matches!(length("peers/a.rs", &lines(701)), Length::Fine));
    }
}
