//! Lines of `name=value` pairs (logfmt): values are words, or stand in quotation marks; a name alone is true.

/// Calls `each` with each name and its value. Errors say what is wrong, and at which byte, from 1.
pub(crate) fn pairs(
    line: &str,
    mut each: impl FnMut(&str, Option<String>) -> Result<(), String>,
) -> Result<(), String> {
    let mut rest = line.trim_ascii();
    let mut has_value = false;
    let column = |rest: &str| line.len() - rest.len() + 1;
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if name.is_empty() || name.contains('"') {
            return Err(format!("expected a name at byte {}", column(rest)));
        }
        let Some(value) = behind.strip_prefix('=') else {
            each(name, None)?;
            rest = behind.trim_ascii_start();
            continue;
        };
        has_value = true;
        let (value, behind) = match value.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)
                .ok_or_else(|| format!("the quotation mark at byte {} is open", column(value)))?,
            None => {
                let end = value.find(|c: char| c.is_ascii_whitespace()).unwrap_or(value.len());
                (value[..end].to_owned(), &value[end..])
            }
        };
        each(name, Some(value))?;
        rest = behind.trim_ascii_start();
    }
    if has_value { Ok(()) } else { Err("expected NAME=VALUE, found no =".to_owned()) }
}

/// A value up to its closing quotation mark, and what is behind that.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut characters) = (String::new(), text.char_indices());
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                c @ ('"' | '\\' | '/') => value.push(c),
                // Unknown ones, as of a path, stay as they are.
                c => value.extend(['\\', c]),
            },
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Vec<(String, Option<String>)>, String> {
        let mut all = Vec::new();
        let each = |name: &str, value| {
            all.push((name.to_owned(), value));
            Ok(())
        };
        pairs(line, each).map(|()| all)
    }

    #[test]
    fn pairs_are_read() {
        let line = r#" at=info  msg="a \"b\" = c\n\d" path=/x?y=1 dry empty= "#;
        let expected = [
            ("at", Some("info")),
            ("msg", Some("a \"b\" = c\n\\d")),
            ("path", Some("/x?y=1")),
            ("dry", None),
            ("empty", Some("")),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.map(str::to_owned)));
        assert_eq!(read(line).unwrap(), expected);
    }

    #[test]
    fn what_is_wrong_is_placed() {
        for (line, reason) in [
            ("plain words", "expected NAME=VALUE, found no ="),
            ("a=1 =2", "expected a name at byte 5"),
            ("a=1 \"b\"=2", "expected a name at byte 5"),
            ("a=\"open", "the quotation mark at byte 3 is open"),
            ("a=\"open\\", "the quotation mark at byte 3 is open"),
        ] {
            assert_eq!(read(line), Err(reason.to_owned()), "{line}");
        }
    }
}
