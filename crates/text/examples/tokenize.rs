//! Nanoseconds a token, for each analyzer, on a text of your own.
//!
//! ```text
//! cargo run --release -p spirit-text --example tokenize -- FILE
//! zstd -dc posts.jsonl.zst | cargo run --release -p spirit-text --example tokenize -- - --check
//! ```
//!
//! One document a line: the `text` member if the line is a JSON object, else the line itself; `-`
//! is the standard input. With `--check` every document's `simple` and `standard` tokens are first
//! compared with those of naive code.
//!
//! What is measured: one thread, documents in memory one after the other in one allocation, the
//! sink adds up heads and lengths (so a head is built for every token, and nothing is stored). Each
//! figure is the best of `ROUNDS` passes. Only the first `TEXT_BYTES_MAX` bytes of text are used.
//! `simple` is measured at every vector level, the others at the best.

use std::io::{BufRead, BufReader, Read};
use std::time::{Duration, Instant};

use spirit_kernel::Level;
use spirit_text::{Analyzer, TERM_BYTES_MAX, Tokenizer};
use unicode_segmentation::UnicodeSegmentation;

/// Enough to be larger than the caches, little enough to be read in seconds.
const TEXT_BYTES_MAX: usize = 128 << 20;
const ROUNDS: usize = 5;

/// Documents end to end, and where each ends.
struct Documents {
    text: String,
    ends: Vec<usize>,
}

impl Documents {
    fn read(source: impl Read) -> Result<Documents, Box<dyn std::error::Error>> {
        let mut documents = Documents { text: String::new(), ends: Vec::new() };
        for line in BufReader::new(source).lines() {
            documents.text.push_str(&document_of(line?));
            documents.ends.push(documents.text.len());
            if documents.text.len() >= TEXT_BYTES_MAX {
                break;
            }
        }
        Ok(documents)
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }

    fn bytes_max(&self) -> usize {
        self.iter().map(str::len).max().unwrap_or(0)
    }
}

fn document_of(line: String) -> String {
    let value: Option<serde_json::Value> = serde_json::from_str(&line).ok();
    let text = value.as_ref().and_then(|value| value.get("text")?.as_str()).map(str::to_owned);
    text.unwrap_or(line)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = arguments.iter().find(|argument| *argument != "--check") else {
        return Err(
            "usage: tokenize FILE [--check], where FILE may be - for the standard input".into()
        );
    };
    let documents = if path == "-" {
        Documents::read(std::io::stdin())?
    } else {
        Documents::read(std::fs::File::open(path)?)?
    };
    println!("{} documents, {} bytes", documents.ends.len(), documents.text.len());
    if arguments.iter().any(|argument| argument == "--check") {
        check(&documents)?;
    }
    println!(
        "{:<10}{:<10}{:>12}{:>10}{:>10}{:>10}",
        "analyzer", "level", "tokens", "skipped", "ns/token", "MB/s"
    );
    for level in Level::all_supported() {
        measure(Analyzer::Simple, level, &documents)?;
    }
    for analyzer in Analyzer::ALL {
        measure(analyzer, Level::detect(), &documents)?;
    }
    Ok(())
}

fn measure(
    analyzer: Analyzer,
    level: Level,
    documents: &Documents,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut tokenizer = Tokenizer::with_level(analyzer, documents.bytes_max(), level);
    let (mut best, mut tokens, mut skipped) = (Duration::MAX, 0, 0);
    for _ in 0..ROUNDS {
        (tokens, skipped) = (0, 0);
        let mut sum = 0;
        let start = Instant::now();
        for document in documents.iter() {
            let summary = tokenizer.for_each(document, |token| {
                let head = token.head();
                sum ^= (head as u64) ^ (head >> 64) as u64 ^ token.len() as u64;
            })?;
            tokens += u64::from(summary.tokens);
            skipped += u64::from(summary.skipped);
        }
        best = best.min(start.elapsed());
        std::hint::black_box(sum);
    }
    let ns_per_token = best.as_secs_f64() * 1e9 / tokens as f64;
    let mb_per_s = documents.text.len() as f64 / 1e6 / best.as_secs_f64();
    println!(
        "{analyzer:<10}{:<10}{tokens:>12}{skipped:>10}{ns_per_token:>10.2}{mb_per_s:>10.0}",
        format!("{level:?}")
    );
    Ok(())
}

/// Compares `simple` and `standard` with naive code on every document.
fn check(documents: &Documents) -> Result<(), Box<dyn std::error::Error>> {
    let mut simple = Tokenizer::new(Analyzer::Simple, documents.bytes_max());
    let mut standard = Tokenizer::new(Analyzer::Standard, documents.bytes_max());
    for document in documents.iter() {
        let words = document.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        compare(&mut simple, document, words)?;
        compare(&mut standard, document, document.unicode_words())?;
    }
    println!("simple and standard agree with naive code on every document");
    Ok(())
}

fn compare<'a>(
    tokenizer: &mut Tokenizer,
    document: &str,
    words: impl Iterator<Item = &'a str>,
) -> Result<(), Box<dyn std::error::Error>> {
    let lower = |word: &str| word.chars().flat_map(char::to_lowercase).collect::<String>();
    let expected: Vec<String> = words.map(lower).collect();
    let mut found = Vec::new();
    let summary = tokenizer.for_each(document, |token| {
        found.push((token.position(), token.text().to_owned()));
    })?;
    let kept = (0..).zip(expected.iter().cloned()).filter(|(_, word)| word.len() <= TERM_BYTES_MAX);
    if summary.tokens as usize != expected.len() || found != kept.collect::<Vec<_>>() {
        return Err(
            format!("{} differs from naive code on {document:?}", tokenizer.analyzer()).into()
        );
    }
    Ok(())
}
