//! A copy of the project's files, for bugs to be put into: the working tree is never touched.
//!
//! It lies below the target directory and stays there, and so does what is built of it: only what a bug changes is compiled
//! again. Each run makes it equal to the working tree first, whatever the run before left in it.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::files;

/// Where the copy is, what is built of it, and what its tests print.
pub(super) struct Copy {
    folder: PathBuf,
}

impl Copy {
    /// Copies the files of the project at `root`, as far as they are not there yet.
    pub(super) fn of(root: &Path) -> io::Result<Copy> {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
        let copy = Copy { folder: root.join(target).join("seeded") };
        copy.follow(root)?;
        Ok(copy)
    }

    fn follow(&self, root: &Path) -> io::Result<()> {
        let tree = self.tree();
        std::fs::create_dir_all(&tree)?;
        let wanted: BTreeSet<String> = files::of_project(root)?.into_iter().collect();
        for path in files::walked(&tree)?.iter().filter(|path| !wanted.contains(*path)) {
            std::fs::remove_file(tree.join(path))?;
        }
        wanted.iter().try_for_each(|path| put(&tree.join(path), &std::fs::read(root.join(path))?))
    }

    /// The root of the copy.
    pub(super) fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// What Cargo builds goes there.
    pub(super) fn build(&self) -> PathBuf {
        self.folder.join("build")
    }

    /// What the tests called `name` print goes there.
    pub(super) fn printed(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.txt"))
    }

    /// Does `work` while the file at `path` of the copy is `content`.
    pub(super) fn with<T>(
        &self,
        path: &str,
        content: &str,
        work: impl FnOnce() -> T,
    ) -> io::Result<T> {
        let place = self.tree().join(path);
        let before = std::fs::read(&place)?;
        put(&place, content.as_bytes())?;
        let done = work();
        put(&place, &before)?;
        Ok(done)
    }
}

/// Writes a file, unless that is what it holds: Cargo looks at the time of change.
fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    if std::fs::read(path).is_ok_and(|found| found == content) {
        return Ok(());
    }
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_becomes_what_is_copied_and_a_change_is_taken_back() {
        let folder = std::env::temp_dir().join(format!("xtask-copy-{}", std::process::id()));
        let (root, copy) = (folder.join("root"), Copy { folder: folder.join("copy") });
        put(&root.join("src/a.rs"), b"a").expect("writable");
        put(&copy.tree().join("src/a.rs"), b"left by an earlier run").expect("writable");
        put(&copy.tree().join("src/b.rs"), b"no longer there").expect("writable");
        copy.follow(&root).expect("writable");
        let read = || std::fs::read_to_string(copy.tree().join("src/a.rs")).expect("readable");
        assert_eq!(files::walked(&copy.tree()).expect("readable"), ["src/a.rs"]);
        let changed = |content: &str| copy.with("src/a.rs", content, read).expect("writable");
        assert_eq!([read(), changed("b"), read()], ["a", "b", "a"]);
        std::fs::remove_dir_all(&folder).expect("ours");
    }
}
