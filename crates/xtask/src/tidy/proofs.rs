//! Tests that Markdown names are there.
//!
//! A link whose text is one name in code, as in ``[`name`](file.rs)``, says that the file has a function of that name. Tests get other
//! names, and what says which test holds something is to be true then too.

use super::Finding;

/// The functions that `content` names and that are not in the file that the link leads to; `read` has the content of a file
/// beside the one that is looked at, if there is one.
pub(super) fn missing(
    path: &str,
    content: &str,
    read: impl Fn(&str) -> Option<String>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(content.lines()) {
        for (name, target) in named(line) {
            // A link that leads nowhere is another check's matter.
            if read(target).is_some_and(|file| !has_function(&file, name)) {
                let what = format!("{target} has no function {name}; say what it is called now");
                findings.push(Finding::at(path, number, what));
            }
        }
    }
    findings
}

/// The functions that a line names, and where they are to be.
fn named(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split("[`").skip(1).filter_map(|rest| {
        let (name, rest) = rest.split_once("`](")?;
        let (target, _) = rest.split_once(')')?;
        (is_function(name) && target.ends_with(".rs")).then_some((name, target))
    })
}

/// Whether it can be one: a type or a macro is called otherwise.
fn is_function(name: &str) -> bool {
    name.contains('_')
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn has_function(file: &str, name: &str) -> bool {
    let declared = format!("fn {name}");
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    file.match_indices(&declared).any(|(at, _)| ends(&file[at + declared.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_there_is_found() {
        let read =
            |target: &str| (target == "a.rs").then(|| "fn one_two() {}\nfn one_twos()".into());
        let lines = |content: &str| {
            let found = missing("docs/a.md", content, read).into_iter();
            found.map(|finding| finding.line).collect::<Vec<_>>()
        };
        assert_eq!(lines("[`one_two`](a.rs), [`one_twos`](a.rs)\n[`one_tw`](a.rs)"), [2]);
        assert_eq!(lines("[`two_one`](a.rs) and [`one`](a.rs) [`One_two`](a.rs)"), [1]);
        assert_eq!(lines("`two_one` [two_one](a.rs) [`two_one`](b.rs) [`two_one`](a.md)"), [0; 0]);
    }
}
