//! The analysis that all engines share, here only to count tokens.

/// Tokens with more UTF-8 bytes than this (lower-cased) are skipped; the position is kept.
pub const LONGEST_TOKEN: usize = 255;

/// The number of tokens an engine indexes for this text.
pub fn count_tokens(text: &str) -> u64 {
    text.split(|c: char| !c.is_alphanumeric()).filter(|run| is_indexed(run)).count() as u64
}

fn is_indexed(run: &str) -> bool {
    !run.is_empty() && lower_case_length(run) <= LONGEST_TOKEN
}

/// Lower-casing at most halves again the length of a character, so most runs need no look.
fn lower_case_length(run: &str) -> usize {
    if run.len() <= LONGEST_TOKEN * 2 / 3 {
        return run.len();
    }
    run.chars().flat_map(char::to_lowercase).map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_alphanumeric_runs_up_to_255_bytes() {
        assert_eq!(count_tokens(""), 0);
        assert_eq!(count_tokens("China's First CC-licensed Album!"), 6);
        assert_eq!(count_tokens(&"a".repeat(255)), 1);
        assert_eq!(count_tokens(&"a".repeat(256)), 0);
        assert_eq!(count_tokens(&format!("x {} y", "\u{23a}".repeat(100))), 2);
    }

    #[test]
    fn no_character_grows_by_more_than_half_when_lower_cased() {
        for c in char::MIN..=char::MAX {
            let lower: usize = c.to_lowercase().map(char::len_utf8).sum();
            assert!(2 * lower <= 3 * c.len_utf8(), "{c:?}");
        }
    }
}
