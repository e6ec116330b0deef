//! `--highlight` for people: the best passage of each text on one line, with its matches marked.

use std::ffi::OsStr;
use std::io::{IsTerminal, stdout};

use spirit::search::Snippet;
use spirit_forms::escape;
use spirit_forms::snippets::framed;

/// What stands around marks that people see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    before: &'static str,
    behind: &'static str,
}

impl Marks {
    /// Bold and red, as grep has them.
    const COLOURED: Marks = Marks { before: "\x1b[1;31m", behind: "\x1b[0m" };
    const QUOTED: Marks = Marks { before: "«", behind: "»" };

    /// Those for standard output: colours if it is a terminal, unless NO_COLOR says otherwise (no-color.org).
    pub(crate) fn for_output() -> Marks {
        Marks::of(stdout().is_terminal(), std::env::var_os("NO_COLOR").as_deref())
    }

    fn of(terminal: bool, no_color: Option<&OsStr>) -> Marks {
        let refused = no_color.is_some_and(|value| !value.is_empty());
        if terminal && !refused { Marks::COLOURED } else { Marks::QUOTED }
    }
}

/// A snippet on one line: blanks and control characters are one blank.
pub(crate) fn line(snippet: &Snippet, marks: Marks) -> String {
    let mut line = String::new();
    for (piece, marked) in snippet.pieces() {
        let (before, behind) = if marked { (marks.before, marks.behind) } else { ("", "") };
        line.push_str(before);
        for c in piece.chars() {
            if escape::acts(c) && !(c.is_whitespace() || c.is_control()) {
                line.extend(c.escape_default());
            } else if !(c.is_whitespace() || c.is_control()) {
                line.push(c);
            } else if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        }
        line.push_str(behind);
    }
    framed(snippet, line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_whose_user_did_not_refuse_them() {
        assert_eq!(Marks::of(true, None), Marks::COLOURED);
        assert_eq!(Marks::of(true, Some(OsStr::new(""))), Marks::COLOURED);
        assert_eq!(Marks::of(true, Some(OsStr::new("1"))), Marks::QUOTED);
        assert_eq!(Marks::of(false, None), Marks::QUOTED);
    }
}
