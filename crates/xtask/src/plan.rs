//! What `cargo xtask test` does, as data: the steps in order, decided before the first one runs.
//!
//! Cheap checks come first. What cannot run here is a step too, so that it is said and not
//! forgotten.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::process::Line;

/// What was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Options {
    /// Stop after the tests.
    pub(crate) quick: bool,
    /// More cases, longer streams, and fuzzing.
    pub(crate) long: bool,
}

const MINUTE: Duration = Duration::from_secs(60);

impl Options {
    /// The whole run ends within this, come what may: a hang is a failure with a name. It takes half as long on two usual cores.
    pub(crate) fn budget(self) -> Duration {
        if self.long { 6 * 60 * MINUTE } else { 80 * MINUTE }
    }
}

/// What the tree and the machine have to offer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offered {
    /// The targets for fuzzing. Their replay is a test of the workspace.
    fuzz_targets: Vec<String>,
    /// `cargo fuzz` on a nightly toolchain.
    fuzzer: bool,
    /// Those of [`SANITIZERS`] that have a script.
    sanitizers: Vec<&'static str>,
    /// Where real posts would be, and whether they are.
    posts: PathBuf,
    posts_there: bool,
}

const SANITIZERS: [&str; 2] = ["asan", "tsan"];
const POSTS: &str = "posts.jsonl.zst";

impl Offered {
    pub(crate) fn look(root: &Path, options: Options) -> Offered {
        let data = std::env::var_os("SPIRIT_DATA").map(PathBuf::from);
        let posts = data.unwrap_or_else(|| PathBuf::from("../shared/data")).join(POSTS);
        Offered {
            fuzz_targets: fuzz_targets(root),
            fuzzer: options.long && fuzzer_installed(root),
            sanitizers: SANITIZERS
                .into_iter()
                .filter(|name| root.join(script(name)).is_file())
                .collect(),
            posts_there: root.join(&posts).is_file(),
            posts,
        }
    }
}

fn script(sanitizer: &str) -> String {
    format!("ci/{sanitizer}.sh")
}

fn fuzz_targets(root: &Path) -> Vec<String> {
    let Ok(folder) = root.join("fuzz/fuzz_targets").read_dir() else { return Vec::new() };
    let names = folder.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut targets: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".rs").map(str::to_owned)).collect();
    targets.sort();
    targets
}

fn fuzzer_installed(root: &Path) -> bool {
    // To look must not install a toolchain.
    Line::new("cargo +nightly fuzz --version").with("RUSTUP_AUTO_INSTALL", "0").succeeds(root)
}

/// One check.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) act: Act,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    /// Read the tree.
    Tidy,
    /// Run a command, for at most so long.
    Run(Line, Duration),
    /// Say why not.
    NotRun(String),
}

/// A script that cannot work here (no nightly toolchain, say) ends with this status, as in automake.
pub(crate) const CANNOT_RUN_HERE: i32 = 77;

/// All the steps that `options` ask for.
pub(crate) fn plan(options: Options, offered: &Offered) -> Vec<Step> {
    let mut steps = vec![Step { name: "tidy".into(), act: Act::Tidy }];
    let mut add = |name: &str, act| steps.push(Step { name: name.into(), act });
    let bound = options.budget();
    let cargo = |typed: &str| Act::Run(Line::new(typed), bound);
    let tests = |line: Line, bound| Act::Run(longer(line, options), bound);

    add("fmt", cargo("cargo fmt --all --check"));
    add("clippy", cargo("cargo clippy --workspace --all-targets -- -D warnings"));
    // Who depends on the crate has it without the laboratory.
    add("clippy of the crate", cargo("cargo clippy --package spirit --lib -- -D warnings"));
    // As many random cases as 45 minutes have time for. Each run draws others.
    let cases = Line::new("cargo test --workspace").with("PROPTEST_CASES", "100");
    add("test", tests(cases, bound));
    if options.quick {
        return steps;
    }
    let doc = Line::new("cargo doc --workspace --no-deps").with("RUSTDOCFLAGS", "-D warnings");
    add("doc", Act::Run(doc, bound));
    add("surface", cargo("cargo xtask surface"));
    if options.long {
        for target in &offered.fuzz_targets {
            add(&format!("fuzz {target}"), fuzz(target, offered));
        }
    }
    for sanitizer in &offered.sanitizers {
        let bound = if options.long { 60 * MINUTE } else { 30 * MINUTE };
        add(sanitizer, tests(Line::new("bash").word(script(sanitizer)), bound));
    }
    // What the README tells a newcomer to type. It is built for release in long runs only: that takes as long as all
    // other checks of the demo's code.
    if options.long {
        add("release build", cargo("cargo build --release -p spirit-cli"));
    }
    add("demo", Act::Run(demo(options, "--docs 200000"), 4 * MINUTE));
    add("demo on real posts", demo_on_posts(options, offered));
    steps
}

/// The tests read from the environment how long to go on; a plain `cargo test` has its defaults.
fn longer(line: Line, options: Options) -> Line {
    if !options.long {
        return line;
    }
    line.with("SPIRIT_FRESHNESS_ADDS", "10000000")
        .with("SPIRIT_READ_YOUR_WRITES", "10000000")
        .with("SPIRIT_FOLLOWER_STEPS", "100000")
        .with("PROPTEST_CASES", "5000")
        .with("SPIRIT_CUTS", "100000")
        .with("SPIRIT_STATES", "4096")
        .with("SPIRIT_IMAGES", "64")
        .with("SPIRIT_RARE_RUNS", "3")
        .with("SPIRIT_HOT_PATH_ROUNDS", "50")
        .with("SPIRIT_LOADS", "200")
        .with("SPIRIT_INDEX_KILLS", "100")
        .with("SPIRIT_KILLS", "1000")
        .with("SPIRIT_SOAK_SECONDS", "900")
        .with("SPIRIT_POWER_CUTS", "1000")
        .with("SPIRIT_FAILURES", "100000")
}

fn demo(options: Options, arguments: &str) -> Line {
    if options.long {
        return Line::new(&format!("cargo run --release -p spirit-cli -- demo {arguments}"));
    }
    // The program that the tests ran. Cargo would build all of it again: tests have more features.
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    Line::new(&format!("{target}/debug/spirit demo {arguments}"))
}

fn demo_on_posts(options: Options, offered: &Offered) -> Act {
    let posts = offered.posts.display().to_string();
    if !offered.posts_there {
        return Act::NotRun(format!(
            "shared data not found: demo on real posts NOT RUN (no {posts}; SPIRIT_DATA names another folder)"
        ));
    }
    Act::Run(demo(options, "--docs 200000 --in").word(posts), 4 * MINUTE)
}

/// Five minutes from the committed corpus on; what is found goes below `target`, crashes to `fuzz/artifacts`.
fn fuzz(target: &str, offered: &Offered) -> Act {
    if !offered.fuzzer {
        return Act::NotRun(format!(
            "no cargo-fuzz on a nightly toolchain: fuzzing of {target} NOT RUN (its replay was)"
        ));
    }
    let script = format!(
        "mkdir -p target/fuzz/{target} fuzz/corpus/{target} && \
         CARGO_PROFILE_RELEASE_LTO=off cargo +nightly fuzz run {target} \
         target/fuzz/{target} fuzz/corpus/{target} -- -max_total_time=300"
    );
    Act::Run(Line::new("sh -c").word(script), 20 * MINUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(options: Options, offered: &Offered) -> Vec<String> {
        plan(options, offered).into_iter().map(|step| step.name).collect()
    }

    fn everything() -> Offered {
        Offered {
            fuzz_targets: vec!["query_parse".into()],
            fuzzer: true,
            sanitizers: SANITIZERS.into(),
            posts: "data/posts".into(),
            posts_there: true,
        }
    }

    #[test]
    fn quick_ends_with_the_tests() {
        let quick = Options { quick: true, ..Options::default() };
        assert_eq!(
            names(quick, &everything()),
            ["tidy", "fmt", "clippy", "clippy of the crate", "test"]
        );
    }

    #[test]
    fn all_that_is_offered_is_run() {
        let named = names(Options::default(), &everything());
        assert_eq!(named[5..9], ["doc", "surface", "asan", "tsan"]);
        assert_eq!(named[9..], ["demo", "demo on real posts"]);
        let long = Options { long: true, ..Options::default() };
        let named = names(long, &everything());
        assert!(
            ["fuzz query_parse", "release build"]
                .iter()
                .all(|name| named.contains(&(*name).into()))
        );
    }

    #[test]
    fn absent_posts_are_a_step_that_says_so() {
        let steps = plan(Options::default(), &Offered::default());
        let Some(Step { act: Act::NotRun(reason), .. }) = steps.last() else { panic!("{steps:?}") };
        assert!(
            reason.starts_with("shared data not found: demo on real posts NOT RUN"),
            "{reason}"
        );
    }

    #[test]
    fn only_tests_are_made_longer() {
        let long = Options { long: true, ..Options::default() };
        for step in plan(long, &everything()) {
            let Act::Run(line, bound) = &step.act else { continue };
            let longer = ["test", "asan", "tsan"].contains(&step.name.as_str());
            let cases = line.environment.iter().any(|(name, _)| *name == "PROPTEST_CASES");
            assert_eq!(cases, longer, "{}", step.name);
            assert!(*bound <= long.budget());
        }
    }
}
