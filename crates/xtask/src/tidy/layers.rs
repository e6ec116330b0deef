//! Which crate of the workspace may depend on which: the edges are the layers.
//!
//! Cargo itself says what the edges are. Those for tests only are free: they are not in what ships.

use std::io;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Finding;

/// What a crate may depend on within the workspace.
enum May {
    Use(&'static [&'static str]),
    UseAnything,
}

/// The bottom layer first. A crate uses only crates before it in this list.
const LAYERS: [(&str, May); 17] = [
    ("spirit-mem", May::Use(&[])),
    ("spirit-kernel", May::Use(&[])),
    ("spirit-text", May::Use(&["spirit-kernel"])),
    ("spirit-cache", May::Use(&["spirit-mem"])),
    ("spirit-door", May::Use(&["spirit-mem"])),
    ("spirit-index", May::Use(&["spirit-door", "spirit-kernel", "spirit-mem"])),
    ("spirit-schema", May::Use(&["spirit-index", "spirit-text"])),
    (
        "spirit-query",
        May::Use(&["spirit-index", "spirit-kernel", "spirit-mem", "spirit-schema", "spirit-text"]),
    ),
    (
        "spirit",
        May::Use(&[
            "spirit-cache",
            "spirit-door",
            "spirit-index",
            "spirit-kernel",
            "spirit-mem",
            "spirit-query",
            "spirit-schema",
            "spirit-text",
        ]),
    ),
    ("spirit-forms", May::Use(&["spirit"])),
    ("spirit-opensearch", May::Use(&["spirit", "spirit-text"])),
    ("spirit-server", May::Use(&["spirit", "spirit-forms", "spirit-opensearch"])),
    ("spirit-cli", May::Use(&["spirit", "spirit-forms", "spirit-server"])),
    // Measures each layer alone too.
    ("spirit-bench", May::UseAnything),
    // Held against the engine, so nothing of the engine is in it but the tree that a query is written down in.
    ("spirit-oracle", May::Use(&["spirit-query"])),
    ("xtask", May::Use(&[])),
    // Fuzzes each layer alone too.
    ("spirit-fuzz", May::UseAnything),
];

const TABLE: &str = "crates/xtask/src/tidy/layers.rs";

/// A crate of the workspace.
struct Package {
    name: String,
    /// From the project's root.
    manifest: String,
    /// The workspace's crates that it ships with.
    uses: Vec<String>,
}

pub(super) fn check(root: &Path) -> io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in packages(root)? {
        let manifest = std::fs::read_to_string(root.join(&package.manifest))?;
        findings.extend(wrong_edges(&package, &manifest));
    }
    Ok(findings)
}

fn packages(root: &Path) -> io::Result<Vec<Package>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(root)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    read(&metadata).ok_or_else(|| io::Error::other("`cargo metadata` says nothing we can read"))
}

/// The crates in what `cargo metadata` prints.
fn read(metadata: &Value) -> Option<Vec<Package>> {
    let root = Path::new(metadata["workspace_root"].as_str()?);
    let packages = metadata["packages"].as_array()?;
    let names: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    let package = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str()?).strip_prefix(root).ok()?;
        let edges = package["dependencies"].as_array()?.iter();
        // A kind is `dev`, `build`, or null for what ships.
        let shipped = edges.filter(|edge| edge["kind"] != "dev");
        let used = shipped.filter_map(|edge| edge["name"].as_str());
        Some(Package {
            name: package["name"].as_str()?.into(),
            manifest: manifest.to_str()?.replace('\\', "/"),
            uses: used.filter(|name| names.contains(name)).map(str::to_owned).collect(),
        })
    };
    packages.iter().map(package).collect()
}

/// The edges of `package` that the table does not have; `manifest` is its text.
fn wrong_edges(package: &Package, manifest: &str) -> Vec<Finding> {
    let Some((_, may)) = LAYERS.iter().find(|(name, _)| *name == package.name) else {
        let what = format!("{} is in no layer; add it to the table in {TABLE}", package.name);
        return vec![Finding::at(&package.manifest, 1, what)];
    };
    let allowed = |name: &&String| match may {
        May::UseAnything => true,
        May::Use(names) => names.contains(&name.as_str()),
    };
    let wrong = package.uses.iter().filter(|name| !allowed(name));
    wrong
        .map(|name| {
            let what = format!(
                "{} may not depend on {name}; move the code to the layer it belongs to, or argue the edge in {TABLE}",
                package.name
            );
            Finding::at(&package.manifest, line_of(name, manifest), what)
        })
        .collect()
}

/// The line of a manifest that makes `name` a dependency; the first if it is well hidden.
fn line_of(name: &str, manifest: &str) -> usize {
    let mut for_tests = false;
    for (number, line) in (1..).zip(manifest.lines()) {
        let line = line.trim();
        if line.starts_with('[') {
            for_tests = line.contains("dev-dependencies");
        }
        let table = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        let key = line.split(['.', '=', ' ']).next();
        let named =
            key == Some(name) || table.is_some_and(|table| table.ends_with(&format!(".{name}")));
        if named && !for_tests {
            return number;
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_table_has_no_cycle() {
        for (at, (name, may)) in LAYERS.iter().enumerate() {
            let May::Use(used) = may else { continue };
            let above: Vec<&str> = LAYERS[..at].iter().map(|(name, _)| *name).collect();
            assert!(
                used.iter().all(|used| above.contains(used)),
                "{name} uses a crate that is not above it"
            );
        }
    }

    #[test]
    fn edges_are_those_to_our_own_crates_that_ship() {
        let edge = |name: &str, kind: Option<&str>| json!({ "name": name, "kind": kind });
        let metadata = json!({
            "workspace_root": "/p",
            "packages": [
                { "name": "spirit-mem", "manifest_path": "/p/crates/mem/Cargo.toml", "dependencies": [
                    edge("rustix", None), edge("spirit-text", Some("dev")), edge("spirit-text", Some("build")),
                ] },
                { "name": "spirit-text", "manifest_path": "/p/crates/text/Cargo.toml", "dependencies": [] },
            ],
        });
        let packages = read(&metadata).expect("complete");
        assert_eq!(packages[0].uses, ["spirit-text"]);
        assert_eq!(packages[0].manifest, "crates/mem/Cargo.toml");
    }

    #[test]
    fn a_wrong_edge_is_found_at_its_line() {
        let manifest = "[package]\nname = \"spirit-text\"\n[dev-dependencies]\nspirit.workspace = true\n\
                        [dependencies]\nspirit-kernel.workspace = true\nspirit.workspace = true\n";
        let package = |name: &str| Package {
            name: name.into(),
            manifest: "Cargo.toml".into(),
            uses: vec!["spirit-kernel".into(), "spirit".into()],
        };
        let wrong = wrong_edges(&package("spirit-text"), manifest);
        assert_eq!(wrong.iter().map(|finding| finding.line).collect::<Vec<_>>(), [7]);
        assert_eq!(wrong_edges(&package("spirit-bench"), manifest), []);
        assert!(wrong_edges(&package("spirit-new"), manifest)[0].what.contains("in no layer"));
    }

    #[test]
    fn a_dependency_with_its_own_table_has_a_line_too() {
        let manifest = "[dependencies]\nspirit-mem = \"1\"\n[target.'cfg(unix)'.dependencies.spirit]\npath = \"x\"\n";
        assert_eq!(line_of("spirit", manifest), 3);
        assert_eq!(line_of("absent", manifest), 1);
    }
}
