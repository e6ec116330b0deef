//! `--schema`: the fields of a new index, typed as they are or in a file.

use std::path::Path;
use std::str::FromStr;

use spirit::FieldKind;
use toml::Value;

/// Fields with their kinds, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(pub(crate) Vec<(String, FieldKind)>);

impl FromStr for Fields {
    type Err = String;

    /// `ts:time(seconds),channel:keyword`, or the name of a file that ends in `.toml`.
    fn from_str(text: &str) -> Result<Fields, String> {
        if Path::new(text).extension().is_some_and(|ending| ending == "toml") {
            let file = std::fs::read_to_string(text).map_err(|error| format!("{text}: {error}"))?;
            return of_file(&file).map_err(|reason| format!("{text}: {reason}"));
        }
        let one = |field: &str| {
            let (name, kind) = field.split_once(':').ok_or_else(|| {
                format!("{field:?}: expected NAME:KIND, or a file that ends in .toml")
            })?;
            Ok((name.trim().to_owned(), kind_of(kind.trim())?))
        };
        text.split(',').map(one).collect::<Result<_, _>>().map(Fields)
    }
}

fn kind_of(kind: &str) -> Result<FieldKind, String> {
    kind.parse().map_err(|error: spirit::UnknownKind| error.to_string())
}

/// The table `[fields]` of a file, or all of it if there is none.
fn of_file(text: &str) -> Result<Fields, String> {
    let table: toml::Table =
        text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
    match table.get("fields") {
        Some(Value::Table(fields)) => of_table(fields),
        _ => of_table(&table),
    }
}

/// `name = "kind"` for each field.
pub(crate) fn of_table(table: &toml::Table) -> Result<Fields, String> {
    let one = |(name, kind): (&String, &Value)| {
        let kind = kind.as_str().ok_or_else(|| format!("`{name}`: expected a kind in quotes"))?;
        Ok((name.clone(), kind_of(kind)?))
    };
    table.iter().map(one).collect::<Result<_, _>>().map(Fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirit::TimeUnit;

    #[test]
    fn fields_are_typed_or_in_a_table() {
        let expected = vec![
            ("ts".to_owned(), FieldKind::Time(TimeUnit::Seconds)),
            ("channel".to_owned(), FieldKind::Keyword),
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
        for wrong in ["", "ts", "ts:hours", "/nowhere/x.toml"] {
            assert!(wrong.parse::<Fields>().is_err(), "{wrong}");
        }
        assert!(of_file("ts = 3").is_err());
    }
}
