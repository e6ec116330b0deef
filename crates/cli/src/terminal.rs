//! The terminal that standard output may be: how wide it is, and what fits on a line of it.

use std::io::{self, IsTerminal};

use rustix::termios::tcgetwinsize;
use spirit_forms::escape::escaped;

/// Columns of a terminal that does not say how many it has.
const USUAL: usize = 80;
/// The sign for a text that goes on.
const MORE: char = '…';

/// Characters that take two columns, as terminals show them: East Asian scripts and pictographs.
const WIDE: [(char, char); 9] = [
    ('\u{1100}', '\u{115f}'),
    ('\u{2e80}', '\u{303e}'),
    ('\u{3041}', '\u{a4cf}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{fe30}', '\u{fe6f}'),
    ('\u{ff00}', '\u{ff60}'),
    ('\u{1f300}', '\u{1faff}'),
    ('\u{20000}', '\u{3fffd}'),
];
/// Characters that take none: accents that join the letter before, joiners, variation selectors.
const JOINED: [(char, char); 4] = [
    ('\u{300}', '\u{36f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{20d0}', '\u{20ff}'),
    ('\u{fe00}', '\u{fe0f}'),
];

/// Returns the columns of standard output, if it is a terminal.
pub(crate) fn width() -> Option<usize> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let columns = tcgetwinsize(&out).map_or(0, |size| size.ws_col.into());
    Some(if columns > 0 { columns } else { USUAL })
}

/// Returns the columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

fn columns_of(c: char) -> usize {
    let is_in =
        |ranges: &[(char, char)]| ranges.iter().any(|(from, to)| (*from..=*to).contains(&c));
    match c {
        ' '..='\u{2ff}' => 1,
        _ if is_in(&JOINED) => 0,
        _ if is_in(&WIDE) => 2,
        _ => 1,
    }
}

/// Cuts a text to `room` columns, with a sign if it goes on.
pub(crate) fn cut(text: &str, room: usize) -> String {
    let (mut taken, mut fits) = (0, 0);
    for (at, c) in text.char_indices() {
        // The sign needs a column of its own.
        if taken < room {
            fits = at;
        }
        taken += columns_of(c);
        if taken > room {
            return format!("{}{MORE}", &text[..fits]);
        }
    }
    text.to_owned()
}

/// Joins a text to one line: blanks and control characters become one blank. Marks of direction are shown as what they are.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let mut line = String::with_capacity(text.len());
    for word in words.filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&escaped(word));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shown_on_one_line() {
        assert_eq!(one_line(""), "");
        assert_eq!(one_line(" the \n\u{1b}[31msea\t "), "the [31msea");
        assert_eq!(one_line("a\u{9b}2J\u{202e}b"), "a 2J\\u{202e}b");
    }

    #[test]
    fn a_text_is_cut_where_the_line_ends() {
        for (text, room, shown) in [
            ("", 0, ""),
            ("heron", 5, "heron"),
            ("herons", 5, "hero…"),
            ("éééééé", 5, "éééé…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("日本語", 1, "…"),
            ("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}e\u{301}"),
        ] {
            assert_eq!(cut(text, room), shown, "{text:?} in {room}");
            assert!(columns(shown) <= room.max(1), "{text:?} in {room}");
        }
    }
}
