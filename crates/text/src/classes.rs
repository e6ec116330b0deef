//! Word-break classes of UAX #29 for the most frequent characters.
//!
//! The segmentation crate knows every character, but searches its tables for each. Nearly all text
//! that leaves the fast lane has nothing rarer than an accented letter, a dash or a curly quotation
//! mark. So their classes are listed here. Every other character is [`UNKNOWN`], and the caller
//! asks the crate. A test compares each known character with the crate.

/// A set of properties. The empty set is a character that breaks words on both sides.
pub(crate) type Class = u8;

/// Joins letters, digits and `_` on either side.
pub(crate) const LETTER: Class = 1;
/// Joins letters, digits and `_` on either side.
pub(crate) const DIGIT: Class = 2;
/// `_`: joins like letters and digits, but is no word alone.
const UNDERSCORE: Class = 4;
/// Letter, digit or `_`.
pub(crate) const CORE: Class = LETTER | DIGIT | UNDERSCORE;
/// Joins a letter to a letter.
const BETWEEN_LETTERS: Class = LETTER << INFIX_SHIFT;
/// Joins a digit to a digit.
const BETWEEN_DIGITS: Class = DIGIT << INFIX_SHIFT;
/// The shift from a core property to the property of characters between two such.
const INFIX_SHIFT: u32 = 4;
/// The segmentation crate must decide.
pub(crate) const UNKNOWN: Class = 0x80;

static ASCII: [Class; 128] = ascii();

const fn ascii() -> [Class; 128] {
    let mut classes = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b'.' | b'\'' => BETWEEN_LETTERS | BETWEEN_DIGITS,
            b':' => BETWEEN_LETTERS,
            b',' | b';' => BETWEEN_DIGITS,
            _ => 0,
        };
        byte += 1;
    }
    classes
}

/// Returns the class of a character.
pub(crate) const fn class(c: char) -> Class {
    match c {
        ..='\u{7f}' => ASCII[c as usize],
        // × and ÷ sit among the Latin letters.
        '\u{d7}' | '\u{f7}' => 0,
        '\u{c0}'..='\u{24f}' | '\u{400}'..='\u{481}' | '\u{48a}'..='\u{52f}' => LETTER,
        // Curly single quotation marks. The right one is also the apostrophe.
        '\u{2018}' | '\u{2019}' => BETWEEN_LETTERS | BETWEEN_DIGITS,
        // Dashes, curly double quotation marks, bullets, the ellipsis, primes, guillemets,
        // currency, degree.
        '\u{2010}'..='\u{2015}'
        | '\u{201c}'..='\u{201e}'
        | '\u{2020}'..='\u{2023}'
        | '\u{2026}' => 0,
        '\u{2032}' | '\u{2033}' | '\u{20ac}' | '\u{2122}' => 0,
        '\u{a0}'..='\u{a9}' | '\u{ab}' | '\u{ae}'..='\u{b1}' | '\u{bb}' | '\u{bf}' => 0,
        _ => UNKNOWN,
    }
}

/// Returns class and length in bytes of the character at byte `at`. At the end of the text, returns
/// those of a break.
pub(crate) fn class_at(text: &str, at: usize) -> (Class, usize) {
    match text.as_bytes().get(at) {
        None => (0, 0),
        Some(&byte @ ..0x80) => (ASCII[usize::from(byte)], 1),
        Some(_) => {
            let c = text[at..].chars().next().expect("a byte follows");
            (class(c), c.len_utf8())
        }
    }
}

/// Returns the end of the word that begins with the core character at byte `start`. None if an
/// unknown character decides. The loop ends at the first character that does not join.
pub(crate) fn word_end(text: &str, start: usize) -> Option<usize> {
    let (mut last, len) = class_at(text, start);
    debug_assert!(last & CORE != 0);
    let mut end = start + len;
    loop {
        let (class, len) = class_at(text, end);
        if class & UNKNOWN != 0 {
            return None;
        }
        if class & CORE != 0 {
            (last, end) = (class, end + len);
            continue;
        }
        // The properties that `class` can join with `last`. The character after it decides.
        let wanted = class >> INFIX_SHIFT & last;
        if wanted == 0 {
            return Some(end);
        }
        let (next, next_len) = class_at(text, end + len);
        if next & UNKNOWN != 0 {
            return None;
        }
        if next & wanted == 0 {
            return Some(end);
        }
        (last, end) = (next, end + len + next_len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_segmentation::UnicodeSegmentation;

    /// Whether `pattern` with `c` for its `?` is one word to the segmentation crate.
    fn is_word(pattern: &str, c: char) -> bool {
        let text = pattern.replace('?', c.encode_utf8(&mut [0; 4]));
        text.unicode_words().next() == Some(&text)
    }

    #[test]
    fn known_characters_are_what_the_crate_says() {
        for c in (0..=0x10ffff).filter_map(char::from_u32).filter(|&c| class(c) != UNKNOWN) {
            let class = class(c);
            assert_eq!(class & (LETTER | DIGIT) != 0, is_word("?", c), "{c:?}");
            assert_eq!(class & (LETTER | DIGIT) != 0, c.is_alphanumeric(), "{c:?}");
            assert_eq!(class & (CORE | BETWEEN_LETTERS) != 0, is_word("a?a", c), "{c:?}");
            assert_eq!(class & (CORE | BETWEEN_DIGITS) != 0, is_word("1?1", c), "{c:?}");
            assert_eq!(class & CORE != 0, is_word("a?1", c), "{c:?}");
            assert_eq!(class & CORE != 0, is_word("1?a_", c), "{c:?}");
            assert_eq!(class & LETTER != 0, is_word("a'?", c), "{c:?}");
            assert_eq!(class & DIGIT != 0, is_word("1,?", c), "{c:?}");
        }
    }
}
