//! The characters that the language gives a meaning, and texts that end or begin with them.

use std::borrow::Cow;

/// True for a character, other than a letter or digit, with which a word, phrase or group begins.
pub(super) fn begins_word(c: char) -> bool {
    is_quote(c) || "(\\_@#$/*?+-!)".contains(c) || !c.is_ascii() && !c.is_whitespace()
}

/// True if a text begins with an amount: a number with a fraction, a percent sign or a currency.
pub(super) fn begins_amount(text: &str) -> bool {
    let number = text.trim_start_matches(['$', '€', '£', '¥']);
    let word = &number[..number.find(char::is_whitespace).unwrap_or(number.len())];
    let is_marked = number.len() < text.len() || word.contains(['.', ',', '%']);
    is_marked && word.starts_with(|c: char| c.is_ascii_digit())
}

/// The dashes that word processors put in place of a hyphen: en dash, em dash, minus sign.
pub(super) const DASHES: [char; 3] = ['\u{2013}', '\u{2014}', '\u{2212}'];

/// True for a character beyond ASCII that the language gives a meaning.
pub(crate) fn is_mark(c: char) -> bool {
    is_dash(c) || !c.is_ascii() && is_quote(c)
}

pub(super) fn is_dash(c: char) -> bool {
    DASHES.contains(&c)
}

/// True for a quotation mark: the plain one, and those that phones and word processors write.
/// Single marks are not among them, since they are apostrophes as well.
pub(super) fn is_quote(c: char) -> bool {
    c == '"' || !c.is_ascii() && !partners(c).is_empty()
}

/// Returns the marks that end a text after a quotation mark; none for any other character.
pub(super) fn partners(open: char) -> &'static [char] {
    match open {
        '"' => &['"'],
        '\u{ff02}' => &['\u{ff02}', '"'],
        // English “ ”, German „ “, Swedish ” ”, or a plain mark that was not replaced.
        '“' | '”' | '„' | '‟' => &['“', '”', '„', '‟', '"'],
        '«' => &['»'],
        '»' => &['«', '»'],
        '‹' => &['›'],
        '›' => &['‹', '›'],
        '「' => &['」'],
        '『' => &['』'],
        '〝' => &['〞', '〟'],
        // These never begin a quotation in their own language.
        '」' | '』' | '〞' | '〟' => &['」', '』', '〞', '〟'],
        _ => &[],
    }
}

/// Returns the offset of the first character that `ends` a text and is not escaped.
pub(super) fn unescaped_end(text: &str, ends: impl Fn(char) -> bool) -> Option<usize> {
    let mut escaped = false;
    let found = text.char_indices().find(|(_, c)| {
        let ends = ends(*c) && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    found.map(|(at, _)| at)
}

/// Returns the length of the text before the first unescaped colon, if no word ends before it.
pub(super) fn before_colon(text: &str) -> Option<usize> {
    unescaped_end(text, |c| ends_word(c) || c == ':').filter(|end| text[*end..].starts_with(':'))
}

pub(super) fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')') || is_quote(c)
}

/// True if a range follows a word, which must be a field's name then.
pub(super) fn begins_range(word: &str, behind: &str) -> bool {
    let is_range = behind.strip_prefix(':').is_some_and(|b| b.starts_with(['[', '{', '<', '>']));
    is_range && word.starts_with(|c: char| c.is_alphabetic() || c == '@')
}

/// True if a raw text before a colon can only be meant as a field's name: letters of any language,
/// digits, `_ - . @ $` and escaped characters, and no digit first. So `10:30` is a word, unless
/// there is a field `10`.
pub(super) fn is_name(raw: &str) -> bool {
    let scheme = |scheme: &&str| raw.eq_ignore_ascii_case(scheme);
    if ["http", "https", "ftp", "mailto"].iter().any(scheme) {
        return false;
    }
    let mut escaped = false;
    let is_part = |c: char| c.is_alphanumeric() || "_-.@$".contains(c) || !c.is_ascii();
    let all = raw.chars().all(|c| {
        let fits = escaped || c == '\\' || is_part(c);
        escaped = c == '\\' && !escaped;
        fits
    });
    all && raw.starts_with(|c: char| !c.is_numeric() && !"-.".contains(c))
}

/// Returns the offset of the last unescaped `mark`.
pub(super) fn last_mark(raw: &str, mark: char) -> Option<usize> {
    let (mut escaped, mut last) = (false, None);
    for (at, c) in raw.char_indices() {
        if c == mark && !escaped {
            last = Some(at);
        }
        escaped = c == '\\' && !escaped;
    }
    last
}

/// True if a text ends with a `\\` that escapes nothing.
pub(super) fn ends_escaped(raw: &str) -> bool {
    raw.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// True if the text after a mark is meant as a number.
pub(super) fn begins_number(text: &str) -> bool {
    text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit() || "+-.=".contains(c))
}

/// True if the text has an unescaped `*` or `?`. In lenient text question marks at the end do not
/// count.
pub(super) fn has_wildcard(raw: &str, typed: bool) -> bool {
    let raw = if typed { raw.trim_end_matches('?') } else { raw };
    let mut escaped = false;
    raw.bytes().any(|byte| {
        let wild = matches!(byte, b'*' | b'?') && !escaped;
        escaped = byte == b'\\' && !escaped;
        wild
    })
}

/// Removes the escapes of a text: `\` escapes the next character.
pub(super) fn unescaped(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return raw.into();
    }
    let mut text = String::with_capacity(raw.len());
    let mut escaped = false;
    for c in raw.chars() {
        escaped = c == '\\' && !escaped;
        if !escaped {
            text.push(c);
        }
    }
    text.into()
}
