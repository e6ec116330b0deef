//! Words by rank: real ones for the most frequent, invented ones of syllables for all others.
//!
//! A rank has one spelling, and almost always one of its own: syllables are consonant, vowel and perhaps an end
//! that needs a consonant behind it, so a word is cut in one way only. There is a word for every rank, so a stream never runs out of
//! new ones.

/// The most frequent words of English text.
const FREQUENT: [&str; 96] = [
    "the", "a", "to", "i", "of", "in", "and", "my", "for", "this", "is", "on", "you", "it", "from",
    "with", "what", "that", "at", "how", "me", "new", "have", "just", "are", "an", "do", "be",
    "by", "can", "was", "your", "about", "so", "out", "not", "one", "post", "like", "as", "all",
    "but", "first", "up", "we", "some", "if", "or", "here", "when", "time", "has", "get", "who",
    "why", "help", "made", "more", "day", "think", "now", "would", "his", "they", "any", "today",
    "no", "got", "anyone", "will", "he", "after", "know", "there", "good", "game", "best",
    "people", "found", "make", "old", "year", "been", "need", "love", "free", "over", "us", "does",
    "had", "our", "into", "last", "their", "want", "ever",
];

/// A syllable is seven bits: onset, vowel, and whether it is closed.
const ONSETS: &[u8; 16] = b"bdfghjklmnprstvw";
const VOWELS: &[u8; 4] = b"aiou";
const CODAS: [&str; 4] = ["n", "rk", "st", "nd"];
const SYLLABLE_BITS: u32 = 7;
const SYLLABLES_MIN: u32 = 2;
/// Odd, so that multiplying permutes the words of one length: neighbours in rank do not look alike.
const SCATTER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Appends the word of `rank` (0 is the most frequent) to `text`.
pub(crate) fn write_word(rank: u64, text: &mut String) {
    if let Some(word) = FREQUENT.get(rank as usize) {
        return text.push_str(word);
    }
    let mut number = rank - FREQUENT.len() as u64;
    let mut syllables = SYLLABLES_MIN;
    while number >> (syllables * SYLLABLE_BITS) > 0 {
        number -= 1 << (syllables * SYLLABLE_BITS);
        syllables += 1;
    }
    let mut bits = number.wrapping_mul(SCATTER) & ((1 << (syllables * SYLLABLE_BITS)) - 1);
    for _ in 0..syllables {
        write_syllable(bits as usize & 127, text);
        bits >>= SYLLABLE_BITS;
    }
}

fn write_syllable(bits: usize, text: &mut String) {
    let (onset, vowel, closed) = (bits & 15, bits >> 4 & 3, bits >> 6);
    text.push(char::from(ONSETS[onset]));
    text.push(char::from(VOWELS[vowel]));
    if closed == 1 {
        text.push_str(CODAS[(onset ^ vowel) & 3]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ranks_have_words_of_their_own() {
        let word = |rank| {
            let mut text = String::new();
            write_word(rank, &mut text);
            text
        };
        assert_eq!(word(0), "the");
        let ranks = (0..200_000).chain((1 << 40)..(1 << 40) + 1000);
        let words: Vec<_> = ranks.map(word).collect();
        assert!(words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())));
        assert_eq!(words.iter().collect::<HashSet<_>>().len(), words.len());
    }
}
