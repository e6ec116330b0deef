//! `--schema`: the fields of a new index, typed as they are or in a file.

use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;

use spirit::{Analyzer, Builder, FieldKind};
use toml::Value;

/// Fields with their kinds, in order, no name twice. One without a kind is text, as the index's analyzer cuts it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, Option<FieldKind>)>);

impl Fields {
    fn of(fields: Vec<(String, Option<FieldKind>)>) -> Result<Fields, String> {
        let mut names = HashSet::new();
        match fields.iter().find(|(name, _)| !names.insert(name)) {
            Some((name, _)) => Err(format!("`{name}` is given twice; give its kind once")),
            None => Ok(Fields(fields)),
        }
    }

    /// These and others.
    pub(crate) fn with(mut self, others: Fields) -> Result<Fields, String> {
        self.0.extend(others.0);
        Fields::of(self.0)
    }

    /// Name and kind of each, in an index of this analyzer.
    pub(crate) fn kinds(&self, analyzer: Analyzer) -> impl Iterator<Item = (&str, FieldKind)> {
        let text = FieldKind::Text(analyzer);
        self.0.iter().map(move |(name, kind)| (&**name, kind.unwrap_or(text)))
    }

    /// `options` with these fields.
    pub(crate) fn added_to(&self, options: Builder) -> Builder {
        self.0.iter().fold(options, |options, (name, kind)| match kind {
            Some(kind) => options.field(name, *kind),
            None => options.text_field(name),
        })
    }
}

impl FromStr for Fields {
    type Err = String;

    /// `ts:time(seconds),channel:keyword`, or the name of a file that ends in `.toml`.
    fn from_str(text: &str) -> Result<Fields, String> {
        if Path::new(text).extension().is_some_and(|ending| ending == "toml") {
            let file = std::fs::read_to_string(text).map_err(|error| format!("{text}: {error}"))?;
            return of_file(&file).map_err(|reason| format!("{text}{reason}"));
        }
        let one = |field: &str| {
            let (name, kind) = field.split_once(':').ok_or_else(|| {
                format!("{field:?}: expected NAME:KIND, or a file that ends in .toml")
            })?;
            Ok((name.trim().to_owned(), kind_of(kind.trim())?))
        };
        text.split(',').map(one).collect::<Result<_, _>>().and_then(Fields::of)
    }
}

/// None: text, as the index's analyzer cuts it.
fn kind_of(kind: &str) -> Result<Option<FieldKind>, String> {
    match kind {
        "text" => Ok(None),
        kind => {
            kind.parse().map(Some).map_err(|error: spirit::schema::FieldError| error.to_string())
        }
    }
}

/// Reads the table `[fields]` of a file. A file without that table is read whole. An error does not name the file: the caller puts its
/// name in front.
fn of_file(text: &str) -> Result<Fields, String> {
    let table = toml_table(text)?;
    let fields = match table.get("fields") {
        Some(Value::Table(fields)) => of_table(fields),
        _ => of_table(&table),
    };
    fields.map_err(|reason| format!(": {reason}"))
}

/// A file's text as a table. What is wrong goes behind the file's name: `:LINE: reason`.
pub(crate) fn toml_table(text: &str) -> Result<toml::Table, String> {
    text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.matches('\n').count() + 1);
        format!(":{line}: {}", error.message())
    })
}

/// `name = "kind"` for each field.
pub(crate) fn of_table(table: &toml::Table) -> Result<Fields, String> {
    let one = |(name, kind): (&String, &Value)| {
        let kind = kind.as_str().ok_or_else(|| format!("`{name}`: expected a kind in quotes"))?;
        Ok((name.clone(), kind_of(kind)?))
    };
    table.iter().map(one).collect::<Result<_, _>>().and_then(Fields::of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirit::schema::TimeUnit;

    #[test]
    fn fields_are_typed_or_in_a_table() {
        let expected = vec![
            ("ts".to_owned(), Some(FieldKind::Time(TimeUnit::Seconds))),
            ("channel".to_owned(), Some(FieldKind::Keyword)),
        ];
        assert_eq!("ts:time(seconds), channel:keyword".parse(), Ok(Fields(expected.clone())));
        for file in [
            "ts = \"time(seconds)\"\nchannel = \"keyword\"",
            "[fields]\nts = \"time(seconds)\"\nchannel = \"keyword\"",
        ] {
            let Fields(mut found) = of_file(file).unwrap();
            found.sort_by(|a, b| b.0.cmp(&a.0));
            assert_eq!(found, expected);
        }
        for wrong in ["", "ts", "ts:hours", "/nowhere/x.toml", "a:integer,b:float,a:float"] {
            assert!(wrong.parse::<Fields>().is_err(), "{wrong}");
        }
        assert!(of_file("ts = 3").is_err());
        assert!(of_file("a = \"text\"\nb = \n").unwrap_err().starts_with(":2: "));
        let texts: Fields = "a:text, b:text(simple)".parse().unwrap();
        let kinds: Vec<_> = texts.kinds(Analyzer::English).map(|(_, kind)| kind).collect();
        assert_eq!(kinds, [Analyzer::English, Analyzer::Simple].map(FieldKind::Text));
    }
}
