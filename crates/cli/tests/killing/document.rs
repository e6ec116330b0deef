//! Documents whose every word can be asked for: one that no other document has, and some that many have.

use std::collections::BTreeSet;

use spirit::lab::Random;

/// Words that many documents have.
pub(crate) const COMMON: usize = 100;
/// One of them comes many times over in long documents.
const FILLER: usize = 0;
/// Keys that come again and again.
const KEYS: u64 = 300;

#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// None: an automatic one.
    pub(crate) key: Option<String>,
    /// The word that no other document has.
    pub(crate) unique: String,
    pub(crate) common: BTreeSet<usize>,
    fillers: usize,
    /// Spaces, which are no words and fill the log.
    blanks: usize,
}

/// The word of a number below [`COMMON`].
pub(crate) fn common_word(number: usize) -> String {
    format!("common{number}")
}

impl Document {
    pub(crate) fn json_line(&self) -> String {
        let key = self.key.as_ref().map(|key| format!("\"key\":\"{key}\",")).unwrap_or_default();
        let mut words: Vec<_> = self.common.iter().map(|number| common_word(*number)).collect();
        words.insert(words.len() / 2, self.unique.clone());
        let filler = format!(" {}", common_word(FILLER)).repeat(self.fillers);
        let blanks = " ".repeat(self.blanks);
        format!("{{{key}\"text\":\"{}{filler}{blanks}\"}}\n", words.join(" "))
    }
}

/// Makes documents, never two with the same unique word.
pub(crate) struct Maker {
    made: u64,
}

impl Maker {
    pub(crate) fn new() -> Maker {
        Maker { made: 0 }
    }

    /// A document for an index whose next number is `number`; if it is unknown, no key is a number.
    pub(crate) fn make(&mut self, random: &mut Random, number: Option<u64>) -> Document {
        self.made += 1;
        let fillers = if random.one_in(50) { random.below(1500) as usize } else { 0 };
        let blanks = if random.one_in(6) { random.below(60_000) as usize } else { 0 };
        let mut common: BTreeSet<_> =
            (0..random.below(40)).map(|_| random.below(COMMON as u64) as usize).collect();
        if fillers > 0 {
            common.insert(FILLER);
        }
        // Long words lie elsewhere than short ones.
        let tail =
            if random.one_in(4) { "x".repeat(random.below(40) as usize) } else { String::new() };
        let unique = format!("u{}{tail}", self.made);
        Document { key: self.key(random, number), unique, common, fillers, blanks }
    }

    fn key(&self, random: &mut Random, number: Option<u64>) -> Option<String> {
        match (random.below(20), number) {
            (0..6, _) => Some(format!("k{}", random.below(KEYS))),
            (6, _) => Some(format!("once{}", self.made)),
            // A number of the past or of the near future.
            (7, Some(number)) => Some(random.below(number + 500).to_string()),
            _ => None,
        }
    }
}
