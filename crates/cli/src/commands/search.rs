//! `spirit search`: the newest documents that match.

use std::io::Write;

use crate::answer::answer_all;
use crate::args::SearchArgs;
use crate::choice::YesNo;
use crate::failure::Failure;
use crate::output::out;

pub(crate) fn run(mut args: SearchArgs) -> Result<(), Failure> {
    args.answering.check()?;
    let (source, queries) = args.source.settled()?;
    if source.directory().is_none() {
        // People want to see the lines of files.
        args.index.store.get_or_insert(YesNo::Yes);
    }
    let opened = source.open(&args.reading, &args.index)?;
    let mut out = out();
    let answered = answer_all(&opened.index, &queries, &args.answering, &mut out);
    out.flush()?;
    opened.close(answered)
}
