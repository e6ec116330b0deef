//! `spirit search`: the newest documents that match.

use std::io::Write;

use crate::answer::answer_all;
use crate::args::SearchArgs;
use crate::commands::source::index_files;
use crate::failure::Failure;
use crate::output::out;

pub(crate) fn run(args: SearchArgs) -> Result<(), Failure> {
    args.answering.check()?;
    let source = args.source.settled()?;
    let index = index_files(&source.files, &args.reading, &args.index)?;
    let mut out = out();
    let answered = answer_all(&index, &source.queries, &args.answering, &mut out);
    out.flush()?;
    answered
}
