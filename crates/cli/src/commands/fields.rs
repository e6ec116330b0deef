//! `spirit fields`: what documents have besides their text.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;
use spirit::search::Limits;
use spirit::{Clause, Index, SearchError};
use spirit_forms::escape::escaped;

use crate::args::{FieldsArgs, IndexArgs};
use crate::directory;
use crate::failure::Failure;
use crate::output::{grouped, json_line, out};
use crate::values::NONE;

/// Counting the documents of a field ends after this time: a field of many words can take seconds.
const COUNT_TIME: Duration = Duration::from_millis(500);

#[derive(Serialize)]
struct Listed {
    fields: Vec<Field>,
    /// Documents with other fields are refused.
    strict: bool,
}

#[derive(Serialize)]
struct Field {
    name: String,
    kind: String,
    /// The values of a text are keywords too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    keywords: bool,
    /// Documents that have it; none if it would take too long to count them.
    documents: Option<u64>,
}

pub(crate) fn run(args: &FieldsArgs) -> Result<(), Failure> {
    let opening = IndexArgs { dram: args.dram, ..IndexArgs::default() };
    let index = directory::open_to_ask(&args.directory, &opening)?;
    let listed = list(&index);
    let listed = directory::close(index, listed)?;
    let mut out = out();
    if args.json {
        json_line(&mut out, &listed)?;
    } else {
        listed.write(&mut out)?;
    }
    Ok(out.flush()?)
}

fn list(index: &Index) -> Result<Listed, Failure> {
    let mut reader = index.reader().map_err(Failure::work)?;
    reader.limits(Limits { timeout: Some(COUNT_TIME), ..Limits::default() });
    let mut count = |name: &str| match reader.count(Clause::exists(name)) {
        Ok(count) => Ok(Some(count)),
        Err(SearchError::TimedOut) => Ok(None),
        Err(error) => Err(Failure::work(error)),
    };
    let schema = index.schema();
    let field = |field: &spirit::schema::Field| {
        let (name, kind) = (field.name.clone(), field.kind.to_string());
        let keywords = field.keywords().is_some();
        Ok(Field { documents: count(&name)?, name, kind, keywords })
    };
    let fields = schema.fields().iter().map(field).collect::<Result<_, Failure>>()?;
    Ok(Listed { fields, strict: !schema.is_dynamic() })
}

impl Listed {
    /// Writes them for people.
    fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        let longest = |text: fn(&Field) -> String| {
            self.fields.iter().map(|field| text(field).chars().count()).max().unwrap_or(0)
        };
        let (name, kind) = (longest(|field| escaped(&field.name).into()), longest(Field::kinds));
        for field in &self.fields {
            let documents = field.documents.map_or(NONE.to_owned(), grouped);
            let shown = escaped(&field.name);
            writeln!(out, "{shown:<name$}  {:<kind$}  {documents:>11}", field.kinds())?;
        }
        Ok(())
    }
}

impl Field {
    fn kinds(&self) -> String {
        let keywords = if self.keywords { ", keyword" } else { "" };
        format!("{}{keywords}", self.kind)
    }
}
