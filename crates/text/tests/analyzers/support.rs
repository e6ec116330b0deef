//! What the tests of all analyzers share: how to run one, what to compare, and where random text
//! comes from.

use proptest::prelude::*;
use spirit_kernel::Level;
use spirit_text::{Analyzer, Summary, TERM_BYTES_MAX, Tokenizer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// A term and its position.
pub(crate) type Placed = (String, u32);

/// The tokens of `text`, from a tokenizer that has read another text before, at every vector level.
pub(crate) fn tokens(analyzer: Analyzer, text: &str) -> (Vec<Placed>, Summary) {
    let mut results = Level::all_supported().map(|level| {
        let mut tokenizer = Tokenizer::with_level(analyzer, text.len() + 100, level);
        // Leaves letters, digits and non-ASCII bytes behind in every buffer.
        let residue: String = "a1é_".chars().cycle().take(text.len() / 2 + 40).collect();
        run(&mut tokenizer, &residue);
        run(&mut tokenizer, text)
    });
    let first = results.next().expect("the portable level is always there");
    for other in results {
        assert_eq!(first, other, "vector levels disagree");
    }
    first
}

/// The tokens of `text`, and what every analyzer owes its sink.
pub(crate) fn run(tokenizer: &mut Tokenizer, text: &str) -> (Vec<Placed>, Summary) {
    let mut placed: Vec<Placed> = Vec::new();
    let summary = tokenizer
        .for_each(text, |token| {
            let bytes = token.bytes();
            assert!(!bytes.is_empty() && bytes.len() <= TERM_BYTES_MAX);
            assert_eq!(bytes.len(), token.len());
            let mut head = [0; 16];
            head[..bytes.len().min(16)].copy_from_slice(&bytes[..bytes.len().min(16)]);
            assert_eq!(token.head(), u128::from_le_bytes(head));
            assert!(placed.last().is_none_or(|(_, position)| *position < token.position()));
            placed.push((token.text().to_owned(), token.position()));
        })
        .expect("the tokenizer was made for this text");
    assert!(placed.last().is_none_or(|(_, position)| *position < summary.tokens));
    (placed, summary)
}

/// What a tokenizer should report if `words` are all the tokens there are.
pub(crate) fn place<S: AsRef<str>>(words: &[S]) -> (Vec<Placed>, Summary) {
    let fits = |word: &str| word.len() <= TERM_BYTES_MAX;
    let placed = (0..).zip(words).map(|(position, word)| (word.as_ref().to_owned(), position));
    let placed: Vec<Placed> = placed.filter(|(word, _)| fits(word)).collect();
    let skipped = (words.len() - placed.len()) as u32;
    (placed, Summary { tokens: words.len() as u32, skipped })
}

/// The term of a word that is cut from a normalized text: in capitals and back, so that what is
/// equal in capitals is equal.
pub(crate) fn fold(word: &str) -> String {
    let small = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<String>();
    let capitals: String = small(word).chars().flat_map(char::to_uppercase).collect();
    let mut folded = small(&capitals).replace("\u{2bc}n", "n");
    while folded.contains("i\u{307}") {
        folded = folded.replace("i\u{307}", "i");
    }
    folded.chars().filter(|&c| !is_selector(c)).nfc().collect()
}

/// The text without what nobody sees, with one apostrophe, and composed.
pub(crate) fn normal(text: &str) -> String {
    let seen: Vec<char> = text.chars().filter(|&c| !is_unseen(c)).collect();
    let mut kept = Vec::new();
    for (at, &c) in seen.iter().enumerate() {
        let before = kept.last().copied().unwrap_or(' ');
        let stays = match c {
            '\u{200d}' => ends_emoji(before) && normal_begins_with_pictograph(&seen[at + 1..]),
            '\u{e0020}'..='\u{e007f}' => matches!(before, '🏴' | '\u{e0020}'..='\u{e007f}'),
            _ if is_selector(c) => !(before.is_alphabetic() || is_combining_mark(before)),
            _ => true,
        };
        if stays {
            kept.push(c);
        }
    }
    let plain = kept.into_iter().map(|c| if "’‘‛ʼʻ՚＇".contains(c) { '\'' } else { c });
    plain.nfc().collect()
}

/// The Default_Ignorable_Code_Points of Unicode 17, but for those that have a meaning here.
pub(crate) fn is_unseen(c: char) -> bool {
    let ignorable = [
        0xad..=0xad,
        0x34f..=0x34f,
        0x61c..=0x61c,
        0x17b4..=0x17b5,
        0x180b..=0x180f,
        0x200b..=0x200f,
        0x202a..=0x202e,
        0x2060..=0x206f,
        0xfeff..=0xfeff,
        0xfff0..=0xfff8,
        0x1bca0..=0x1bca3,
        0x1d173..=0x1d17a,
        0xe0000..=0xe0fff,
    ];
    let has_meaning = matches!(c, '\u{200b}' | '\u{200d}' | '\u{e0020}'..='\u{e007f}');
    !has_meaning && !is_selector(c) && ignorable.iter().any(|range| range.contains(&(c as u32)))
}

pub(crate) fn is_selector(c: char) -> bool {
    matches!(c as u32, 0xfe00..=0xfe0f | 0xe0100..=0xe01ef)
}

fn ends_emoji(c: char) -> bool {
    matches!(c, '\u{fe0f}' | '🏻'..='🏿' | '\u{e0020}'..='\u{e007f}') || is_pictograph(c)
}

/// Joiners behind the first character do not change it.
fn normal_begins_with_pictograph(rest: &[char]) -> bool {
    let rest: String = rest.iter().filter(|&&c| c != '\u{200d}').collect();
    normal(&rest).chars().next().is_some_and(is_pictograph)
}

/// What UAX #29 keeps together with a joiner before it (WB3c), and not by being a mark.
fn is_pictograph(c: char) -> bool {
    let is_one = |text: String| text.split_word_bounds().count() == 1;
    !c.is_ascii() && is_one(format!("\u{200d}{c}")) && !is_one(format!("-{c}"))
}

/// Characters and clusters on which word rules turn.
pub(crate) const HARD: &[&str] = &[
    "İ",
    "ß",
    "ẞ",
    "é",
    "e\u{301}",
    "\u{301}",
    "\u{345}",
    "Σ",
    "ς",
    "Ⱥ",
    "ŉ",
    "ª",
    "²",
    "½",
    "Ⅷ",
    "ⓐ",
    "\u{ad}",
    "\u{200b}",
    "\u{200e}",
    "\u{202a}",
    "\u{2066}",
    "\u{34f}",
    "\u{fe0e}",
    "\u{e0101}",
    "🏴\u{e0067}\u{e0062}\u{e007f}",
    "\u{e0067}",
    "‘",
    "ʼ",
    "＇",
    "ʻ",
    "\u{307}",
    "\u{323}",
    "\u{338}",
    "ı",
    "ǰ",
    "ΐ",
    "ᾼ",
    "ﬁ",
    "ſ",
    "K",
    "Å",
    "\u{37e}",
    "↔",
    "q\u{307}\u{323}",
    "\u{1112}\u{1161}\u{11ab}",
    "하",
    "\u{11ab}",
    "か\u{3099}",
    "\u{958}",
    "\u{93c}",
    "\u{f71}",
    "\u{f73}",
    "\u{fb2a}",
    "\u{5b4}",
    "\u{200d}",
    "\u{200c}",
    "\u{feff}",
    "\u{2060}",
    "\u{a0}",
    "\u{2003}",
    "\u{3000}",
    "\u{85}",
    "\u{2028}",
    "’",
    "“",
    "”",
    "…",
    "–",
    "·",
    "：",
    "．",
    "，",
    "＿",
    "‿",
    "＃",
    "日",
    "本",
    "語",
    "の",
    "カ",
    "タ",
    "ー",
    "한",
    "국",
    "ก",
    "ิ",
    "ह",
    "ि",
    "न",
    "्",
    "द",
    "ी",
    "א",
    "ב",
    "״",
    "ا",
    "١",
    "٣",
    "٬",
    "👍",
    "🏽",
    "👩\u{200d}🚀",
    "👩",
    "🇫🇷",
    "🇩",
    "🇪",
    "❤\u{fe0f}",
    "❤",
    "1\u{fe0f}\u{20e3}",
    "#\u{fe0f}\u{20e3}",
    "\u{fe0f}",
    "\u{20e3}",
    "©",
    "™\u{fe0f}",
    "Ⓜ",
    "🅰",
    "\u{10ffff}",
    "\u{1f}",
    "\0",
    "\r\n",
    "\u{b}",
    "\u{c}",
];

/// Pieces of ASCII on which word rules turn.
const ASCII: &[&str] = &[
    " ",
    " ",
    " ",
    " ",
    "  ",
    "\t",
    "\n",
    ".",
    ",",
    ";",
    ":",
    "'",
    "\"",
    "_",
    "__",
    "-",
    "/",
    "#",
    "@",
    "$",
    "(",
    ")",
    "a",
    "b",
    "Zz",
    "9",
    "10",
    "can't",
    "3.14",
    "1,000",
    "e.g.",
    "a:b",
    "snake_case",
    "_x",
    "x_",
    "The",
    "running",
    "http://",
    "HTTPS://",
    "www.",
    "http",
    "#tag",
    "@name",
    "$AAPL",
    "C++",
    "c#",
    ".net",
    "+",
    "++",
    "i",
    "=",
    "'s",
    "of",
];

/// Text in pieces, `hard_percent` of them beyond ASCII, up to a few blocks long.
pub(crate) fn text(hard_percent: u32) -> impl Strategy<Value = String> {
    let ascii = prop_oneof![
        6 => proptest::sample::select(ASCII).prop_map(str::to_owned),
        4 => "[A-Za-z0-9]{1,20}",
        1 => "[ -~]{1,8}",
        1 => proptest::collection::vec(0..0x80u8, 1..4)
            .prop_map(|bytes| String::from_utf8(bytes).expect("ASCII")),
    ];
    let hard = prop_oneof![
        8 => proptest::sample::select(HARD).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "\\w{1,4}",
    ];
    let piece = prop_oneof![100 - hard_percent => ascii, hard_percent => hard];
    // Few pieces more often than many: a failure then already comes small.
    let count = prop_oneof![0..6usize, 0..60usize];
    count
        .prop_flat_map(move |n| proptest::collection::vec(piece.clone(), n))
        .prop_map(|pieces| pieces.concat())
}

/// Texts that are ASCII, mostly ASCII, half and half, and neither, in equal parts.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![text(0), text(5), text(50), text(95)]
}

/// How many random texts each property is tried on.
pub(crate) fn cases() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) }
}
