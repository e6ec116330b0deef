//! Checks of any file.

use super::Finding;

const BYTES_MAX: u64 = 2 << 20;

/// A clone stays small for ever: what is committed once is fetched by everybody.
pub(super) fn too_large(path: &str, bytes: u64) -> Option<Finding> {
    let what =
        || format!("{bytes} bytes (below {BYTES_MAX}); generate it, or read it from SPIRIT_DATA");
    (bytes >= BYTES_MAX).then(|| Finding::at(path, 1, what()))
}

/// Paths that exist on one machine only.
pub(super) fn machine_paths(path: &str, content: &str) -> Vec<Finding> {
    let what = "a path of one machine; make it relative to the project, or an argument";
    let lines = (1..).zip(content.lines()).filter(|(_, line)| names_machine_path(line));
    lines.map(|(number, _)| Finding::at(path, number, what)).collect()
}

fn names_machine_path(line: &str) -> bool {
    ["work", "home", "root", "Users"].iter().any(|top| {
        let start = format!("/{top}/");
        line.match_indices(&start).any(|(at, _)| {
            // After these it is the middle of a longer path or of an address.
            let within = |c: char| c.is_alphanumeric() || "._-~/*}$)".contains(c);
            !line[..at].ends_with(within)
        })
    })
}

/// A file that is no text, where no file of that kind is kept: a program left it.
pub(super) fn left_over(path: &str) -> Option<Finding> {
    let is_kept = ["/fixtures/", "/seeds/"].iter().any(|folder| path.contains(folder));
    let what = "it is no text; delete it, or keep it among fixtures or seeds";
    (!is_kept).then(|| Finding::at(path, 1, what))
}

/// Notes to oneself. An issue is where they are seen.
pub(super) fn reminders(path: &str, content: &str) -> Vec<Finding> {
    // In two parts, or this line would be the first finding.
    let reminder = concat!("FIX", "ME");
    let lines = (1..).zip(content.lines()).filter(|(_, line)| line.contains(reminder));
    let what = format!("`{reminder}`; do it now, or open an issue and say here what holds today");
    lines.map(|(number, _)| Finding::at(path, number, what.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_mebibytes_are_too_many() {
        assert_eq!(too_large("a", BYTES_MAX - 1), None);
        assert!(too_large("a", BYTES_MAX).is_some());
    }

    #[test]
    fn a_machine_path_starts_at_the_root() {
        for top in ["work", "home", "root", "Users"] {
            assert!(names_machine_path(&format!("cd /{top}/me")), "{top}");
            assert!(names_machine_path(&format!("\"/{top}/me\"")), "{top}");
            assert!(!names_machine_path(&format!("see https://example.org/{top}/me")), "{top}");
            assert!(
                !names_machine_path(&format!("../{top}/me ./{top}/ $HOME/{top}/ ~/{top}/")),
                "{top}"
            );
            assert!(!names_machine_path(&format!("/usr/{top}/me and /{top}")), "{top}");
        }
    }

    #[test]
    fn what_is_no_text_is_a_fixture_or_a_seed() {
        assert!(left_over("crates/cli/browser/fonts-cache/1.cache-11").is_some());
        assert_eq!(left_over("crates/spirit/tests/fixtures/format_1/heap.zst"), None);
        assert_eq!(left_over("fuzz/seeds/packed/1"), None);
    }

    #[test]
    fn reminders_are_found_anywhere() {
        let content = format!("a\n# {}{}: b\n", "FIX", "ME");
        assert_eq!(reminders("a.toml", &content).len(), 1);
        assert_eq!(reminders("a.toml", "fix me\n"), []);
    }
}
