//! Phrases that make a sentence hard to read. The field has a word for each, or it says nothing.

use super::Finding;

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
    // `has_phrase` accepts this phrase behind the word "there".
    ("is none", "does not count, is not valid, is not one"),
    ("of theirs", "their"),
    ("has it that", "say it"),
    ("the like", "similar"),
    ("what there is", "name it"),
];

/// These in the comments of Rust source, or in all of a page.
pub(super) fn banned(path: &str, content: &str) -> Vec<Finding> {
    let is_code = path.ends_with(".rs");
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(content.lines()) {
        let text = if is_code { comment_of(line) } else { line };
        let text = text.to_lowercase();
        for (phrase, instead) in BANNED {
            if has_phrase(&text, phrase) {
                let what = format!("`{phrase}` is banned; write: {instead}");
                findings.push(Finding::at(path, number, what));
            }
        }
    }
    findings
}

/// The comment that a line has; an address in a string is taken for one, which is harmless.
fn comment_of(line: &str) -> &str {
    line.find("//").map_or("", |at| &line[at..])
}

/// True if the text has the phrase as whole words, and not in a name of code.
fn has_phrase(text: &str, phrase: &str) -> bool {
    let is_joined = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + phrase.len()..]);
        let is_plain = phrase == "is none" && before.ends_with("there ");
        !is_plain && !before.ends_with(is_joined) && !after.starts_with(is_joined)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, content: &str) -> Vec<usize> {
        banned(path, content).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn phrases_are_found_in_comments_and_pages() {
        let phrase = ["so", "many"].join(" ");
        let source = format!(
            "let a = \"{phrase}\";\n// {phrase} of them\nlet b = 1; // {}\n",
            phrase.to_uppercase()
        );
        assert_eq!(lines("crates/x/src/a.rs", &source), [2, 3]);
        assert_eq!(lines("docs/a.md", &source), [1, 2, 3]);
    }

    #[test]
    fn names_and_longer_words_are_not_found() {
        let word = ["to", "ld"].concat();
        assert_eq!(lines("docs/a.md", &format!("un{word} is_{word}_apart {word}s")), [0; 0]);
        assert_eq!(lines("docs/a.md", &format!("({word})")), [1]);
        assert_eq!(lines("docs/a.md", "if there is none"), [0; 0]);
    }
}
