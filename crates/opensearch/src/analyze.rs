//! `_analyze`: the tokens that an analyzer makes of texts.

use serde_json::{Value, json};
use spirit::Analyzer;
use spirit_text::Tokenizer;

use crate::error::Refusal;

/// Bytes of a text, at most.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// Positions between two texts, as OpenSearch has them.
const GAP: u64 = 100;

/// Returns the tokens of texts, as `_analyze` shows them. Offsets count UTF-16 units, as there.
///
/// # Errors
/// If a text is too long.
///
/// ```
/// use spirit::Analyzer;
///
/// let tokens = spirit_opensearch::analyze::tokens(Analyzer::Standard, &["An Äpfel".to_owned()])?;
/// assert_eq!(tokens[1]["start_offset"], 3);
/// # Ok::<(), spirit_opensearch::error::Refusal>(())
/// ```
pub fn tokens(analyzer: Analyzer, texts: &[String]) -> Result<Vec<Value>, Refusal> {
    let mut tokenizer = Tokenizer::new(analyzer, TEXT_BYTES_MAX);
    let (mut tokens, mut position, mut offset) = (Vec::new(), 0, 0);
    for text in texts {
        let (mut read, mut units, mut last) = (0, 0, 0);
        // Spans ascend, so each part of the text is counted once.
        let mut until = |end: usize| {
            units += text[read..end].encode_utf16().count();
            read = end;
            units
        };
        let cut = tokenizer.for_each_span(text, |token, span| {
            last = u64::from(token.position());
            let (start, end) = (until(span.start), until(span.end));
            tokens.push(json!({
                "token": token.text(),
                "start_offset": offset + start,
                "end_offset": offset + end,
                "type": kind(analyzer, token.text()),
                "position": position + last,
            }));
        });
        cut.map_err(|error| Refusal::illegal_argument(error.to_string()))?;
        offset += until(text.len()) + 1;
        position += last + GAP + 1;
    }
    Ok(tokens)
}

/// Returns the type of a token.
fn kind(analyzer: Analyzer, token: &str) -> &'static str {
    match analyzer {
        Analyzer::Keyword => "word",
        _ if token.bytes().all(|byte| byte.is_ascii_digit()) => "<NUM>",
        _ => "<ALPHANUM>",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As OpenSearch 2.19 answers.
    #[test]
    fn tokens_have_their_places() {
        let texts = ["A b".to_owned(), "C".to_owned()];
        let found = tokens(Analyzer::Standard, &texts).unwrap();
        let token = |text: &str, start: u64, position: u64| {
            json!({
                "token": text, "start_offset": start, "end_offset": start + 1, "type": "<ALPHANUM>",
                "position": position
            })
        };
        assert_eq!(found, [token("a", 0, 0), token("b", 2, 1), token("c", 4, 102)]);
    }
}
