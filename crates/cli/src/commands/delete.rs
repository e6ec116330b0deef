//! `spirit delete`: documents go, by key.

use std::io::Write;

use serde::Serialize;
use spirit::Index;
use spirit_forms::escape::escaped;

use crate::args::{DeleteArgs, IndexArgs};
use crate::directory;
use crate::failure::Failure;
use crate::full;
use crate::interrupt::Interrupt;
use crate::output::{json_line, out};

#[derive(Default, Serialize)]
struct Deleted<'a> {
    deleted: u64,
    /// Keys that no document had.
    missing: Vec<&'a str>,
}

pub(crate) fn run(args: &DeleteArgs) -> Result<(), Failure> {
    let interrupt = Interrupt::caught()?;
    let opening = IndexArgs { dram: args.dram, ..IndexArgs::default() };
    let index = directory::open(&args.directory, &opening)?;
    let mut deleted = Deleted::default();
    let work = || delete(&index, &args.keys, &interrupt, &mut deleted);
    let failed = full::reported(&index, &interrupt, work);
    directory::close(index, failed)?;
    let mut out = out();
    if args.json {
        json_line(&mut out, &deleted)?;
    } else {
        deleted.write(args.keys.len(), &mut out)?;
    }
    Ok(out.flush()?)
}

fn delete<'a>(
    index: &Index,
    keys: &'a [String],
    interrupt: &Interrupt,
    deleted: &mut Deleted<'a>,
) -> Result<(), Failure> {
    for key in keys {
        interrupt.check()?;
        let failed = |error| Failure::work(format_args!("key {key}: {error}"));
        match index.delete(key).map_err(failed)? {
            true => deleted.deleted += 1,
            false => deleted.missing.push(key),
        }
    }
    Ok(())
}

impl Deleted<'_> {
    fn write(&self, keys: usize, out: &mut impl Write) -> std::io::Result<()> {
        writeln!(out, "deleted {} of {keys}", self.deleted)?;
        self.missing
            .iter()
            .try_for_each(|key| writeln!(out, "no document has the key {}", escaped(key)))
    }
}
