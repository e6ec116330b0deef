//! One record becomes one document: plain lines, tab-separated pairs, rows of a table, JSON objects, logfmt.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use spirit::FieldKind;
use spirit::schema::Field;
use spirit_forms::document::{Document, NoDocument, text_names};
use spirit_forms::object::{Given, Object};

use crate::format::Format;
use crate::input::{Line, values};
use crate::logfmt;
use crate::web::{self, Page};

/// A record that is no document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    TooLong,
    Unclosed,
    Utf8 {
        byte: usize,
    },
    NoTab,
    Row {
        values: usize,
        columns: usize,
    },
    Quote,
    Logfmt(String),
    /// A record of a collection.
    Damaged(String),
    NoPage(String),
    Linedoc,
    Object(NoDocument),
}

impl Malformed {
    /// The reason by which refused records are counted.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Malformed::TooLong => "too long",
            Malformed::Unclosed => "array cut off",
            Malformed::Utf8 { .. } => "invalid UTF-8",
            Malformed::NoTab => "no tab",
            Malformed::Row { .. } => "wrong number of values",
            Malformed::Quote => "open quotation mark",
            Malformed::Logfmt(_) => "malformed logfmt",
            Malformed::Damaged(_) => "damaged record",
            Malformed::NoPage(_) => "unreadable page",
            Malformed::Linedoc => "no title, date and text",
            Malformed::Object(NoDocument::Json(_)) => "malformed JSON",
            Malformed::Object(NoDocument::Key | NoDocument::KeyTwice(_)) => "invalid key",
        }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::TooLong => {
                let bytes_max = spirit::Document::BYTES_MAX;
                write!(f, "a document of more than {bytes_max} bytes; split it")
            }
            Malformed::Unclosed => {
                f.write_str("the file ends within an array: it was cut off; get it whole")
            }
            Malformed::Utf8 { byte } => write!(f, "invalid UTF-8 at byte {byte}"),
            Malformed::NoTab => f.write_str("expected KEY<TAB>TEXT, found no tab"),
            Malformed::Row { values, columns } => {
                write!(f, "a row of {values} values, where the first row names {columns} columns")
            }
            Malformed::Quote => f.write_str("a quotation mark is open to the end of the file"),
            Malformed::Logfmt(reason) | Malformed::NoPage(reason) => f.write_str(reason),
            Malformed::Damaged(reason) => write!(f, "a damaged record was passed over: {reason}"),
            Malformed::Linedoc => f.write_str("expected TITLE<TAB>DATE<TAB>TEXT"),
            Malformed::Object(error) => error.fmt(f),
        }
    }
}

impl From<NoDocument> for Malformed {
    fn from(error: NoDocument) -> Malformed {
        Malformed::Object(error)
    }
}

/// The first line of a file of Lucene's benchmarks, which names its columns.
const LINEDOCS_HEAD: &[u8] = b"FIELDS_HEADER_INDICATOR###";

/// How documents are read, besides their format.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// Names of the text, the first that a document has.
    texts: Vec<String>,
    /// Fields that the index has: what their values are is not guessed.
    kinds: HashMap<String, Known>,
    /// Between values of a row.
    delimiter: u8,
}

impl Rules {
    /// `asked` are the names of the text, if there is a choice. A name that the index has among its `fields` stays a field.
    pub(crate) fn new(asked: &[String], delimiter: u8, fields: &[Field]) -> Rules {
        let kinds = fields.iter().map(|field| {
            (field.name.clone(), Known { kind: field.kind, may_widen: field.may_widen() })
        });
        Rules { texts: text_names(asked, fields), kinds: kinds.collect(), delimiter }
    }
}

/// A field that the index has.
#[derive(Clone, Copy, Debug)]
struct Known {
    kind: FieldKind,
    /// It has whole numbers, but takes any other one.
    may_widen: bool,
}

/// Makes documents of the records of one source.
#[derive(Debug)]
pub(crate) struct Parser {
    format: Format,
    rules: Arc<Rules>,
    columns: Vec<Column>,
}

/// A column of a table.
#[derive(Debug)]
struct Column {
    name: String,
    /// The kind of the field, if the index has it.
    kind: Option<Known>,
    /// It has had a value that is no number: all that follow are words.
    is_words: AtomicBool,
}

impl Parser {
    /// For records of this format; `names` is the row with the names of columns.
    pub(crate) fn new(
        format: Format,
        names: &[u8],
        rules: Arc<Rules>,
    ) -> Result<Parser, Malformed> {
        let mut columns = Vec::new();
        if format == Format::Csv {
            for name in values(names, rules.delimiter).ok_or(Malformed::Quote)? {
                let name = utf8(&name)?.trim_ascii().to_owned();
                let kind = rules.kinds.get(&name).copied();
                columns.push(Column { name, kind, is_words: AtomicBool::new(false) });
            }
        }
        Ok(Parser { format, rules, columns })
    }

    /// Returns a record's document; none if it holds none, as many records of archives do.
    pub(crate) fn parse<'a>(&self, record: &Line<'a>) -> Result<Option<Document<'a>>, Malformed> {
        let record = match *record {
            Line::Bytes(record) => record,
            Line::TooLong => return Err(Malformed::TooLong),
            Line::Unclosed => return Err(Malformed::Unclosed),
            Line::Damaged(reason) => return Err(Malformed::Damaged(reason.to_owned())),
        };
        let text = || utf8(record);
        let document = match self.format {
            Format::Warc => return of_page(web::of_warc(record)),
            Format::Trec => return of_page(web::of_trec(record).map(Some)),
            Format::Linedocs if record.starts_with(LINEDOCS_HEAD) => return Ok(None),
            Format::Linedocs => linedoc(text()?)?,
            Format::Lines => Document { key: None, text: text()?.into(), fields: Vec::new() },
            Format::Tsv => {
                let (key, text) = text()?.split_once('\t').ok_or(Malformed::NoTab)?;
                Document { key: Some(key.into()), text: text.into(), fields: Vec::new() }
            }
            Format::Jsonl | Format::Json => Document::of_json(text()?, &self.rules.texts)?,
            Format::Csv => self.document(self.row(text()?)?)?,
            Format::Logfmt => self.document(self.logfmt(text()?)?)?,
        };
        Ok(Some(document))
    }

    fn document(&self, object: Object<'static>) -> Result<Document<'static>, Malformed> {
        Ok(Document::of_object(object, &self.rules.texts)?)
    }

    fn row(&self, record: &str) -> Result<Object<'static>, Malformed> {
        let row = values(record.as_bytes(), self.rules.delimiter).ok_or(Malformed::Quote)?;
        if row.len() != self.columns.len() {
            return Err(Malformed::Row { values: row.len(), columns: self.columns.len() });
        }
        let mut object = Object::of_columns();
        for (column, value) in self.columns.iter().zip(row) {
            let Some(given) = column.given(utf8(&value)?) else { continue };
            object.add(&column.name, given, &self.rules.texts);
        }
        Ok(object)
    }

    fn logfmt(&self, line: &str) -> Result<Object<'static>, Malformed> {
        let mut object = Object::of_columns();
        let rules = &*self.rules;
        let pairs = logfmt::pairs(line, |name, value| {
            let given = match value {
                None => Given::Boolean(true),
                Some(text) if text.is_empty() => return Ok(()),
                Some(text) => match rules.kinds.get(name) {
                    Some(kind) => of_kind(*kind, &text),
                    None => guessed(&text).unwrap_or_else(|| Given::Text(text.into())),
                },
            };
            object.add(name, given, &rules.texts);
            Ok(())
        });
        pairs.map_err(Malformed::Logfmt)?;
        Ok(object)
    }
}

impl Column {
    /// A value of the column; none if it is empty.
    fn given(&self, text: &str) -> Option<Given<'static>> {
        if text.is_empty() {
            return None;
        }
        if let Some(kind) = self.kind {
            return Some(of_kind(kind, text));
        }
        if !self.is_words.load(Relaxed) {
            if let Some(given) = guessed(text) {
                return Some(given);
            }
            self.is_words.store(true, Relaxed);
        }
        Some(Given::Text(text.to_owned().into()))
    }
}

/// Returns the document of a page.
fn of_page(page: Result<Option<Page>, String>) -> Result<Option<Document<'static>>, Malformed> {
    let page = page.map_err(Malformed::NoPage)?;
    let document = |Page { key, url, date, text }| {
        with_fields(Some(key), [("url", url), ("date", date)], text)
    };
    Ok(page.map(document))
}

/// Returns the document of a line of Lucene's benchmarks.
fn linedoc(line: &str) -> Result<Document<'static>, Malformed> {
    let mut parts = line.splitn(3, '\t').map(str::to_owned);
    match (parts.next(), parts.next(), parts.next()) {
        (title, date, Some(text)) => {
            Ok(with_fields(None, [("title", title), ("date", date)], text))
        }
        _ => Err(Malformed::Linedoc),
    }
}

/// Returns a document with fields that are texts. Empty ones are no values.
fn with_fields(
    key: Option<String>,
    fields: [(&'static str, Option<String>); 2],
    text: String,
) -> Document<'static> {
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let fields = fields.filter(|(_, value)| !value.is_empty());
    let field = |(name, value): (&'static str, String)| (name.into(), Given::Text(value.into()));
    Document { key: key.map(Into::into), text: text.into(), fields: fields.map(field).collect() }
}

/// A value of a field of this kind. One that does not fit stays as it is, and is refused as such.
fn of_kind(known: Known, text: &str) -> Given<'static> {
    let given = match known.kind {
        FieldKind::Integer if known.may_widen => {
            let other = || text.parse().ok().filter(|number: &f64| number.is_finite());
            let integer = text.parse().ok().map(Given::Integer);
            integer.or_else(|| other().map(Given::Float))
        }
        FieldKind::Integer | FieldKind::Time(_) => text.parse().ok().map(Given::Integer),
        FieldKind::Float => text.parse().ok().map(Given::Float),
        FieldKind::Boolean => text.parse().ok().map(Given::Boolean),
        _ => None,
    };
    given.unwrap_or_else(|| Given::Text(text.to_owned().into()))
}

/// What a value is that was written without saying so: a number only if it is written as numbers are. `007`, `1.10` and `+1` are words.
fn guessed(text: &str) -> Option<Given<'static>> {
    match text {
        "true" => return Some(Given::Boolean(true)),
        "false" => return Some(Given::Boolean(false)),
        _ if !text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => return None,
        _ => {}
    }
    if let Some(number) = text.parse().ok().filter(|number: &i64| number.to_string() == text) {
        return Some(Given::Integer(number));
    }
    let number: f64 = text.parse().ok().filter(|number: &f64| number.to_string() == text)?;
    Some(Given::Float(number))
}

fn utf8(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|error| Malformed::Utf8 { byte: error.valid_up_to() + 1 })
}

#[cfg(test)]
mod tests;
