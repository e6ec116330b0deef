//! What the tests of all analyzers share: how to run one, what to compare, and where random text
//! comes from.

use proptest::prelude::*;
use spirit_kernel::Level;
use spirit_text::{Analyzer, Summary, TERM_BYTES_MAX, Tokenizer};

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

/// Lower-case, character by character.
pub(crate) fn lower(word: &str) -> String {
    word.chars().flat_map(char::to_lowercase).collect()
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
