//! Documents of a TREC collection: from a line that begins with `<DOC>` to one that has `</DOC>`.

use std::io;

use super::Lines;
use super::step::{Line, Step};

pub(crate) struct Trec {
    lines: Lines,
    bytes_max: usize,
    record: Vec<u8>,
    /// The number of the document's first line; none between documents.
    first: Option<u64>,
    is_long: bool,
}

impl Trec {
    pub(crate) fn new(lines: Lines, bytes_max: usize) -> Trec {
        Trec { lines, bytes_max, record: Vec::new(), first: None, is_long: false }
    }

    pub(crate) fn step(&mut self) -> io::Result<Step<'_>> {
        if self.first.is_none() {
            self.record.clear();
            self.is_long = false;
        }
        loop {
            if !self.lines.read_line()? {
                return Ok(Step::Pause);
            }
            let is_end = self.lines.line.is_empty();
            match self.first {
                None if is_end => return Ok(Step::End),
                Some(first) if is_end => {
                    self.first = None;
                    let reason = "the file ends within a document: it was cut off; get it whole";
                    return Ok(Step::Record(first, Line::Damaged(reason)));
                }
                None if !self.lines.bytes().trim_ascii_start().starts_with(b"<DOC>") => {
                    self.lines.take_line();
                }
                _ => {
                    if self.append() {
                        let first = self.first.take().unwrap_or_default();
                        let record = match self.is_long {
                            true => Line::TooLong,
                            false => Line::Bytes(&self.record),
                        };
                        return Ok(Step::Record(first, record));
                    }
                }
            }
        }
    }

    /// Adds the line that was read. True if it ends the document.
    fn append(&mut self) -> bool {
        let line = self.lines.bytes();
        let ends = line.windows(6).any(|part| part == b"</DOC>");
        let has_room = !self.lines.is_cut && self.record.len() + line.len() <= self.bytes_max;
        if has_room {
            self.record.extend(line);
        }
        self.is_long |= !has_room;
        let number = self.lines.number + 1;
        self.first.get_or_insert(number);
        self.lines.take_line();
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::tests::{of, records};
    use crate::format::Format;

    #[test]
    fn documents_are_records_and_what_is_between_them_is_not() {
        let text =
            "\n<DOC>\n<DOCNO>1</DOCNO>\na\n</DOC>\n junk\n<DOC><DOCNO>2</DOCNO></DOC>\n<DOC>\ncut";
        assert_eq!(
            records(text.as_bytes(), &of(Format::Trec)),
            [
                "2 <DOC>\n<DOCNO>1</DOCNO>\na\n</DOC>\n",
                "7 <DOC><DOCNO>2</DOCNO></DOC>\n",
                "! 8 the file ends within a document: it was cut off; get it whole"
            ]
        );
    }
}
