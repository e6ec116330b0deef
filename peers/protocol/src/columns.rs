//! What documents have beside their text: a column for each member, of integers or of keywords.

use serde_json::{Map, Value};

/// Members that are no columns: the text, and what the line number stands in for.
const NO_COLUMNS: [&str; 3] = ["text", "key", "id"];

/// The values of one member, by document.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The member's name.
    pub name: String,
    /// One for each document.
    pub values: Values,
}

/// Values of one kind; `None` where a document has none.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// For ranges.
    Integers(Vec<Option<i64>>),
    /// Matched as a whole and as they are.
    Keywords(Vec<Option<String>>),
}

/// Columns that grow by a document at a time.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    documents: usize,
    columns: Vec<Column>,
}

impl Columns {
    /// Takes the members of the next document.
    pub(crate) fn push(&mut self, document: Map<String, Value>) -> Result<(), String> {
        for (name, value) in document {
            if !NO_COLUMNS.contains(&name.as_str()) && !value.is_null() {
                self.set(&name, value)?;
            }
        }
        self.documents += 1;
        self.columns.iter_mut().for_each(|column| column.values.fill(self.documents));
        Ok(())
    }

    pub(crate) fn finish(self) -> Vec<Column> {
        self.columns
    }

    /// A member that is met for the first time makes a column of its kind.
    fn set(&mut self, name: &str, value: Value) -> Result<(), String> {
        let found = self.columns.iter().position(|column| column.name == name);
        let at = found.unwrap_or_else(|| {
            let values = match value {
                Value::String(_) => Values::Keywords(Vec::new()),
                _ => Values::Integers(Vec::new()),
            };
            self.columns.push(Column { name: name.to_owned(), values });
            self.columns.len() - 1
        });
        let values = &mut self.columns[at].values;
        values.fill(self.documents);
        match (values, value) {
            (Values::Keywords(values), Value::String(value)) => values.push(Some(value)),
            (Values::Integers(values), Value::Number(value)) if value.is_i64() => {
                values.push(value.as_i64());
            }
            (Values::Keywords(_), other) => return Err(format!("{name} is no string: {other}")),
            (Values::Integers(_), other) => return Err(format!("{name} is no integer: {other}")),
        }
        Ok(())
    }
}

impl Values {
    /// Says of the documents up to here, where nothing is said yet, that they have no value.
    fn fill(&mut self, documents: usize) {
        match self {
            Values::Integers(values) => values.resize(documents.max(values.len()), None),
            Values::Keywords(values) => values.resize(documents.max(values.len()), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(lines: &[&str]) -> Result<Vec<Column>, String> {
        let mut columns = Columns::default();
        for line in lines {
            columns.push(serde_json::from_str(line).unwrap())?;
        }
        Ok(columns.finish())
    }

    #[test]
    fn a_member_is_a_column_with_gaps() {
        let lines = [
            r#"{"text": "a", "ts": 7}"#,
            r#"{"key": "k", "channel": "x", "ts": null}"#,
            r#"{"ts": -1}"#,
        ];
        let [ts, channel] = &columns(&lines).unwrap()[..] else { panic!("two columns") };
        assert_eq!((ts.name.as_str(), channel.name.as_str()), ("ts", "channel"));
        assert_eq!(ts.values, Values::Integers(vec![Some(7), None, Some(-1)]));
        assert_eq!(channel.values, Values::Keywords(vec![None, Some("x".to_owned()), None]));
    }

    #[test]
    fn a_column_is_of_one_kind() {
        assert!(columns(&[r#"{"ts": 7}"#, r#"{"ts": "now"}"#]).is_err());
        assert!(columns(&[r#"{"ts": "now"}"#, r#"{"ts": 7}"#]).is_err());
        assert!(columns(&[r#"{"ts": 0.5}"#]).is_err());
    }
}
