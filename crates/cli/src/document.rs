//! One line becomes one document: plain lines, tab-separated values, JSON objects.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use clap::ValueEnum;
use serde_json::Value;

use crate::object::{Given, Object};

/// How a line is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A document a line; its key is its number
    Lines,
    /// `KEY<TAB>TEXT`
    Tsv,
    /// An object a line: `key` (or `id`) and `text`; other members become fields
    Jsonl,
}

/// A document as it was read. Without a key it gets its number.
#[derive(Debug, PartialEq)]
pub(crate) struct Document<'a> {
    pub(crate) key: Option<Cow<'a, str>>,
    pub(crate) text: Cow<'a, str>,
    pub(crate) fields: Vec<(String, Given)>,
}

/// A line that is no document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    TooLong,
    Utf8 { byte: usize },
    NoTab,
    Json(String),
    Key,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::TooLong => {
                let bytes_max = spirit::Document::BYTES_MAX;
                write!(f, "a document of more than {bytes_max} bytes; split it")
            }
            Malformed::Utf8 { byte } => write!(f, "invalid UTF-8 at byte {byte}"),
            Malformed::NoTab => f.write_str("expected KEY<TAB>TEXT, found no tab"),
            Malformed::Json(reason) => write!(f, "malformed JSON: {reason}"),
            Malformed::Key => f.write_str("expected a string or a number as the key"),
        }
    }
}

/// Longest key by far; the engine has the last word.
const KEY_BYTES_MAX: usize = 64 << 10;
/// A JSON string spends at most six bytes on one (`\u0041`), and there may be other fields.
const JSON_BYTES_PER_BYTE: usize = 8;

impl Format {
    /// By the file's ending, whether compressed or not.
    pub(crate) fn of(path: &Path) -> Format {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".zst").unwrap_or(&name);
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("jsonl" | "ndjson" | "json") => Format::Jsonl,
            Some("tsv") => Format::Tsv,
            _ => Format::Lines,
        }
    }

    /// Longest line that can hold a document.
    pub(crate) fn line_bytes_max(self) -> usize {
        match self {
            Format::Lines => spirit::Document::BYTES_MAX,
            Format::Tsv => KEY_BYTES_MAX + 1 + spirit::Document::BYTES_MAX,
            Format::Jsonl => spirit::Document::BYTES_MAX * JSON_BYTES_PER_BYTE,
        }
    }

    pub(crate) fn parse(self, line: &[u8]) -> Result<Document<'_>, Malformed> {
        let line = std::str::from_utf8(line)
            .map_err(|error| Malformed::Utf8 { byte: error.valid_up_to() + 1 })?;
        match self {
            Format::Lines => Ok(Document { key: None, text: line.into(), fields: Vec::new() }),
            Format::Tsv => line
                .split_once('\t')
                .map(|(key, text)| {
                    let (key, text) = (Some(key.into()), text.into());
                    Document { key, text, fields: Vec::new() }
                })
                .ok_or(Malformed::NoTab),
            Format::Jsonl => object(line),
        }
    }
}

fn object(line: &str) -> Result<Document<'_>, Malformed> {
    // An array would do for serde.
    if !line.trim_ascii_start().starts_with('{') {
        return Err(Malformed::Json("expected an object".into()));
    }
    let object: Object<'_> = serde_json::from_str(line)
        .map_err(|error| Malformed::Json(error.to_string().replace("line 1 column", "column")))?;
    let key = match object.key.or(object.id) {
        None => None,
        Some(Value::String(key)) => Some(key.into()),
        Some(Value::Number(number)) => Some(number.to_string().into()),
        Some(_) => return Err(Malformed::Key),
    };
    Ok(Document { key, text: object.text, fields: object.fields })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document<'a>(key: Option<&'a str>, text: &'a str) -> Result<Document<'a>, Malformed> {
        Ok(Document { key: key.map(Cow::from), text: text.into(), fields: Vec::new() })
    }

    #[test]
    fn the_ending_tells_the_format() {
        for (name, format) in [
            ("a.txt", Format::Lines),
            ("a", Format::Lines),
            ("-", Format::Lines),
            ("a.tsv", Format::Tsv),
            ("a.tsv.zst", Format::Tsv),
            ("a.json", Format::Jsonl),
            ("b/a.jsonl.zst", Format::Jsonl),
            ("a.ndjson", Format::Jsonl),
        ] {
            assert_eq!(Format::of(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn tabs_part_key_and_text() {
        assert_eq!(Format::Tsv.parse(b"k\ta\tb"), document(Some("k"), "a\tb"));
        assert_eq!(Format::Tsv.parse(b"k\t"), document(Some("k"), ""));
        assert_eq!(Format::Tsv.parse(b"k a b"), Err(Malformed::NoTab));
    }

    #[test]
    fn objects_have_a_text_and_maybe_a_key() {
        let parse = |line: &'static str| Format::Jsonl.parse(line.as_bytes());
        assert_eq!(parse(r#"{"text": "a"}"#), document(None, "a"));
        assert_eq!(parse(r#"{"key": null, "text": "a"}"#), document(None, "a"));
        assert_eq!(parse(r#"{"id": 17, "text": "a\nb", "n": []}"#), document(Some("17"), "a\nb"));
        let with_field = parse(r#"{"n": 3}"#).unwrap();
        assert_eq!(
            (&*with_field.text, with_field.fields),
            ("", vec![("n".into(), Given::Integer(3))])
        );
        assert_eq!(parse(r#"{"id": "i", "key": "k", "text": ""}"#), document(Some("k"), ""));
        assert_eq!(parse(r#"{"key": true, "text": "a"}"#), Err(Malformed::Key));
        for line in ["", "[null, null, \"a\"]", "{", r#"{"key": "k"}"#, r#"{"text": 3}"#] {
            assert!(matches!(parse(line), Err(Malformed::Json(_))), "{line}");
        }
    }

    #[test]
    fn what_is_not_utf8_is_placed() {
        assert_eq!(Format::Lines.parse(b"ab\xffc"), Err(Malformed::Utf8 { byte: 3 }));
    }
}
