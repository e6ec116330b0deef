//! `search> `: the audience asks.

use std::io::{self, BufRead, Write};
use std::time::Instant;

use spirit::{Reader, Search};

use super::corpus::Corpus;
use crate::output::{elapsed, grouped};
use crate::terminal::{cut, one_line};

/// Hits shown.
const K: usize = 10;
/// Columns of a text that are shown: with its key a line of 80.
const TEXT_COLUMNS: usize = 66;

/// Answers what `input` asks until it ends or says `:quit`.
pub(crate) fn run(
    reader: &mut Reader,
    corpus: &Corpus,
    mut input: impl BufRead,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "\nType a query; :quit ends.")?;
    let mut line = Vec::new();
    loop {
        write!(out, "search> ")?;
        out.flush()?;
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return writeln!(out);
        }
        let query = String::from_utf8_lossy(&line);
        match query.trim() {
            "" => {}
            ":quit" | ":q" => return Ok(()),
            query => answer(reader, corpus, query, out)?,
        }
    }
}

fn answer(
    reader: &mut Reader,
    corpus: &Corpus,
    query: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let started = Instant::now();
    let count = match reader.count(query) {
        Ok(count) => count,
        Err(error) => return writeln!(out, "query: {error}"),
    };
    let hits = match reader.search(query, Search::newest(K)) {
        Ok(hits) => hits,
        Err(error) => return writeln!(out, "query: {error}"),
    };
    writeln!(out, "{} matches in {}", grouped(count), elapsed(started.elapsed()))?;
    let keys = match hits.keys() {
        Ok(keys) => keys,
        Err(error) => return writeln!(out, "query: {error}"),
    };
    for key in keys {
        writeln!(out, "{key:>12}  {}", shown(corpus, &key))?;
    }
    Ok(())
}

/// The start of a document's text. What a terminal would obey is not shown.
pub(crate) fn shown(corpus: &Corpus, key: &str) -> String {
    let text = key.parse().ok().and_then(|number| corpus.get(number)).unwrap_or_default();
    cut(&one_line(text), TEXT_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_answered_until_quit() {
        let mut corpus = Corpus::default();
        let index = spirit::Index::builder().dram_bytes(16 << 20).open().unwrap();
        for text in ["first fox", "lazy dog", "second fox"] {
            corpus.push(text);
            index.add(text).unwrap();
        }
        let mut out = Vec::new();
        let input = &b"fox\n\n(\nbird\n:quit\ndog\n"[..];
        run(&mut index.reader().unwrap(), &corpus, input, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let parts: Vec<_> = out.split("search> ").collect();
        assert!(parts[1].starts_with("2 matches in "), "{out}");
        assert!(
            parts[1].ends_with("\n           2  second fox\n           0  first fox\n"),
            "{out}"
        );
        assert_eq!(parts[2], "");
        assert!(parts[3].starts_with("query: column 2: expected "), "{out}");
        assert!(parts[4].starts_with("0 matches in "), "{out}");
        assert_eq!(parts[5..], [""]);
    }
}
