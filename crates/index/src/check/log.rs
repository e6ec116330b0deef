//! Checks the log: records follow each other up to its end, and no whole record is beyond it.

use crate::check::seen::{Found, LogEnd};
use crate::check::{Checked, Logged, Part};
use crate::log::log_reader::{LogReader, Record};
use crate::log::{LogSpace, LoggedKey, LoggedOperation, LoggedText, RecordKind, seal};

pub(super) fn check(part: &Part<'_>, found: &Found, checked: &mut Checked) -> LogEnd {
    let Some(Logged { salt, incarnation, closed }) = part.logged else { return LogEnd::default() };
    let (start, bytes) = part.layout.log;
    let space = LogSpace { start, bytes, salt };
    let (from, explicit_end) =
        found.newest.map_or((0, 0), |entry| (entry.log_from, entry.explicit_end));
    let mut reader = LogReader::new(part.region, space, from, incarnation);
    let mut end = LogEnd::default();
    while let Some(record) = reader.next_record() {
        let at = start + record.position % bytes;
        if let Err(why) = check_record(&record) {
            checked.note("log record", at, why);
        }
        let header = record.header;
        end.row_end = end.row_end.max(header.row + u64::from(header.operations));
        end.replayed += record.rows_max();
        end.kills |= record.may_kill(explicit_end);
        checked.counts.log_records += 1;
        checked.counts.log_operations += u64::from(header.operations);
        checked.counts.bytes += record.bytes();
    }
    let at = start + reader.position() % bytes;
    let sealed = seal::check(part.region, &part.layout, Some((space, incarnation)));
    if let Some(finding) = sealed.err().filter(|_| closed) {
        checked.add(finding);
    }
    if let Err(finding) = reader.check_end(bytes) {
        checked.add(finding);
    } else if closed && reader.has_remains() {
        checked.note("log record", at, "it is damaged, but the index was closed in an orderly way");
    }
    end
}

/// Returns the first error in the operations of a record.
pub(crate) fn check_record(record: &Record) -> Result<(), &'static str> {
    let header = record.header;
    let operations = match header.kind {
        RecordKind::Add => header.operations > 0 || record.group_end().is_some(),
        RecordKind::Delete => header.operations == 1,
        RecordKind::Cancel | RecordKind::Skip => header.operations == 0,
    };
    if !operations || !record.is_whole() {
        return Err("its operations do not fill its length");
    }
    let texts = record.operations().all(|LoggedOperation { key, text, .. }| {
        let is_text = |bytes| std::str::from_utf8(bytes).is_ok();
        !matches!(text, LoggedText::Bytes(text) if !is_text(text))
            && !matches!(key, LoggedKey::Bytes(key) if !is_text(key))
    });
    if texts { Ok(()) } else { Err("a key or a text in it is not UTF-8") }
}
