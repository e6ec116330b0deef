//! `spirit get`: stored documents, by key.

use std::io::Write;

use spirit::Index;
use spirit_forms::escape::{escaped, escaped_but};
use spirit_forms::stored::Stored;

use crate::args::{GetArgs, IndexArgs};
use crate::asked::Unanswered;
use crate::directory;
use crate::failure::Failure;
use crate::output::{json_line, out};
use crate::values;

/// Characters of a text of several lines.
const LINES: &str = "\n\t";

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
    let (settings, mut reader) = (index.settings(), index.reader().map_err(Failure::work)?);
    let (mut missing, mut is_first) = (Vec::new(), true);
    for key in &args.keys {
        let found = Stored::find(&mut reader, &settings, key);
        let found = found.map_err(|why| Unanswered::from(why).of_key(key))?;
        let Some(document) = found else {
            missing.push(&**key);
            continue;
        };
        if args.json {
            json_line(out, &document)?;
        } else {
            write(&document, is_first, out)?;
        }
        is_first = false;
    }
    Ok(missing)
}

/// Writes a document for people. An empty line separates documents.
fn write(document: &Stored<'_>, is_first: bool, out: &mut impl Write) -> std::io::Result<()> {
    if !is_first {
        writeln!(out)?;
    }
    writeln!(out, "key: {}", escaped(document.key))?;
    for (name, values) in values::lines(&document.fields) {
        writeln!(out, "{}: {}", escaped(name), escaped_but(&values, LINES))?;
    }
    let source = document.source.as_ref().map(|source| source.get());
    let text = document.text.as_deref().or(source).unwrap_or_default();
    writeln!(out, "\n{}", escaped_but(text, LINES))
}
