//! The examples: each runs and prints what it promises, is short, and is linked from the README.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Each example, and a part of what it prints.
const EXAMPLES: [(&str, &str); 6] = [
    ("chat_search", "m2 bob: Yes, it stood in the reed all morning."),
    ("follow_log", "ERROR disk failed again\nERROR disk failed\n"),
    ("newest_pages", "pages, the first begins with post "),
    ("dashboard", "levels [(\"info\", 980), (\"error\", 20)]"),
    ("highlighting", "Two <em>grey</em> <em>herons</em> &lt;stood&gt; in the reed."),
    ("back_up", "1000 articles came back"),
];
const LINES_MAX: usize = 60;

/// The program that Cargo builds of an example whenever it builds all tests. If this test was built alone, it is built here, with
/// what the tests are built with.
fn program(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    let arguments = ["build", "--quiet", "--package", "spirit", "--features", "lab", "--example"];
    if !is_fresh(&built) {
        let run = Command::new(env!("CARGO")).args(arguments).arg(name).output().unwrap();
        assert!(run.status.success(), "{name}: {}", String::from_utf8_lossy(&run.stderr));
    }
    built
}

/// True if no file that the program was made of has changed since. Cargo lists them beside it.
fn is_fresh(program: &Path) -> bool {
    let changed =
        |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let sources = std::fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    let sources = sources.split_once(": ").map_or("", |(_, sources)| sources);
    let built = changed(program);
    built.is_some()
        && !sources.is_empty()
        && sources.split_whitespace().all(|source| changed(Path::new(source)) <= built)
}

#[test]
fn each_example_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("../../README.md")).unwrap();
    for (name, prints) in EXAMPLES {
        let path = format!("examples/{name}.rs");
        let code = std::fs::read_to_string(root.join(&path)).unwrap();
        assert!(code.lines().count() < LINES_MAX, "{path} is too long");
        assert!(
            readme.contains(&format!("crates/spirit/{path}")),
            "the README has no link to {path}"
        );
        let run = Command::new(program(name)).current_dir(root).output().unwrap();
        let (out, error) =
            (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.success(), "{name}: {error}");
        assert!(out.contains(prints), "{name} printed {out}");
    }
    let there = std::fs::read_dir(root.join("examples")).unwrap().count();
    assert_eq!(there, EXAMPLES.len(), "an example is not tried here");
}
