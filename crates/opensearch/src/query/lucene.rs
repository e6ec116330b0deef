//! Regular expressions of Lucene, as expressions that the engine reads.
//!
//! Lucene's always match a whole term, so `^` and `$` are plain characters. Its own operators are
//! `@` (any string), `"…"` (as it is), `~`, `&`, `#` and `<1-9>`. The last four are refused.

use std::iter::Peekable;
use std::str::Chars;

use crate::error::Refusal;

/// The characters that mean something in an expression of the engine.
const SIGNS: &str = r"\.+*?()|[]{}^$#&-~";
/// Any character, and any characters.
const ANY: &str = "(?s:.)";
const ANY_STRING: &str = "(?s:.*)";

/// Returns an expression for a text as it is.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push_escaped(c, &mut out));
    out
}

/// Returns an expression that ignores case.
pub(super) fn ignoring_case(expression: &str) -> String {
    format!("(?i:{expression})")
}

/// Returns the expression of a wildcard: `*` any characters, `?` one, `\` escapes the next one.
pub(super) fn of_wildcard(pattern: &str) -> String {
    let (mut out, mut rest) = (String::new(), pattern.chars());
    while let Some(c) = rest.next() {
        match c {
            '*' => out.push_str(ANY_STRING),
            '?' => out.push_str(ANY),
            '\\' => push_escaped(rest.next().unwrap_or('\\'), &mut out),
            c => push_escaped(c, &mut out),
        }
    }
    out
}

fn push_escaped(c: char, out: &mut String) {
    if SIGNS.contains(c) {
        out.push('\\');
    }
    out.push(c);
}

/// Returns the operators of Lucene's own that these flags allow.
pub(super) fn operators(flags: &str) -> Result<String, Refusal> {
    let mut operators = String::new();
    for flag in flags.split('|').filter(|flag| !flag.is_empty()) {
        operators.push_str(match flag.to_ascii_uppercase().as_str() {
            "ALL" => ALL_OPERATORS,
            "NONE" => "",
            "INTERSECTION" => "&",
            "COMPLEMENT" => "~",
            "EMPTY" => "#",
            "ANYSTRING" => "@",
            "INTERVAL" | "AUTOMATON" => "<",
            _ => return Err(Refusal::illegal_argument(format!("Unknown regexp flag [{flag}]"))),
        });
    }
    Ok(operators)
}

/// All operators of Lucene's own.
pub(super) const ALL_OPERATORS: &str = "&~#@<";

/// Returns an expression of Lucene, with these operators of its own, as one of the engine.
pub(super) fn translated(expression: &str, operators: &str) -> Result<String, Refusal> {
    let (mut out, mut rest) = (String::new(), expression.chars().peekable());
    let mut repeats = false;
    while let Some(c) = rest.next() {
        let repeated = repeats;
        repeats = matches!(c, '*' | '+' | '?' | '}');
        match c {
            // Here a second sign is an option of the first one. There it repeats what is repeated.
            '*' | '+' | '?' | '{' if repeated => {
                return Err(Refusal::unsupported("[regexp] with a repeated repetition"));
            }
            '(' | ')' | '|' | '*' | '+' | '?' | '{' | '}' => out.push(c),
            '.' => out.push_str(ANY),
            '"' => push_quoted(&mut rest, &mut out)?,
            '[' => push_class(&mut rest, &mut out)?,
            '\\' => push_behind_backslash(&mut rest, &mut out)?,
            '@' if operators.contains('@') => out.push_str(ANY_STRING),
            c if operators.contains(c) => {
                return Err(Refusal::unsupported(format_args!("[regexp] with the operator [{c}]")));
            }
            c => push_escaped(c, &mut out),
        }
    }
    Ok(out)
}

fn unfinished(what: &str) -> Refusal {
    Refusal::query_shard(format!("failed to create query: {what}"))
}

fn push_quoted(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), Refusal> {
    loop {
        match rest.next() {
            Some('"') => return Ok(()),
            Some(c) => push_escaped(c, out),
            None => return Err(unfinished("expected '\"' at the end of the expression")),
        }
    }
}

/// Appends what a character behind a backslash means. Classes are those of ASCII.
fn push_behind_backslash(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), Refusal> {
    match rest.next() {
        Some(c) => match class_named(c) {
            Some(class) => out.push_str(class),
            None => push_escaped(c, out),
        },
        None => return Err(unfinished("unexpected end-of-string")),
    }
    Ok(())
}

fn class_named(c: char) -> Option<&'static str> {
    Some(match c {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        's' => r"[ \t\n\r]",
        'S' => r"[^ \t\n\r]",
        _ => return None,
    })
}

/// Appends a class of characters, whose `[` is read.
fn push_class(rest: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), Refusal> {
    out.push('[');
    if rest.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut is_first = true;
    loop {
        match rest.next() {
            Some(']') if !is_first => break,
            Some('\\') => push_behind_backslash(rest, out)?,
            // Between two characters it is a range.
            Some('-') if !is_first && rest.peek() != Some(&']') => out.push('-'),
            Some(c) => push_escaped(c, out),
            None => return Err(unfinished("expected ']' at the end of the expression")),
        }
        is_first = false;
    }
    out.push(']');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_keep_their_meaning() {
        for (lucene, engine) in [
            ("her(on|ring)s?", "her(on|ring)s?"),
            ("a.b", "a(?s:.)b"),
            ("a@", "a(?s:.*)"),
            ("^a$", r"\^a\$"),
            (r#""a.b"c*"#, r"a\.bc*"),
            (r"\d{2}\.\w", r"[0-9]{2}\.[0-9A-Za-z_]"),
            ("[a-z&&x]", r"[a-z\&\&x]"),
            ("[^-a]", r"[^\-a]"),
            (r"[\]a-]", r"[\]a\-]"),
            ("a-b/c", r"a\-b/c"),
        ] {
            assert_eq!(translated(lucene, ALL_OPERATORS).unwrap(), engine, "{lucene}");
        }
        assert_eq!(translated("a&b~<1>@#", "").unwrap(), r"a\&b\~<1>@\#");
        assert_eq!(of_wildcard(r"a*.?\*"), r"a(?s:.*)\.(?s:.)\*");
    }

    #[test]
    fn what_has_no_meaning_here_is_refused() {
        for (lucene, reason) in [
            ("~a", "[regexp] with the operator [~] is not supported by this server"),
            ("a&b", "[regexp] with the operator [&] is not supported by this server"),
            ("<1-9>", "[regexp] with the operator [<] is not supported by this server"),
            ("a+?", "[regexp] with a repeated repetition is not supported by this server"),
            ("a\\", "failed to create query: unexpected end-of-string"),
            ("[a", "failed to create query: expected ']' at the end of the expression"),
            ("\"a", "failed to create query: expected '\"' at the end of the expression"),
        ] {
            assert_eq!(translated(lucene, ALL_OPERATORS).unwrap_err().reason, reason);
        }
        assert_eq!(operators("FOO").unwrap_err().reason, "Unknown regexp flag [FOO]");
        assert_eq!(operators("INTERVAL|ANYSTRING"), Ok("<@".into()));
    }
}
