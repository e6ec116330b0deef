//! Names of kinds of fields, as users type them.

use std::str::FromStr;

use spirit_text::Analyzer;

use crate::error::FieldError;
use crate::kind::{FieldKind, TimeUnit, UNITS};

impl FromStr for FieldKind {
    type Err = FieldError;

    /// Parses a kind as users type it: `keyword`, `text(english)`, `time(seconds)`. The parentheses
    /// may be left out.
    fn from_str(text: &str) -> Result<FieldKind, FieldError> {
        let unknown = || FieldError::UnknownKind { name: text.to_owned() };
        let (name, which) = match text.strip_suffix(')') {
            Some(open) => {
                let (name, which) = open.split_once('(').ok_or_else(unknown)?;
                (name, Some(which))
            }
            None => (text, None),
        };
        match (name, which) {
            ("text", None) => Ok(FieldKind::Text(Analyzer::default())),
            ("text", Some(analyzer)) => {
                analyzer.parse().map(FieldKind::Text).map_err(|_| unknown())
            }
            ("time", None) => Ok(FieldKind::Time(TimeUnit::default())),
            ("time", Some(unit)) => UNITS
                .into_iter()
                .find(|known| known.name() == unit)
                .map(FieldKind::Time)
                .ok_or_else(unknown),
            ("keyword", None) => Ok(FieldKind::Keyword),
            ("integer", None) => Ok(FieldKind::Integer),
            ("float", None) => Ok(FieldKind::Float),
            ("boolean", None) => Ok(FieldKind::Boolean),
            _ => Err(unknown()),
        }
    }
}
