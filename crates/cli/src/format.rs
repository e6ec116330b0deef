//! Formats of sources: which there are, and which a source has, by its name and its content.

use std::path::Path;

use clap::ValueEnum;

/// How records are cut and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A document a line; its key is its number
    #[value(alias = "text")]
    Lines,
    /// `KEY<TAB>TEXT`
    Tsv,
    /// An object a line: `key` (or `id`) and `text`; other members become fields
    Jsonl,
    /// Objects of an array, or one after another, over any number of lines
    Json,
    /// Rows of values with a comma between; the first row has their names
    Csv,
    /// `name=value` pairs a line
    Logfmt,
    /// Pages of a web archive, without markup
    Warc,
    /// Documents from `<DOC>` to `</DOC>`
    Trec,
    /// `TITLE<TAB>DATE<TAB>TEXT`, as Lucene's benchmarks have it
    Linedocs,
}

/// A format as it is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormatName(pub(crate) Option<Format>);

impl ValueEnum for FormatName {
    fn value_variants<'a>() -> &'a [FormatName] {
        const ALL: [FormatName; 10] = [
            FormatName(None),
            FormatName(Some(Format::Lines)),
            FormatName(Some(Format::Tsv)),
            FormatName(Some(Format::Jsonl)),
            FormatName(Some(Format::Json)),
            FormatName(Some(Format::Csv)),
            FormatName(Some(Format::Logfmt)),
            FormatName(Some(Format::Warc)),
            FormatName(Some(Format::Trec)),
            FormatName(Some(Format::Linedocs)),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        match self.0 {
            None => {
                Some(clap::builder::PossibleValue::new("auto").help("By file ending and content"))
            }
            Some(format) => format.to_possible_value(),
        }
    }
}

/// Longest key by far; the engine has the last word.
const KEY_BYTES_MAX: usize = 64 << 10;
/// Bytes of a page with its markup.
const PAGE_BYTES_MAX: usize = 64 << 20;
/// A JSON string spends at most six bytes on one (`\u0041`), and there may be other fields.
const JSON_BYTES_PER_BYTE: usize = 8;
/// Endings of names that say how a file is compressed. What it holds has the ending before.
const PACKED: [&str; 7] = ["zst", "zstd", "gz", "bz2", "xz", "gzip", "bzip2"];

impl Format {
    /// By the ending of a file's name, whether compressed or not. None: only the content can say it.
    pub(crate) fn named(path: &Path) -> Option<Format> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let mut endings = name.rsplit('.').filter(|ending| !PACKED.contains(ending));
        match endings.next().filter(|ending| ending.len() < name.len())? {
            "jsonl" | "ndjson" => Some(Format::Jsonl),
            "json" => Some(Format::Json),
            "tsv" => Some(Format::Tsv),
            "csv" => Some(Format::Csv),
            "logfmt" => Some(Format::Logfmt),
            "warc" | "wet" => Some(Format::Warc),
            "trec" | "trectext" | "trecweb" => Some(Format::Trec),
            "linedocs" => Some(Format::Linedocs),
            "txt" | "text" | "md" => Some(Format::Lines),
            _ => None,
        }
    }

    /// True if a file's name says that it is compressed.
    pub(crate) fn is_packed(path: &Path) -> bool {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        ending.is_some_and(|ending| PACKED.contains(&&*ending))
    }

    /// By the ending of a source's name and its first bytes. None: it takes more of them, and they are not all.
    pub(crate) fn of(named: Option<Format>, bytes: &[u8], is_all: bool) -> Option<Format> {
        let is_json = matches!(named, Some(Format::Json | Format::Jsonl));
        if named.is_some() && !is_json {
            return named;
        }
        let otherwise = if is_json { Format::Jsonl } else { Format::Lines };
        let text = bytes.trim_ascii_start();
        if named.is_none()
            && let Some(format) = by_beginning(text, is_all)
        {
            return format;
        }
        let Some(first) = text.first() else { return is_all.then_some(otherwise) };
        match first {
            b'[' => match text[1..].trim_ascii_start().first() {
                Some(b'{') => Some(Format::Json),
                Some(b']') if is_json => Some(Format::Json),
                Some(_) if named == Some(Format::Json) => named,
                Some(_) => Some(otherwise),
                None => is_all.then_some(otherwise),
            },
            b'{' => {
                let end = text.iter().position(|byte| *byte == b'\n');
                if end.is_none() && !is_all {
                    return None;
                }
                let line = &text[..end.unwrap_or(text.len())];
                let is_object = || serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok();
                Some(match goes_on(line) {
                    true => Format::Json,
                    false if is_json || is_object() => Format::Jsonl,
                    false => Format::Lines,
                })
            }
            _ => Some(otherwise),
        }
    }

    /// Longest record that can hold a document.
    pub(crate) fn record_bytes_max(self) -> usize {
        match self {
            Format::Lines => spirit::Document::BYTES_MAX,
            Format::Warc | Format::Trec => PAGE_BYTES_MAX,
            Format::Tsv => KEY_BYTES_MAX + 1 + spirit::Document::BYTES_MAX,
            _ => spirit::Document::BYTES_MAX * JSON_BYTES_PER_BYTE,
        }
    }
}

/// The format of a source that begins with what no other one begins with. None within: it takes more
/// bytes.
fn by_beginning(text: &[u8], is_all: bool) -> Option<Option<Format>> {
    const BEGINNINGS: [(&[u8], Format); 4] = [
        (b"WARC/1.", Format::Warc),
        (b"<DOC>\n", Format::Trec),
        (b"<DOC>\r", Format::Trec),
        (b"FIELDS_HEADER_INDICATOR###", Format::Linedocs),
    ];
    let fits = |beginning: &[u8]| beginning.iter().zip(text).all(|(wanted, byte)| wanted == byte);
    let (beginning, format) = BEGINNINGS.iter().find(|(beginning, _)| fits(beginning))?;
    match text.len() >= beginning.len() {
        true => Some(Some(*format)),
        false if is_all || text.is_empty() => None,
        false => Some(None),
    }
}

/// True if a line is the first of an object over several lines: it ends behind a brace, a bracket or a comma that is open.
fn goes_on(line: &[u8]) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0i64, false, false);
    for &byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth -= 1,
            _ => {}
        }
    }
    let last = line.trim_ascii_end().last();
    depth > 0 && !in_string && matches!(last, Some(b'{' | b'[' | b','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_tells_the_format() {
        for (name, format) in [
            ("a.txt", Some(Format::Lines)),
            ("a", None),
            ("-", None),
            ("json", None),
            ("app.log", None),
            ("a.tsv", Some(Format::Tsv)),
            ("a.tsv.zst", Some(Format::Tsv)),
            ("a.json", Some(Format::Json)),
            ("A.JSONL.GZ", Some(Format::Jsonl)),
            ("b/a.jsonl.bz2", Some(Format::Jsonl)),
            ("a.ndjson", Some(Format::Jsonl)),
            ("a.csv.xz", Some(Format::Csv)),
            ("a.logfmt", Some(Format::Logfmt)),
            ("CC-1.warc.gz", Some(Format::Warc)),
            ("CC-1.warc.wet.gz", Some(Format::Warc)),
            ("a.trec", Some(Format::Trec)),
            ("a.linedocs.bz2", Some(Format::Linedocs)),
        ] {
            assert_eq!(Format::named(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn collections_are_known_by_their_beginning() {
        for (text, format) in [
            ("WARC/1.1\r\n", Some(Format::Warc)),
            ("WAR", None),
            ("\n<DOC>\n<DOCNO>", Some(Format::Trec)),
            ("FIELDS_HEADER_INDICATOR###\tdoctitle", Some(Format::Linedocs)),
            ("FIELDS", None),
            ("<DOCTYPE", Some(Format::Lines)),
            ("WARD", Some(Format::Lines)),
        ] {
            assert_eq!(Format::of(None, text.as_bytes(), false), format, "{text}");
        }
        assert_eq!(Format::of(None, b"WAR", true), Some(Format::Lines));
    }

    #[test]
    fn json_is_lines_or_objects_by_its_first_line() {
        for named in [Some(Format::Json), Some(Format::Jsonl)] {
            for (text, format) in [
                ("", Format::Jsonl),
                ("{\"text\":\"a\"}\n{\"text\":\"b\"}", Format::Jsonl),
                ("{\"text\":\"cut off\n{\"text\":\"b\"}", Format::Jsonl),
                ("{\"text\": \n{\"text\":\"b\"}", Format::Jsonl),
                ("[{\"text\":\"a\"},", Format::Json),
                ("{\n\"text\":\"a\"}", Format::Json),
                ("[\n]", Format::Json),
            ] {
                assert_eq!(Format::of(named, text.as_bytes(), true), Some(format), "{text:?}");
            }
            assert_eq!(Format::of(named, b" {\"text\"", false), None);
            let other = if named == Some(Format::Json) { Format::Json } else { Format::Jsonl };
            assert_eq!(Format::of(named, b"[null, 1]\n", true), Some(other));
        }
    }
}
