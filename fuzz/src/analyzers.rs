//! Every analyzer on any text: tokens in order, within bounds, with the head that their bytes have, and the same
//! ones on every vector level and from a tokenizer that has been used before.

use std::cell::RefCell;

use spirit_kernel::Level;
use spirit_text::{Analyzer, TERM_BYTES_MAX, Tokenizer};

const TEXT_BYTES_MAX: usize = 1 << 14;

/// A token: position, length, bytes.
type Kept = Vec<(u32, Vec<u8>)>;

thread_local! {
    /// Of each analyzer, a tokenizer for every vector level, the plainest first.
    static TOKENIZERS: RefCell<Vec<Vec<Tokenizer>>> = RefCell::new(
        Analyzer::ALL
            .map(|a| Level::all_supported().map(|l| Tokenizer::with_level(a, TEXT_BYTES_MAX, l)).collect())
            .into(),
    );
}

/// Cuts `data`, as far as it is text, with all analyzers.
pub fn analyzers(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    TOKENIZERS.with_borrow_mut(|tokenizers| {
        for tokenizers in tokenizers {
            let tokens = cut(&mut tokenizers[0], &text);
            for tokenizer in tokenizers {
                let analyzer = tokenizer.analyzer();
                assert_eq!(
                    tokens,
                    cut(tokenizer, &text),
                    "{analyzer} depends on the vector level: {text:?}"
                );
                assert_eq!(
                    tokens,
                    cut(tokenizer, &text),
                    "{analyzer} remembers the last text: {text:?}"
                );
            }
        }
    });
}

fn cut(tokenizer: &mut Tokenizer, text: &str) -> Option<Kept> {
    let mut kept = Kept::new();
    let summary = tokenizer.for_each(text, |token| {
        let bytes = token.bytes();
        assert!((1..=TERM_BYTES_MAX).contains(&bytes.len()) && bytes.len() == token.len());
        assert!(std::str::from_utf8(bytes).is_ok(), "a token that is no text in {text:?}");
        let mut head = [0; 16];
        let len = bytes.len().min(16);
        head[..len].copy_from_slice(&bytes[..len]);
        assert_eq!(token.head(), u128::from_le_bytes(head), "head of {bytes:?}");
        assert!(
            kept.last().is_none_or(|(position, _)| *position < token.position()),
            "out of order"
        );
        kept.push((token.position(), bytes.to_vec()));
    });
    let Ok(summary) = summary else {
        assert!(text.len() > TEXT_BYTES_MAX && kept.is_empty(), "a text was refused");
        return None;
    };
    let positions = kept.last().map_or(0, |(position, _)| position + 1);
    assert!(positions <= summary.tokens, "{summary:?} with a token at {positions}");
    assert!(
        kept.len() as u64 + u64::from(summary.skipped) <= u64::from(summary.tokens),
        "{summary:?}"
    );
    Some(kept)
}
