//! The analyzers by name, as a field's schema chooses them.
//!
//! Each analyzer is in the module of its name. Users type names in a schema or on a command line.
//! So parsing is exact, and the error lists all names.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// The way in which text becomes tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Analyzer {
    /// Maximal runs of Unicode alphanumeric characters, folded. Nothing is dropped.
    Simple,
    /// UAX #29 words, folded.
    #[default]
    Standard,
    /// `Standard`, with `#tags`, `@names`, `$cash` tags, URLs and emoji as tokens too.
    Social,
    /// `Standard` without possessive `'s` and common English words, stemmed.
    English,
    /// `Standard`, with the signs in names of programming: `c++`, `c#`, `.net`.
    Code,
    /// The whole value as one token, verbatim. An empty value has none.
    Keyword,
}

/// Most bytes of an analyzer's name: the root of a file has one word for it.
const NAME_BYTES_MAX: usize = 8;

// The root's words of all names differ. Each round of a loop checks the next analyzer.
const _: () = {
    let mut i = 0;
    while i < Analyzer::ALL.len() {
        let mut other = 0;
        while other < i {
            assert!(name_word(Analyzer::ALL[i]) != name_word(Analyzer::ALL[other]));
            other += 1;
        }
        i += 1;
    }
};

/// Returns the bytes of a name as a word. The name must fit.
const fn name_word(analyzer: Analyzer) -> u64 {
    let name = analyzer.name().as_bytes();
    assert!(name.len() <= NAME_BYTES_MAX);
    let (mut word, mut i) = (0, 0);
    while i < name.len() {
        word |= (name[i] as u64) << (8 * i);
        i += 1;
    }
    word
}

impl Analyzer {
    /// All analyzers, in the order of their documentation. A new one also needs a number in files:
    /// `ANALYZERS` in spirit-schema.
    pub const ALL: [Analyzer; 6] = [
        Analyzer::Simple,
        Analyzer::Standard,
        Analyzer::Social,
        Analyzer::English,
        Analyzer::Code,
        Analyzer::Keyword,
    ];

    /// Returns the name that users type. `FromStr` parses it. It has at most 8 bytes, since the
    /// root of a file has it.
    pub const fn name(self) -> &'static str {
        match self {
            Analyzer::Simple => "simple",
            Analyzer::Standard => "standard",
            Analyzer::Social => "social",
            Analyzer::English => "english",
            Analyzer::Code => "code",
            Analyzer::Keyword => "keyword",
        }
    }
}

impl fmt::Display for Analyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Analyzer {
    type Err = UnknownAnalyzer;

    fn from_str(name: &str) -> Result<Analyzer, UnknownAnalyzer> {
        Analyzer::ALL
            .into_iter()
            .find(|analyzer| analyzer.name() == name)
            .ok_or_else(|| UnknownAnalyzer { name: name.to_owned() })
    }
}

/// An analyzer was not recognized.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownAnalyzer {
    /// The name that was given.
    pub name: String,
}

impl fmt::Display for UnknownAnalyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no analyzer is called \"{}\"; choose one of", self.name.escape_debug())?;
        for (i, analyzer) in Analyzer::ALL.into_iter().enumerate() {
            write!(f, "{} {analyzer}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl Error for UnknownAnalyzer {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for analyzer in Analyzer::ALL {
            assert_eq!(analyzer.to_string().parse(), Ok(analyzer));
        }
        assert_eq!(Analyzer::default(), Analyzer::Standard);
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "Simple".parse::<Analyzer>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "no analyzer is called \"Simple\"; choose one of simple, standard, social, english, code, keyword"
        );
    }
}
