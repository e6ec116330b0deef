//! Characters that act on a terminal, or on the line that they stand in, shown as what they are.
//!
//! Control characters move the cursor, change colours, or end a line. Marks of direction change the
//! order in which a line is shown, so that it seems to say something else.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// True for a character that does not stand for itself in a line.
pub fn acts(c: char) -> bool {
    match c {
        ' '..='~' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        c => c.is_control(),
    }
}

/// Returns `text` on one line: `\n`, `\t`, `\r` and `\u{1b}` stand for such characters.
pub fn escaped(text: &str) -> Cow<'_, str> {
    escaped_but(text, "")
}

/// Like [`escaped`], but these characters stay: of a text that may have lines.
pub fn escaped_but<'a>(text: &'a str, kept: &str) -> Cow<'a, str> {
    let is_escaped = |c: char| acts(c) && !kept.contains(c);
    if !text.contains(is_escaped) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_escaped(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown.into()
}

/// Writes a value as JSON on one line. Nothing in it acts on a terminal.
pub fn json_line(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Json))?;
    writeln!(out)
}

/// JSON without such characters: they are written as `\u001b`, which means the same.
struct Json;

impl Formatter for Json {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // All of them have two bytes or more, but for the delete key.
        if fragment.bytes().all(|byte| byte < 0x7f) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some(at) = rest.find(acts) {
            let (before, from) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            let mut characters = from.chars();
            // Each of them is one unit of UTF-16.
            let unit = characters.next().map_or(0, u32::from);
            write!(writer, "\\u{unit:04x}")?;
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_is_left() {
        let acting = (0..0x3000).filter_map(char::from_u32).filter(|c| acts(*c));
        for c in acting.clone() {
            let text = format!("a{c}é");
            let shown = escaped(&text);
            assert!(!shown.contains(acts) && shown.starts_with("a\\") && shown.ends_with('é'));
            let mut json = Vec::new();
            json_line(&mut json, &text).unwrap();
            let json = String::from_utf8(json).unwrap();
            let json = json.strip_suffix('\n').unwrap();
            assert!(!json.contains(acts), "{json}");
            assert_eq!(serde_json::from_str::<String>(json).unwrap(), text);
        }
        assert_eq!(acting.count(), 32 + 1 + 32 + 1 + 2 + 7 + 4);
        assert_eq!(escaped("a\u{1b}[31m\n\u{202e}b"), "a\\u{1b}[31m\\n\\u{202e}b");
        assert_eq!(escaped_but("a\n\u{7}\tb", "\n\t"), "a\n\\u{7}\tb");
        assert!(matches!(escaped("größe 日本 \\n"), Cow::Borrowed(_)));
    }
}
