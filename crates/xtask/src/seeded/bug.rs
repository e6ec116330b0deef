//! A seeded bug: a small change to one file that somebody could make, and the tests that are to find it.

use std::path::Path;

use crate::process::Line;

/// Tests, as narrow as they find it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tests {
    /// How long they go on, as far as that is asked of the environment.
    pub(super) environment: &'static [(&'static str, &'static str)],
    /// Where they are, as arguments of Cargo.
    pub(super) of: &'static str,
    /// The words in their names.
    pub(super) named: &'static str,
}

impl Tests {
    /// Compiles them.
    pub(super) fn build(self) -> Line {
        Line::new(&format!("cargo test {} --no-run", self.of))
    }

    /// Runs them.
    pub(super) fn run(self) -> Line {
        let line = Line::new(&format!("cargo test {} {}", self.of, self.named));
        self.environment.iter().fold(line, |line, (name, value)| line.with(name, *value))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Bug {
    /// What it is called on the command line.
    pub(super) name: &'static str,
    /// What is wrong with it.
    pub(super) what: &'static str,
    /// Where it is put.
    pub(super) file: &'static str,
    /// Text that the file has once,
    pub(super) old: &'static str,
    /// and what takes its place.
    pub(super) new: &'static str,
    /// Which tests find it.
    pub(super) found_by: Tests,
}

impl Bug {
    /// The file with the bug in it, of the project at `root`.
    pub(super) fn seed(&self, root: &Path) -> Result<String, String> {
        let of_file = |why: &str| format!("{}: {}: {why}", self.name, self.file);
        let source = std::fs::read_to_string(root.join(self.file));
        self.seed_into(&source.map_err(|error| of_file(&error.to_string()))?)
            .map_err(|why| of_file(&why))
    }

    fn seed_into(&self, source: &str) -> Result<String, String> {
        match source.matches(self.old).count() {
            1 => Ok(source.replacen(self.old, self.new, 1)),
            0 => {
                Err(format!("the text that it replaces is gone; say what it is now: {}", self.old))
            }
            times => Err(format!("the text that it replaces is there {times} times: {}", self.old)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_replaces_what_is_there_once() {
        let found_by = Tests { environment: &[("A", "1")], of: "-p a", named: "some" };
        let bug = Bug { name: "a", what: "", file: "a.rs", old: "fence()", new: "()", found_by };
        assert_eq!(bug.seed_into("store(); fence(); done()"), Ok("store(); (); done()".into()));
        assert!(bug.seed_into("store()").is_err_and(|why| why.contains("gone")));
        assert!(bug.seed_into("fence(); fence()").is_err_and(|why| why.contains("2 times")));
        assert_eq!(found_by.run().to_string(), "A=1 cargo test -p a some");
        assert_eq!(found_by.build().to_string(), "cargo test -p a --no-run");
    }
}
