//! `--schema`: the fields of a new index, typed as they are or in a file.

use std::path::Path;

use spirit_forms::schema::{Fields, FieldsError, kind_of};
use toml::Value;

/// Reads `ts:time(seconds),channel:keyword`, or the file of that name if it ends in `.toml`.
pub(crate) fn fields(text: &str) -> Result<Fields, String> {
    if Path::new(text).extension().is_some_and(|ending| ending == "toml") {
        let file = std::fs::read_to_string(text).map_err(|error| format!("{text}: {error}"))?;
        return of_file(&file).map_err(|reason| format!("{text}{reason}"));
    }
    text.parse().map_err(|error| match error {
        FieldsError::NoKind(_) => format!("{error}, or a file that ends in .toml"),
        error => error.to_string(),
    })
}

/// Reads the table `[fields]` of a file. A file without that table is read whole. An error does not
/// name the file: the caller puts its name in front.
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
        let kind = kind_of(kind).map_err(|error| error.to_string())?;
        Ok((name.clone(), kind))
    };
    let fields = table.iter().map(one).collect::<Result<_, String>>()?;
    Fields::new(fields).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_typed_or_in_a_table() {
        let expected = fields("channel:keyword,ts:time(seconds)").unwrap();
        for file in [
            "ts = \"time(seconds)\"\nchannel = \"keyword\"",
            "[fields]\nts = \"time(seconds)\"\nchannel = \"keyword\"",
        ] {
            assert_eq!(of_file(file).unwrap(), expected);
        }
        for wrong in ["", "ts", "/nowhere/x.toml", "a:integer,b:float,a:float"] {
            assert!(fields(wrong).is_err(), "{wrong}");
        }
        let without_kind = "\"ts\": expected NAME:KIND, or a file that ends in .toml";
        assert_eq!(fields("ts"), Err(without_kind.to_owned()));
        assert!(of_file("ts = 3").is_err());
        assert!(of_file("a = \"text\"\nb = \n").unwrap_err().starts_with(":2: "));
    }
}
