//! `spirit get`: stored documents, by key.

use std::io::Write;

use serde::Serialize;
use spirit::{Clause, Index, Reader, Search};

use crate::answer::lasting;
use crate::args::{GetArgs, IndexArgs};
use crate::directory;
use crate::escape::{escaped, escaped_but};
use crate::failure::Failure;
use crate::output::{json_line, out};
use crate::queries::Unanswered;
use crate::values::Values;

/// Characters of a text of several lines.
const LINES: &str = "\n\t";

/// A document in the shape that `--json` prints. A hit has these members too.
#[derive(Serialize)]
struct Document<'a> {
    key: &'a str,
    text: &'a str,
    #[serde(skip_serializing_if = "Values::is_empty")]
    fields: Values,
}

pub(crate) fn run(args: &GetArgs) -> Result<(), Failure> {
    let opening = IndexArgs { dram: args.dram, ..IndexArgs::default() };
    let index = directory::open_to_ask(&args.directory, &opening)?;
    let mut out = out();
    let written = write_all(&index, args, &mut out);
    out.flush()?;
    let missing = directory::close(index, written)?;
    match &missing[..] {
        [] => Ok(()),
        [key] => Err(Failure::work(format_args!("no document has the key {key}"))),
        keys => Err(Failure::work(format_args!("no document has these keys: {}", keys.join(", ")))),
    }
}

/// Writes the documents. Returns the keys that none has.
fn write_all<'a>(
    index: &Index,
    args: &'a GetArgs,
    out: &mut impl Write,
) -> Result<Vec<&'a str>, Failure> {
    if !index.settings().store {
        let name = args.directory.display();
        return Err(Failure::work(format_args!(
            "{name}: the index does not store the documents; index them anew with --store yes"
        )));
    }
    let mut reader = index.reader().map_err(Failure::work)?;
    let (mut missing, mut is_first) = (Vec::new(), true);
    for key in &args.keys {
        let found = lasting(|| stored(&mut reader, key)).map_err(|why| why.of_key(key))?;
        let Some((text, fields)) = found else {
            missing.push(&**key);
            continue;
        };
        let document = Document { key, text: &text, fields };
        if args.json {
            json_line(out, &document)?;
        } else {
            document.write(is_first, out)?;
        }
        is_first = false;
    }
    Ok(missing)
}

/// Finds the document with this key: its text and its fields.
fn stored(reader: &mut Reader, key: &str) -> Result<Option<(String, Values)>, Unanswered> {
    let hits = reader.search(Clause::key(key), Search::newest(1))?;
    let Some(hit) = hits.get(0) else { return Ok(None) };
    Ok(Some((hit.text()?.to_owned(), Values::of(&hit, &[])?)))
}

impl Document<'_> {
    /// Writes it for people. An empty line separates documents.
    fn write(&self, is_first: bool, out: &mut impl Write) -> std::io::Result<()> {
        if !is_first {
            writeln!(out)?;
        }
        writeln!(out, "key: {}", escaped(self.key))?;
        for (name, values) in self.fields.lines() {
            writeln!(out, "{}: {}", escaped(name), escaped_but(&values, LINES))?;
        }
        writeln!(out, "\n{}", escaped_but(self.text, LINES))
    }
}
