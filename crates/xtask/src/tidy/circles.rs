//! Circles of modules: two that use each other cannot be read one after the other.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::modules::{Modules, Path, Use};

/// Circles of two files that are argued.
const ARGUED: [[&str; 2]; 1] = [
    // A region asks its prover about pages, and the prover reads them there.
    ["crates/mem/src/proved.rs", "crates/mem/src/region.rs"],
];

/// The circles of a crate's modules.
pub(super) fn check(modules: &Modules) -> Vec<Finding> {
    let uses = modules.uses();
    let mut leads: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
    for used in &uses {
        leads.entry(&used.from).or_default().insert(&used.to);
    }
    let mut found: BTreeSet<&Path> = BTreeSet::new();
    let mut findings = Vec::new();
    for start in leads.keys() {
        if found.contains(*start) {
            continue;
        }
        if let Some(circle) = shortest(&leads, start) {
            if !is_argued(circle.iter().map(|module| modules.file(module)).collect()) {
                findings.push(Finding::at(modules.file(start), 1, written(&circle, &uses)));
            }
            found.extend(circle);
        }
    }
    findings
}

fn is_argued(mut files: Vec<&str>) -> bool {
    files.sort_unstable();
    ARGUED.iter().any(|argued| files == argued)
}

/// The shortest way from a module back to itself.
fn shortest<'m>(
    leads: &BTreeMap<&'m Path, BTreeSet<&'m Path>>,
    start: &'m Path,
) -> Option<Vec<&'m Path>> {
    let mut came: BTreeMap<&Path, &Path> = BTreeMap::new();
    let mut front = vec![start];
    while !front.is_empty() {
        let mut next = Vec::new();
        for from in front {
            for to in leads.get(from).into_iter().flatten() {
                if *to == start {
                    return Some(way_back(&came, start, from));
                }
                if !came.contains_key(*to) {
                    came.insert(to, from);
                    next.push(*to);
                }
            }
        }
        front = next;
    }
    None
}

/// The modules on the way from `start` to `last`.
fn way_back<'m>(
    came: &BTreeMap<&'m Path, &'m Path>,
    start: &'m Path,
    mut last: &'m Path,
) -> Vec<&'m Path> {
    let mut circle = vec![last];
    while last != start {
        last = came[last];
        circle.push(last);
    }
    circle.reverse();
    circle
}

/// The circle, and for each step what is used.
fn written(circle: &[&Path], uses: &[Use]) -> String {
    let next = circle.iter().cycle().skip(1);
    let steps = circle.iter().zip(next).map(|(from, to)| {
        let of_step = uses.iter().filter(|used| used.from == **from && used.to == **to);
        let names: Vec<&str> = of_step.map(|used| used.name.as_str()).collect();
        format!("{} uses {} of {}", from.join("::"), shown(&names), to.join("::"))
    });
    let steps: Vec<String> = steps.collect();
    format!("a circle of modules: {}; move what both need below both", steps.join(", "))
}

fn shown(names: &[&str]) -> String {
    match names.iter().filter(|name| !name.is_empty()).copied().collect::<Vec<_>>() {
        named if named.is_empty() => "something".into(),
        named => named.join(" and "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = files.iter().map(|(p, c)| ((*p).to_owned(), (*c).to_owned())).collect();
        let crates = Modules::of_crates(&files);
        crates.values().flat_map(check).map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn a_circle_is_named_with_what_is_used() {
        let files = [
            ("crates/x/src/a.rs", "use crate::b::B;\n"),
            ("crates/x/src/b.rs", "use crate::c::C;\n"),
            ("crates/x/src/c.rs", "use crate::a::{A, Also};\n"),
            ("crates/x/src/d.rs", "use crate::a::A;\n"),
        ];
        assert_eq!(
            found(&files),
            [
                "crates/x/src/a.rs:1: a circle of modules: a uses B of b, b uses C of c, c uses A and Also of a; \
              move what both need below both"
            ]
        );
    }

    #[test]
    fn crates_are_apart_and_one_way_is_no_circle() {
        let files = [
            ("crates/x/src/a.rs", "use crate::b::B;\n"),
            ("crates/y/src/b.rs", "use crate::a::A;\n"),
            ("crates/y/src/a.rs", ""),
            ("crates/x/src/b.rs", "fn f() {}\n"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }
}
