//! The rooms of a crate, from the ground up: a room uses only those before it.

use super::Finding;
use super::modules::{Modules, Use};

/// The crates that have rooms, and these in order. Files at the root of a crate that are no room may use any.
const ROOMS: [(&str, &[&str]); 2] = [
    (
        "index",
        &[
            "ground", "rows", "terms", "lists", "column", "tier", "memory", "form", "log", "fresh",
            "snapshot", "keys", "engrave", "merge", "flush", "rewrite", "start", "check", "backup",
            "salvage",
        ],
    ),
    (
        "spirit",
        &[
            "config", "storage", "write", "stages", "start", "cached", "engine", "search", "index",
            "stats", "backup",
        ],
    ),
];

const TABLE: &str = "crates/xtask/src/tidy/rooms.rs";

/// The uses of rooms by rooms before them, in the crate called `name`.
pub(super) fn upwards(name: &str, modules: &Modules) -> Vec<Finding> {
    let Some((_, rooms)) = ROOMS.iter().find(|(of, _)| *of == name) else { return Vec::new() };
    let floor =
        |path: &[String]| rooms.iter().position(|room| path.first().is_some_and(|p| p == room));
    let finding = |used: Use| {
        let (from, to) = (floor(&used.from)?, floor(&used.to)?);
        (from < to).then(|| {
            let what = format!(
                "{} uses {}, which is above it in {TABLE}; move the code, or the room",
                rooms[from], rooms[to]
            );
            Finding::at(modules.file(&used.from), 1, what)
        })
    };
    let mut findings: Vec<Finding> = modules.uses().into_iter().filter_map(finding).collect();
    findings.dedup();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_uses_only_those_before_it() {
        let mut modules = Modules::default();
        modules.add(
            "config/options.rs",
            "crates/spirit/src/config/options.rs",
            "use crate::index::Index;\n",
        );
        modules.add(
            "index.rs",
            "crates/spirit/src/index.rs",
            "use crate::config::options::Options;\n",
        );
        let found: Vec<String> =
            upwards("spirit", &modules).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/spirit/src/config/options.rs:1: config uses index"));
        assert_eq!(upwards("query", &modules), []);
    }
}
