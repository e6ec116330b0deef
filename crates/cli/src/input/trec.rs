//! Documents of a TREC collection: from a line that begins with `<DOC>` to one that has `</DOC>`.

use std::io;

use super::Lines;
use super::joined::Joined;
use super::step::{Line, Step};

pub(crate) struct Trec {
    lines: Lines,
    record: Joined,
}

impl Trec {
    pub(crate) fn new(lines: Lines, bytes_max: usize) -> Trec {
        Trec { lines, record: Joined::new(bytes_max) }
    }

    pub(crate) fn step(&mut self) -> io::Result<Step<'_>> {
        self.record.begin();
        loop {
            if !self.lines.read_line()? {
                return Ok(Step::Pause);
            }
            let is_end = self.lines.line.is_empty();
            match self.record.first {
                None if is_end => return Ok(Step::End),
                Some(first) if is_end => {
                    self.record.first = None;
                    let reason = "the file ends within a document: it was cut off; get it whole";
                    return Ok(Step::Record(first, Line::Damaged(reason)));
                }
                None if !self.lines.bytes().trim_ascii_start().starts_with(b"<DOC>") => {
                    self.lines.take_line();
                }
                _ => {
                    let ends = self.lines.bytes().windows(6).any(|part| part == b"</DOC>");
                    self.record.add(&mut self.lines);
                    if ends {
                        let (first, record) = self.record.taken();
                        return Ok(Step::Record(first, record));
                    }
                }
            }
        }
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
