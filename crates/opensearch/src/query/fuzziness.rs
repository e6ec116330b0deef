//! Fuzziness: the number of edits, or one by a word's length.

use spirit::Clause;
use spirit::query::Word;

use crate::error::Refusal;
use crate::json::Json;
use crate::read;

/// Edits of a fuzzy word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fuzziness {
    /// At most this many.
    Edits(u8),
    /// None below the first length in characters, one below the second, else two.
    Auto(usize, usize),
}

/// What a fuzzy word may differ in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fuzzy {
    pub(super) fuzziness: Fuzziness,
    /// Characters at the beginning that must be equal.
    pub(super) prefix_length: u8,
    pub(super) transpositions: bool,
}

impl Default for Fuzzy {
    fn default() -> Fuzzy {
        Fuzzy { fuzziness: Fuzziness::AUTO, prefix_length: 0, transpositions: true }
    }
}

impl Fuzziness {
    pub(super) const AUTO: Fuzziness = Fuzziness::Auto(3, 6);

    /// Reads `AUTO`, `AUTO:3,6` or a number.
    pub(super) fn read(value: &Json) -> Result<Fuzziness, Refusal> {
        Fuzziness::of(&read::shown(value))
    }

    /// Like [`read`](Self::read), of a text.
    pub(super) fn of(text: &str) -> Result<Fuzziness, Refusal> {
        let upper = text.trim().to_ascii_uppercase();
        if let Some(lengths) = upper.strip_prefix("AUTO") {
            return match lengths.strip_prefix(':') {
                None if lengths.is_empty() => Ok(Fuzziness::AUTO),
                lengths => between(lengths.unwrap_or_default()),
            };
        }
        let edits = upper.parse().ok().filter(|edits: &f32| *edits >= 0.0);
        let wrong = || Refusal::illegal_argument(format!("Invalid fuzziness value: {text}"));
        // More edits than two count as two, as in OpenSearch.
        let most = f32::from(Clause::DISTANCE_MAX);
        Ok(Fuzziness::Edits(edits.ok_or_else(wrong)?.min(most) as u8))
    }

    fn edits(self, term: &str) -> u8 {
        match self {
            Fuzziness::Edits(edits) => edits,
            Fuzziness::Auto(low, high) => {
                let length = term.chars().count();
                u8::from(length >= low) + u8::from(length >= high)
            }
        }
    }
}

fn between(lengths: &str) -> Result<Fuzziness, Refusal> {
    let wrong = || Refusal::parse("failed to find low and high distance values");
    let (low, high) = lengths.split_once(',').ok_or_else(wrong)?;
    let [low, high] = [low, high].map(|length| length.trim().parse().ok());
    match (low, high) {
        (Some(low), Some(high)) if low <= high => Ok(Fuzziness::Auto(low, high)),
        _ => Err(wrong()),
    }
}

impl Fuzzy {
    /// Returns a clause for terms near this one. Without edits it is the term.
    pub(super) fn clause(&self, field: &str, term: &str) -> Clause {
        let word = Word { field: field.to_owned(), text: term.to_owned() };
        match self.fuzziness.edits(term) {
            0 => Clause::Term(word),
            distance => {
                let Fuzzy { prefix_length, transpositions, .. } = *self;
                Clause::Fuzzy { word, distance, prefix_length, transpositions }
            }
        }
    }
}

/// Reads a number of characters that must be equal.
pub(super) fn prefix_length(value: &Json) -> Result<u8, Refusal> {
    let length = read::integer(value)?;
    if length < 0 {
        return Err(Refusal::illegal_argument("No negative prefix length allowed."));
    }
    Ok(u8::try_from(length).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_decide() {
        let edits = |text: &str, term| Fuzziness::of(text).map(|fuzziness| fuzziness.edits(term));
        for (text, term, expected) in [
            ("AUTO", "ab", 0),
            ("auto", "abc", 1),
            ("AUTO", "abcdef", 2),
            ("AUTO", "äöü", 1),
            ("AUTO:1,2", "a", 1),
            ("AUTO:1,2", "ab", 2),
            ("2", "a", 2),
            ("1.0", "a", 1),
            ("9", "a", 2),
            ("0", "abcdef", 0),
        ] {
            assert_eq!(edits(text, term), Ok(expected), "{text} {term}");
        }
        for wrong in ["AUTO:x", "AUTO:6,3", "AUTOx", "AUTO:"] {
            let reason = edits(wrong, "a").unwrap_err().reason;
            assert_eq!(reason, "failed to find low and high distance values");
        }
        for wrong in ["x", "-1", "NaN"] {
            let reason = edits(wrong, "a").unwrap_err().reason;
            assert_eq!(reason, format!("Invalid fuzziness value: {wrong}"));
        }
    }
}
