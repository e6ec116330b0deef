//! Phrases that make a sentence hard to read. The field has a word for each, or it says nothing.

use super::Finding;
use super::masked::Masked;

/// This file, which has the phrases in its table.
const OWN: &str = "crates/xtask/src/tidy/words.rs";

/// What is found, in lowercase, and what to write.
const BANNED: [(&str, &str); 14] = [
    ("told", "say who does what: returns, reports, is called with"),
    ("come about", "take effect"),
    ("came about", "took effect"),
    ("be had", "be available, be read, be opened"),
    ("at hand", "current"),
    ("whoever", "name the caller, the reader or the thread"),
    ("so many", "this many, or the number's name"),
    ("by itself", "alone, on its own"),
    ("goes by", "uses, follows, relies on"),
    ("is none", "does not exist, does not count, is not valid; of a value: without one"),
    ("of theirs", "their"),
    ("has it that", "say it"),
    ("the like", "similar"),
    ("what there is", "name it"),
];

/// Finds banned phrases in the comments and literals of Rust source, or in all of a page.
pub(super) fn banned(path: &str, content: &str) -> Vec<Finding> {
    if path == OWN {
        return Vec::new();
    }
    let text = if path.ends_with(".rs") { without_code(content) } else { content.into() };
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(text.to_lowercase().lines()) {
        for (phrase, instead) in BANNED {
            if has_phrase(line, phrase) {
                let what = format!("`{phrase}` is banned; write: {instead}");
                findings.push(Finding::at(path, number, what));
            }
        }
    }
    findings
}

/// The source with its code blanked out: comments and literals remain, lines stay lines. White
/// space that a literal escapes becomes spaces, so that its letter joins no word.
fn without_code(source: &str) -> String {
    let masked = Masked::of(source);
    // Masking replaces each character of a comment or a literal by a space.
    let pairs = source.chars().zip(masked.code().chars());
    let text: String =
        pairs.map(|(c, code)| if c != '\n' && code == c { ' ' } else { c }).collect();
    text.replace("\\n", "  ").replace("\\t", "  ")
}

/// True if the text has the phrase as whole words, and not in a name of code.
fn has_phrase(text: &str, phrase: &str) -> bool {
    let is_joined = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + phrase.len()..]);
        !before.ends_with(is_joined) && !after.starts_with(is_joined)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, content: &str) -> Vec<usize> {
        banned(path, content).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn phrases_are_found_in_comments_literals_and_pages() {
        let source = "let a = \"so many\";\n// SO MANY of them\nlet b = 1; // so many\n";
        assert_eq!(lines("crates/x/src/a.rs", source), [1, 2, 3]);
        assert_eq!(lines("docs/a.md", source), [1, 2, 3]);
    }

    #[test]
    fn literals_are_found_in_all_their_lines() {
        assert_eq!(lines("a.rs", "f(\"a\nat hand\n\");"), [2]);
        assert_eq!(lines("a.rs", "f(r#\"a \"told\" b\"#, b\"told\");"), [1]);
        assert_eq!(lines("a.rs", "f(\"\u{e9} was told\");"), [1]);
    }

    #[test]
    fn escapes_are_not_part_of_words() {
        assert_eq!(lines("a.rs", r#"f("a\told red");"#), [0; 0]);
        assert_eq!(lines("a.rs", r#"f("a\nat hand");"#), [1]);
    }

    #[test]
    fn code_and_this_file_are_not_searched() {
        assert_eq!(lines("a.rs", "let told = so; told.f(\"so\", \"many\");"), [0; 0]);
        assert_eq!(lines(OWN, "// told\n\"told\""), [0; 0]);
    }

    #[test]
    fn names_and_longer_words_are_not_found() {
        assert_eq!(lines("docs/a.md", "untold is_told_apart tolds"), [0; 0]);
        assert_eq!(lines("docs/a.md", "(told)"), [1]);
        assert_eq!(lines("docs/a.md", "if there is none"), [1]);
    }
}
