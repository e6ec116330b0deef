//! Rust source with comments and literals blanked out, so that a word found in it is code.
//!
//! Not a parser: it knows only where comments, strings and characters begin and end.

/// The source, each comment and each literal replaced by spaces; lines stay lines.
pub(crate) struct Masked {
    code: String,
}

impl Masked {
    pub(crate) fn of(source: &str) -> Masked {
        let mut code = String::with_capacity(source.len());
        let mut rest = source;
        while let Some(first) = rest.chars().next() {
            let word = word_len(rest);
            let prefixed =
                if ["r", "br", "cr"].contains(&&rest[..word]) { raw_len(&rest[word..]) } else { 0 };
            let (kept, blank) = match (word, prefixed) {
                (0, _) => match blank_len(rest) {
                    0 => (first.len_utf8(), 0),
                    blank => (0, blank),
                },
                (word, raw) => (word, raw),
            };
            code.push_str(&rest[..kept]);
            code.extend(rest[kept..kept + blank].chars().map(|c| if c == '\n' { c } else { ' ' }));
            rest = &rest[kept + blank..];
        }
        Masked { code }
    }

    /// All of it.
    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// The lines of code, numbered from one.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.code.lines())
    }
}

/// Whether `line` has `word`, and not just as a part of a longer one.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let ends_in_word = word.ends_with(is_word);
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].ends_with(is_word);
        let after = ends_in_word && line[at + word.len()..].starts_with(is_word);
        !before && !after
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Length of the identifier or number that `rest` begins with.
fn word_len(rest: &str) -> usize {
    rest.find(|c| !is_word(c)).unwrap_or(rest.len())
}

/// Length of the comment or literal that `rest` begins with; 0 if it begins with neither.
fn blank_len(rest: &str) -> usize {
    if rest.starts_with("//") {
        rest.find('\n').unwrap_or(rest.len())
    } else if rest.starts_with("/*") {
        block_comment_len(rest)
    } else if rest.starts_with('"') {
        string_len(rest)
    } else if rest.starts_with('\'') {
        character_len(rest)
    } else {
        0
    }
}

/// Block comments nest.
fn block_comment_len(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        let (step, change) = match rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (2, 1),
            [b'*', b'/', ..] => (2, -1),
            _ => (1, 0),
        };
        at += step;
        depth += change;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn string_len(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Of `'a'` and `'\n'`; a lifetime or a label is code.
fn character_len(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    let (first, second) = (chars.next(), chars.next());
    match (first, second) {
        // The character after the backslash may itself be a quotation mark.
        (Some((_, '\\')), Some((at, c))) => {
            let after = at + c.len_utf8();
            rest[after..].find('\'').map_or(rest.len(), |end| after + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

/// Length of `#"..."#` after the `r` of a raw string; 0 if it is no string, as in `r#type`.
fn raw_len(rest: &str) -> usize {
    let hashes = rest.find(|c| c != '#').unwrap_or(rest.len());
    if !rest[hashes..].starts_with('"') {
        return 0;
    }
    let end = format!("\"{}", &rest[..hashes]);
    let inside = hashes + 1;
    rest[inside..].find(&end).map_or(rest.len(), |at| inside + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left, runs of spaces made one.
    fn left(source: &str) -> String {
        Masked::of(source).code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_go() {
        assert_eq!(left("a // b\nc"), "a c");
        assert_eq!(left("a /* b /* c */ d */ e"), "a e");
        assert_eq!(left("a /* é */ b /* no end"), "a b");
    }

    #[test]
    fn literals_go_and_lifetimes_stay() {
        assert_eq!(left(r#"f("a \" b", b"c", 'd', '\'', '\u{e9}', 'é')"#), "f( , b , , , , )");
        assert_eq!(
            left("fn f<'a>(x: &'a str) { 'outer: loop {} }"),
            "fn f<'a>(x: &'a str) { 'outer: loop {} }"
        );
        assert_eq!(
            left(r###"f(r"\", r#"a " b"#, br##"c "# d"##) r#type"###),
            "f(r , r , br ) r#type"
        );
        assert_eq!(left("a \"no end"), "a");
    }

    #[test]
    fn a_comment_in_a_string_is_a_string_and_the_other_way_round() {
        assert_eq!(left("f(\"// a\") // \"b\nc"), "f( ) c");
    }

    #[test]
    fn lines_keep_their_numbers() {
        let masked = Masked::of("a\n\"b\nc\"\nd");
        let lines: Vec<_> = masked.lines().map(|(number, line)| (number, line.trim())).collect();
        assert_eq!(lines, [(1, "a"), (2, ""), (3, ""), (4, "d")]);
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("pub const fn", "const"));
        assert!(!has_word("#![forbid(const_code)]", "const"));
        assert!(!has_word("not_const", "const"));
        assert!(has_word("x = y!(1)", "y!") && !has_word("my!(1)", "y!"));
    }
}
