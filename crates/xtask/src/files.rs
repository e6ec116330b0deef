//! The files that belong to the project: what git tracks, and what it would track if added now.
//!
//! New files count before they are added, so that a check never passes here and fails after the
//! commit. Without git (an unpacked archive) the tree is walked, build folders left out.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::Command;

/// Folders that a walk leaves out, wherever they are.
const BUILT: [&str; 4] = [".git", "target", "artifacts", "node_modules"];

/// Paths relative to `root`, with forward slashes, sorted.
pub(crate) fn of_project(root: &Path) -> io::Result<Vec<String>> {
    // No files at all means a checkout inside a repository that ignores it.
    let listed = listed_by_git(root).filter(|paths| !paths.is_empty());
    let paths = match listed {
        Some(paths) => paths,
        None => walked(root)?,
    };
    // A tracked file may have been deleted a moment ago; a path in conflict is listed thrice.
    let there = paths.into_iter().filter(|path| root.join(path).is_file());
    Ok(there.collect::<BTreeSet<_>>().into_iter().collect())
}

fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let output = Command::new("git")
        .current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let listed = String::from_utf8(output.stdout).ok()?;
    Some(listed.split_terminator('\0').map(str::to_owned).collect())
}

/// The same by going through the folders.
pub(crate) fn walked(root: &Path) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in root.join(&folder).read_dir()? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            // Of the entry itself: a symbolic link to a folder is not followed, so the walk ends.
            let kind = entry.file_type()?;
            if !kind.is_dir() {
                files.push(path);
            } else if !BUILT.contains(&name.as_str()) {
                folders.push(path);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_and_git_agree_on_this_crate() {
        let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut walked = walked(crate_root).expect("readable");
        walked.sort();
        assert!(walked.contains(&"src/files.rs".into()));
        assert_eq!(of_project(crate_root).expect("readable"), walked);
    }
}
