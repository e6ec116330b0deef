//! What can be checked by reading the tree, each check in a file of its own and a pure function.
//!
//! A finding names a place and what to do there. Style that a formatter or a lint can hold is left
//! to them.

mod circles;
mod layers;
mod links;
mod masked;
mod modules;
mod proofs;
mod rooms;
mod rust;
mod text;
mod words;

use std::fmt;
use std::io;
use std::path::Path;

use crate::files;
use masked::Masked;
use modules::Modules;

/// Something to change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    /// From one.
    line: usize,
    what: String,
}

impl Finding {
    fn at(path: &str, line: usize, what: impl Into<String>) -> Finding {
        Finding { path: path.into(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// All that was found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// How many files were looked at.
    pub(crate) files: usize,
    pub(crate) findings: Vec<Finding>,
    /// Not yet a failure.
    pub(crate) warnings: Vec<Finding>,
}

/// Checks the project at `root`.
pub(crate) fn check(root: &Path) -> io::Result<Report> {
    let paths = files::of_project(root)?;
    let mut report = Report { files: paths.len(), ..Report::default() };
    let mut sources = Vec::new();
    for path in &paths {
        report.findings.extend(text::too_large(path, root.join(path).metadata()?.len()));
        let content = match String::from_utf8(std::fs::read(root.join(path))?) {
            Ok(content) => content,
            // It is no text.
            Err(other) => {
                let bytes = String::from_utf8_lossy(other.as_bytes());
                report.findings.extend(text::machine_paths(path, &bytes));
                report.findings.extend(text::left_over(path));
                continue;
            }
        };
        check_file(path, &content, &paths, &mut report);
        if path.ends_with(".rs") {
            sources.push((path.clone(), content));
        } else if path.ends_with(".md") {
            let folder = root.join(path).parent().map(Path::to_owned).unwrap_or_default();
            let beside = |target: &str| std::fs::read_to_string(folder.join(target)).ok();
            report.findings.extend(proofs::missing(path, &content, beside));
        }
    }
    for (name, modules) in &Modules::of_crates(&sources) {
        report.findings.extend(circles::check(modules));
        report.findings.extend(rooms::upwards(name, modules));
    }
    report.findings.extend(layers::check(root)?);
    report.findings.sort();
    Ok(report)
}

/// Checks one file of text; `paths` are all files, sorted.
fn check_file(path: &str, content: &str, paths: &[String], report: &mut Report) {
    let findings = &mut report.findings;
    findings.extend(text::machine_paths(path, content));
    if path.ends_with(".rs") || path.ends_with(".md") {
        findings.extend(words::banned(path, content));
    }
    if path.ends_with(".md") {
        findings.extend(links::dead(path, content, paths));
        return;
    }
    findings.extend(text::reminders(path, content));
    if !path.ends_with(".rs") {
        return;
    }
    let code = Masked::of(content);
    findings.extend(rust::no_header(path, content));
    findings.extend(rust::unfinished(path, &code));
    findings.extend(rust::unsafe_upstairs(path, &code));
    if rust::is_crate_root(path, paths) {
        findings.extend(rust::not_forbidding_unsafe(path, &code));
    }
    match rust::length(path, content) {
        rust::Length::Fine => {}
        rust::Length::Long(finding) => report.warnings.push(finding),
        rust::Length::TooLong(finding) => findings.push(finding),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_as_a_place_and_what_to_do() {
        let finding = Finding::at("crates/mem/src/lib.rs", 7, "write it");
        assert_eq!(finding.to_string(), "crates/mem/src/lib.rs:7: write it");
    }

    #[test]
    fn each_kind_of_file_gets_its_checks() {
        let found = |path: &str, content: &str| {
            let mut report = Report::default();
            check_file(path, content, &["crates/text/Cargo.toml".into(), path.into()], &mut report);
            report.findings.into_iter().map(|finding| finding.line).collect::<Vec<_>>()
        };
        // No header, and no `forbid`.
        assert_eq!(found("crates/text/src/lib.rs", "mod a;\n"), [1, 1]);
        let unfinished = format!("//! Why.\n{}", include_str!("unfinished_sample.txt"));
        assert_eq!(found("crates/text/src/a.rs", &unfinished), [2, 5, 6, 7, 10]);
        assert_eq!(found("README.md", "mod a;\n\n[a](b.md)\n"), [3]);
    }
}
