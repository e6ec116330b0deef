//! Links in Markdown that stay inside the project lead to a file of the project.
//!
//! Inline links, images, reference definitions and `src`/`href` attributes are looked at; code is
//! not, nor are addresses (that would need the network) and the part after `#`.

use super::Finding;

/// The links of `path` that lead nowhere; `paths` are all files, sorted.
pub(super) fn dead(path: &str, content: &str, paths: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut fence = None;
    for (number, line) in (1..).zip(content.lines()) {
        let opens = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, opens) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(inside), Some(mark)) if inside == mark => fence = None,
            (None, None) => {
                let targets =
                    targets(line).into_iter().filter(|target| !leads(path, target, paths));
                findings.extend(targets.map(|target| {
                    let what = format!(
                        "the link to {target} leads to no file of the project; correct or remove it"
                    );
                    Finding::at(path, number, what)
                }));
            }
            _ => {}
        }
    }
    findings
}

/// Where the links of a line lead.
fn targets(line: &str) -> Vec<String> {
    let text = without_code(line);
    let mut targets = Vec::new();
    for (opening, closing) in [("](", ")"), ("src=\"", "\""), ("href=\"", "\"")] {
        for (at, _) in text.match_indices(opening) {
            let rest = &text[at + opening.len()..];
            targets.extend(rest.split_once(closing).map(|(target, _)| target));
        }
    }
    // `[name]: target`
    if let Some((name, target)) = text.trim_start().split_once("]: ")
        && name.starts_with('[')
        && !name.starts_with("[^")
    {
        targets.push(target);
    }
    // A title may follow the target; one with spaces stands in angle brackets.
    let target = |text: &str| match text.trim().strip_prefix('<') {
        Some(rest) => rest.split('>').next().unwrap_or_default().to_owned(),
        None => text.split_whitespace().next().unwrap_or_default().to_owned(),
    };
    targets.into_iter().map(target).collect()
}

/// The line without `code`. A backtick alone is a backtick.
fn without_code(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let spans = (parts.len() - 1) / 2;
    let code = |number: usize| number % 2 == 1 && number < 2 * spans;
    let kept = parts.iter().enumerate().filter(|&(number, _)| !code(number));
    kept.map(|(_, part)| *part).collect()
}

/// True if a link in the file `from` to `target` leads out of the project, or to a file or folder of it.
fn leads(from: &str, target: &str, paths: &[String]) -> bool {
    let file = target.split('#').next().unwrap_or_default();
    if file.is_empty() || has_scheme(file) {
        return true;
    }
    let Some(path) = resolved(from, file) else { return false };
    let inside = |path: &str| {
        let folder = format!("{path}/");
        let at = paths.partition_point(|other| other.as_str() < folder.as_str());
        path.is_empty() || paths.get(at).is_some_and(|other| other.starts_with(&folder))
    };
    paths.binary_search(&path).is_ok() || inside(&path)
}

/// Whether an address begins `scheme:`, or `//` for the same scheme.
fn has_scheme(target: &str) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    target.starts_with("//")
        || scheme.is_some_and(|scheme| {
            !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphabetic())
        })
}

/// `target` seen from the file `from`; `None` if that is outside of the project.
fn resolved(from: &str, target: &str) -> Option<String> {
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    if target.starts_with('/') {
        return None;
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(folders.pop()?),
            part => folders.push(part),
        }
    }
    Some(folders.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead_in(path: &str, content: &str) -> Vec<usize> {
        let mut paths: Vec<String> =
            ["README.md", "docs/format.md", "docs/a b.md", "crates/mem/src/lib.rs"]
                .map(String::from)
                .into();
        paths.sort();
        dead(path, content, &paths).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn files_and_folders_are_found_from_where_the_link_is() {
        let fine = "[a](docs/format.md#x) [b](crates/mem) [c](./crates/) ![d](README.md \"title\") \
                    [e](#here) [f](https://example.org/x) [g](mailto:a@b.c) [h](<docs/a b.md>)";
        assert!(dead_in("README.md", fine).is_empty());
        assert!(dead_in("docs/format.md", "[up](../README.md) [beside](format.md)").is_empty());
    }

    #[test]
    fn dead_links_are_found_in_every_form() {
        let dead = "fine\n[a](format.md)\n[b]: gone.md\n<img src=\"x.svg\">\n[c](../outside)\n[d](/abs)\n[e](crates/me)";
        assert_eq!(dead_in("README.md", dead), [2, 3, 4, 5, 6, 7]);
        assert_eq!(dead_in("README.md", "[a](README.md), [b](gone)"), [1]);
    }

    #[test]
    fn code_is_not_looked_at() {
        let code =
            "`[a](gone)`\n```rust\nx[0](gone)\n~~~\n[b](gone)\n```\n[c](gone)\na ` [d](gone)";
        assert_eq!(dead_in("README.md", code), [7, 8]);
    }
}
