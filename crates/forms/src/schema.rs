//! The fields of a new index as a list: `ts:time(seconds),channel:keyword`.

use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::str::FromStr;

use spirit::schema::FieldError;
use spirit::{Analyzer, Builder, FieldKind};

/// Fields with their kinds, in order, no name twice. One without a kind is text, as the index's
/// analyzer cuts it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, Option<FieldKind>)>);

/// The reason why a list of fields cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldsError {
    /// This field has no kind.
    NoKind(String),
    /// There is no such kind.
    Kind(FieldError),
    /// This name is given twice.
    Twice(String),
}

impl fmt::Display for FieldsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldsError::NoKind(field) => write!(f, "{field:?}: expected NAME:KIND"),
            FieldsError::Kind(error) => error.fmt(f),
            FieldsError::Twice(name) => {
                write!(f, "`{name}` is given twice; give its kind once")
            }
        }
    }
}

impl Error for FieldsError {}

impl Fields {
    /// Returns a list of these fields. Fails if a name is given twice.
    pub fn new(fields: Vec<(String, Option<FieldKind>)>) -> Result<Fields, FieldsError> {
        let mut names = HashSet::new();
        match fields.iter().find(|(name, _)| !names.insert(name)) {
            Some((name, _)) => Err(FieldsError::Twice(name.clone())),
            None => Ok(Fields(fields)),
        }
    }

    /// Returns a list of these fields and others.
    pub fn with(mut self, others: Fields) -> Result<Fields, FieldsError> {
        self.0.extend(others.0);
        Fields::new(self.0)
    }

    /// Iterates over name and kind of each, in an index of this analyzer.
    pub fn kinds(&self, analyzer: Analyzer) -> impl Iterator<Item = (&str, FieldKind)> {
        let text = FieldKind::Text(analyzer);
        self.0.iter().map(move |(name, kind)| (&**name, kind.unwrap_or(text)))
    }

    /// Returns `options` with these fields.
    pub fn added_to(&self, options: Builder) -> Builder {
        self.0.iter().fold(options, |options, (name, kind)| match kind {
            Some(kind) => options.field(name, *kind),
            None => options.text_field(name),
        })
    }
}

impl FromStr for Fields {
    type Err = FieldsError;

    /// Reads a list such as `ts:time(seconds),channel:keyword`.
    fn from_str(text: &str) -> Result<Fields, FieldsError> {
        let one = |field: &str| {
            let no_kind = || FieldsError::NoKind(field.to_owned());
            let (name, kind) = field.split_once(':').ok_or_else(no_kind)?;
            Ok((name.trim().to_owned(), kind_of(kind.trim())?))
        };
        text.split(',').map(one).collect::<Result<_, _>>().and_then(Fields::new)
    }
}

/// Reads the name of a kind. None: text, as the index's analyzer cuts it.
pub fn kind_of(kind: &str) -> Result<Option<FieldKind>, FieldsError> {
    match kind {
        "text" => Ok(None),
        kind => kind.parse().map(Some).map_err(FieldsError::Kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirit::schema::TimeUnit;

    #[test]
    fn fields_are_a_list() {
        let expected = vec![
            ("ts".to_owned(), Some(FieldKind::Time(TimeUnit::Seconds))),
            ("channel".to_owned(), Some(FieldKind::Keyword)),
        ];
        assert_eq!("ts:time(seconds), channel:keyword".parse(), Ok(Fields(expected)));
        for wrong in ["", "ts", "ts:hours", "a:integer,b:float,a:float"] {
            assert!(wrong.parse::<Fields>().is_err(), "{wrong}");
        }
        let texts: Fields = "a:text, b:text(simple)".parse().unwrap();
        let kinds: Vec<_> = texts.kinds(Analyzer::English).map(|(_, kind)| kind).collect();
        assert_eq!(kinds, [Analyzer::English, Analyzer::Simple].map(FieldKind::Text));
    }
}
