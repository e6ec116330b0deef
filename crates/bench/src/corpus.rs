//! Documents, all in memory before any clock starts.
//!
//! A document is a line: line feeds inside a text become spaces, so that the peer programs, which read a
//! document a line, see the same bytes. The documents lie end to end in one allocation, as theirs do.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use spirit::Analyzer;
use spirit_text::Tokenizer;

use crate::Fallible;
use spirit_door::sim::Random;

/// Longest document that is tokenized here, in bytes; the engine's default limit.
const DOCUMENT_BYTES_MAX: usize = 1 << 20;

/// Documents of generated text, unless --docs says otherwise.
const GENERATED_DOCUMENTS: u64 = 200_000;
/// Distinct words of generated text.
const GENERATED_WORDS: usize = 50_000;

/// Documents in order of arrival.
pub(crate) struct Corpus {
    /// Its name in tables and rows.
    pub(crate) name: String,
    /// Tokens by the `simple` analyzer.
    pub(crate) tokens: u64,
    text: String,
    ends: Vec<usize>,
}

impl Corpus {
    /// Reads a file: `.jsonl` or a document a line, either compressed if the name ends in `.zst`.
    pub(crate) fn load(path: &Path, docs_max: u64) -> Fallible<Corpus> {
        let because = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let file = File::open(path).map_err(|e| because(&e))?;
        let full = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let plain = full.strip_suffix(".zst").unwrap_or(&full);
        let source: Box<dyn Read> = if plain == full {
            Box::new(file)
        } else {
            Box::new(zstd::stream::read::Decoder::new(file).map_err(|e| because(&e))?)
        };
        let jsonl = plain.ends_with(".jsonl");
        let name = plain.rsplit_once('.').map_or(plain, |(stem, _)| stem);
        let mut corpus = Corpus::empty(name);
        for (number, line) in BufReader::new(source).lines().enumerate() {
            if corpus.len() as u64 == docs_max {
                break;
            }
            let at =
                |error: &dyn std::fmt::Display| because(&format!("line {}: {error}", number + 1));
            let line = line.map_err(|e| at(&e))?;
            corpus.push(&if jsonl { text_of(&line).map_err(|e| at(&e))? } else { line });
        }
        corpus.finish().map_err(|e| because(&e).into())
    }

    /// Text whose words are as frequent as Zipf says, 4 to 17 of them a document.
    pub(crate) fn generate(seed: u64, docs: Option<u64>) -> Corpus {
        let mut random = Random::named(seed, "text");
        let mut corpus = Corpus::empty("generated");
        let mut document = String::new();
        for _ in 0..docs.unwrap_or(GENERATED_DOCUMENTS) {
            document.clear();
            for _ in 0..4 + random.index(14) {
                // Ranks drawn so that their logarithm is uniform: frequency falls as one over the rank.
                let rank = (GENERATED_WORDS as f64).powf(random.unit()) as usize;
                push_word(rank, &mut document);
                document.push(' ');
            }
            corpus.push(document.trim_end());
        }
        corpus.finish().expect("generated text has documents")
    }

    /// These documents.
    pub(crate) fn of<'a>(
        name: &str,
        documents: impl IntoIterator<Item = &'a str>,
    ) -> Result<Corpus, &'static str> {
        let mut corpus = Corpus::empty(name);
        documents.into_iter().for_each(|document| corpus.push(document));
        corpus.finish()
    }

    fn empty(name: &str) -> Corpus {
        Corpus { name: name.to_owned(), tokens: 0, text: String::new(), ends: Vec::new() }
    }

    fn push(&mut self, document: &str) {
        let start = self.text.len();
        self.text.push_str(document);
        if self.text[start..].contains('\n') {
            let line = self.text.split_off(start).replace('\n', " ");
            self.text.push_str(&line);
        }
        self.ends.push(self.text.len());
    }

    fn finish(mut self) -> Result<Corpus, &'static str> {
        if self.ends.is_empty() {
            return Err("no documents");
        }
        let mut tokenizer = tokenizer();
        let count =
            |text| tokenizer.for_each(text, |_| ()).map_or(0, |s| u64::from(s.tokens - s.skipped));
        self.tokens = self.iter().map(count).sum();
        Ok(self)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, number: usize) -> &str {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }

    /// The documents, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        (0..self.len()).map(|number| self.get(number))
    }

    pub(crate) fn text_bytes(&self) -> u64 {
        self.text.len() as u64
    }

    /// Whether its documents are short, like posts: some bars depend on it.
    pub(crate) fn is_short(&self) -> bool {
        self.text.len() / self.len() < 300
    }

    /// The same, cut after `docs` documents.
    /// Returns the documents for which `is_wanted` holds: at least one.
    pub(crate) fn only(&self, is_wanted: impl Fn(&str) -> bool) -> Fallible<Corpus> {
        Ok(Corpus::of(&self.name, self.iter().filter(|text| is_wanted(text)))?)
    }

    pub(crate) fn first(&self, docs: usize) -> Corpus {
        let docs = docs.clamp(1, self.len());
        let ends = self.ends[..docs].to_vec();
        let text = self.text[..ends[docs - 1]].to_owned();
        Corpus { name: self.name.clone(), tokens: 0, text, ends }.finish().expect("not empty")
    }
}

/// A tokenizer as all engines here analyze.
pub(crate) fn tokenizer() -> Tokenizer {
    Tokenizer::new(Analyzer::Simple, DOCUMENT_BYTES_MAX)
}

fn text_of(line: &str) -> Result<String, String> {
    let object: serde_json::Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let text = object.get("text").and_then(|text| text.as_str());
    text.map(str::to_owned).ok_or_else(|| "no member `text`".to_owned())
}

/// A word for a rank: frequent words are short.
fn push_word(mut rank: usize, out: &mut String) {
    const CONSONANTS: &[u8; 16] = b"bcdfghklmnprstvz";
    const VOWELS: &[u8; 5] = b"aeiou";
    loop {
        out.push(CONSONANTS[rank % 16] as char);
        rank /= 16;
        out.push(VOWELS[rank % 5] as char);
        rank /= 5;
        if rank == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_text_is_the_same_for_the_same_seed() {
        let [a, b] = [7, 7].map(|seed| Corpus::generate(seed, Some(500)));
        assert!(a.iter().eq(b.iter()));
        assert!(!a.iter().eq(Corpus::generate(8, Some(500)).iter()));
        assert_eq!((a.len(), a.is_short()), (500, true));
        assert!(a.tokens >= 4 * 500);
    }

    #[test]
    fn a_document_is_a_line() {
        let mut corpus = Corpus::empty("x");
        for document in ["one\ntwo", "", "three"] {
            corpus.push(document);
        }
        let corpus = corpus.finish().unwrap();
        assert_eq!(corpus.iter().collect::<Vec<_>>(), ["one two", "", "three"]);
        assert_eq!(corpus.tokens, 3);
        assert_eq!(corpus.first(2).iter().collect::<Vec<_>>(), ["one two", ""]);
    }
}
