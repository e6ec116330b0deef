//! Signs that carry no meaning of their own: those that nobody sees, and the several apostrophes.

use unicode_normalization::char::{canonical_combining_class, compose, is_combining_mark};
use unicode_segmentation::UnicodeSegmentation;

/// The joiner of emoji. Within words it asks for a shape of letters only.
const JOINER: char = '\u{200d}';
/// The base of flags of regions. Tag characters after it say which.
const FLAG: char = '\u{1f3f4}';
/// The mark that strikes arrows out.
const SOLIDUS: char = '\u{338}';

/// True for the signs that are one with `'`: typographic and modifier apostrophes, and marks that
/// are typed for them.
pub(crate) fn is_apostrophe(c: char) -> bool {
    matches!(
        c,
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2bb}' | '\u{2bc}' | '\u{55a}' | '\u{ff07}'
    )
}

/// True for signs that nobody sees, wherever they stand: the default ignorable code points of
/// Unicode.
///
/// Excluded are zero width space, which separates words, the fillers of Hangul, which are letters,
/// and those that [`is_kept`] decides by what stands around them.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e001f}' | '\u{e0080}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}'
    )
}

/// True for signs that choose among the shapes of the character before them. Terms have none.
pub(crate) fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0020}'..='\u{e007f}')
}

/// True if words are the same without some sign of this sort, or with another one for it.
pub(crate) fn is_sign(c: char) -> bool {
    c == JOINER || is_apostrophe(c) || is_variation_selector(c) || is_tag(c) || is_invisible(c)
}

/// True if `c` stays in a text that is normalized. `before` is the last character that stayed, and
/// `after` the text behind `c`.
///
/// Emoji keep their joiners, tags and selectors. A selector after a letter would keep a mark behind
/// it from joining the letter.
pub(crate) fn is_kept(c: char, before: Option<char>, after: &str) -> bool {
    if c == JOINER {
        return before.is_some_and(ends_emoji) && begins_with_pictograph(after);
    }
    if is_variation_selector(c) {
        return !before.is_some_and(|c| c.is_alphabetic() || is_mark(c));
    }
    if is_tag(c) {
        return before.is_some_and(|c| c == FLAG || is_tag(c));
    }
    !is_invisible(c)
}

/// True for marks that continue the character before them, such as accents and vowel signs.
pub(crate) fn is_mark(c: char) -> bool {
    c >= '\u{300}' && is_combining_mark(c)
}

fn ends_emoji(c: char) -> bool {
    matches!(c, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}') || is_tag(c) || is_pictograph(c)
}

fn begins_with_pictograph(text: &str) -> bool {
    let mut seen = text.chars().filter(|&c| c != JOINER && !is_tag(c) && !is_invisible(c));
    let Some(first) = seen.next().filter(|&c| is_pictograph(c)) else { return false };
    // With a solidus over it an arrow is another character, which is no pictograph.
    if compose(first, SOLIDUS).is_none() {
        return true;
    }
    let mut before = first;
    for c in seen {
        if c == SOLIDUS {
            return false;
        }
        let is_dropped = is_variation_selector(c) && is_mark(before);
        if canonical_combining_class(c) == 0 && !is_dropped {
            break;
        }
        before = c;
    }
    true
}

/// True if `c` has the property Extended_Pictographic.
///
/// The segmentation crate has the table but does not export it. Its rule WB3c shows the property:
/// after a zero width joiner it keeps exactly these characters. It also keeps extending characters,
/// by WB4. None of those begins a visible grapheme. Those that stand alone attach to a preceding
/// `-` as well, which pictographs do not.
pub(crate) fn is_pictograph(c: char) -> bool {
    !c.is_ascii() && attaches(JOINER, c) && !attaches('-', c)
}

/// True if `c` belongs to a sign before it (WB4): marks, and the tones of skin.
pub(crate) fn extends_sign(c: char) -> bool {
    !c.is_ascii() && attaches('-', c)
}

/// True if no word begins or ends between the two characters.
fn attaches(before: char, c: char) -> bool {
    let mut pair = [0; 8];
    let split = before.encode_utf8(&mut pair).len();
    let len = split + c.encode_utf8(&mut pair[split..]).len();
    let pair = std::str::from_utf8(&pair[..len]).expect("two whole characters");
    pair.split_word_bounds().next() == Some(pair)
}
