//! A gzip file, member by member. Web archives have a member for each record, so damage costs one.
//!
//! A read that meets damage fails, and the next one goes on behind it: with the first member that
//! begins behind the beginning of the damaged one.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::bufread::GzDecoder;

use super::head::Bytes;

/// What each member begins with: the magic and the only method there is.
const MAGIC: &[u8] = b"\x1f\x8b\x08";
/// Bits of the fourth byte that no member has.
const RESERVED: u8 = 0xe0;
const PIECE_BYTES: usize = 64 << 10;
/// Bytes of a member that are kept, to look for the next one among them.
const KEPT_BYTES: usize = 4 << 20;

/// The kind of an error of a member that has given nothing: what came before it is whole.
pub(super) const NOTHING_GIVEN: ErrorKind = ErrorKind::InvalidData;

pub(super) struct Members {
    stage: Stage,
    /// The member has given something.
    has_given: bool,
}

enum Stage {
    /// Before a member. After damage, what is no member is passed over.
    Between(Packed, bool),
    Within(GzDecoder<Packed>),
    /// While one stage becomes another.
    Moving,
}

/// The packed bytes, some of which can be read again.
struct Packed {
    source: Bytes,
    buffer: Vec<u8>,
    /// Where reading goes on, in the buffer.
    at: usize,
    /// Where the member begins, in the buffer; or what is left of it.
    start: usize,
    /// The place of the buffer in the file.
    offset: u64,
    /// The place of the member in the file.
    member: u64,
}

impl Members {
    pub(super) fn new(packed: impl Read + Send + 'static) -> Members {
        let source: Bytes = Box::new(packed);
        let packed = Packed { source, buffer: Vec::new(), at: 0, start: 0, offset: 0, member: 0 };
        Members { stage: Stage::Between(packed, false), has_given: false }
    }

    /// Goes to the next member. False at the end.
    fn begin(&mut self) -> io::Result<bool> {
        let Stage::Between(packed, passes_over) = &mut self.stage else { return Ok(true) };
        let found = if *passes_over { packed.find()? } else { !packed.fill_buf()?.is_empty() };
        if !found {
            return Ok(false);
        }
        packed.begin();
        self.has_given = false;
        if let Stage::Between(packed, _) = std::mem::replace(&mut self.stage, Stage::Moving) {
            self.stage = Stage::Within(GzDecoder::new(packed));
        }
        Ok(true)
    }

    /// Leaves a member: at its end, or because it is damaged.
    fn leave(&mut self, is_damaged: bool) {
        if let Stage::Within(decoder) = std::mem::replace(&mut self.stage, Stage::Moving) {
            let mut packed = decoder.into_inner();
            if is_damaged {
                packed.at = (packed.start + 1).min(packed.buffer.len());
            }
            self.stage = Stage::Between(packed, is_damaged);
        }
    }
}

impl Read for Members {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while !to.is_empty() && self.begin()? {
            let Stage::Within(decoder) = &mut self.stage else { continue };
            match decoder.read(to) {
                Ok(0) => self.leave(false),
                Err(error) if is_damage(&error) => {
                    let reason =
                        format!("{error}, in the member at byte {}", decoder.get_ref().member);
                    let kind = match self.has_given {
                        true => ErrorKind::UnexpectedEof,
                        false => NOTHING_GIVEN,
                    };
                    self.leave(true);
                    return Err(io::Error::new(kind, reason));
                }
                Ok(read) => {
                    self.has_given = true;
                    return Ok(read);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(0)
    }
}

/// True if an error is one of the data, not of the file or of the moment.
pub(super) fn is_damage(error: &io::Error) -> bool {
    let is_of_the_moment = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted);
    error.raw_os_error().is_none() && !is_of_the_moment
}

impl Packed {
    /// Notes that a member begins here.
    fn begin(&mut self) {
        self.start = self.at;
        self.member = self.offset + self.at as u64;
    }

    /// Goes to the next place where a member may begin. False at the end.
    fn find(&mut self) -> io::Result<bool> {
        loop {
            let rest = &self.buffer[self.at..];
            let begins = |bytes: &[u8]| bytes.starts_with(MAGIC) && bytes[3] & RESERVED == 0;
            if let Some(place) = rest.windows(MAGIC.len() + 1).position(begins) {
                self.at += place;
                return Ok(true);
            }
            // The last bytes may be the beginning of a member's first ones.
            self.at += rest.len().saturating_sub(MAGIC.len());
            self.start = self.at;
            if !self.more()? {
                self.at = self.buffer.len();
                return Ok(false);
            }
        }
    }

    /// Reads more behind the buffer's bytes. False at the end.
    fn more(&mut self) -> io::Result<bool> {
        let kept = if self.at - self.start > KEPT_BYTES { self.at } else { self.start };
        self.buffer.drain(..kept);
        self.offset += kept as u64;
        (self.at, self.start) = (self.at - kept, 0);
        let before = self.buffer.len();
        self.buffer.resize(before + PIECE_BYTES, 0);
        let read = self.source.read(&mut self.buffer[before..]);
        self.buffer.truncate(before + *read.as_ref().unwrap_or(&0));
        Ok(read? > 0)
    }
}

impl Read for Packed {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(to)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Packed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.buffer.len() {
            self.more()?;
        }
        Ok(&self.buffer[self.at..])
    }

    fn consume(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.buffer.len());
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    pub(crate) fn member(text: &[u8]) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text).unwrap();
        gzip.finish().unwrap()
    }

    /// What is read, and how often that failed.
    fn read(file: Vec<u8>) -> (Vec<u8>, Vec<String>) {
        let (mut members, mut piece) = (Members::new(Cursor::new(file)), [0; 777]);
        let (mut all, mut errors) = (Vec::new(), Vec::new());
        loop {
            match members.read(&mut piece) {
                Ok(0) => return (all, errors),
                Ok(read) => all.extend(&piece[..read]),
                Err(error) => errors.push(error.to_string()),
            }
        }
    }

    fn text(number: u32) -> Vec<u8> {
        (0..400)
            .flat_map(|line| format!("{number} {}\n", line * number * number).into_bytes())
            .collect()
    }

    #[test]
    fn damage_costs_no_more_than_the_member_that_has_it() {
        let texts: Vec<Vec<u8>> = (1..6).map(text).collect();
        let members: Vec<Vec<u8>> = texts.iter().map(|text| member(text)).collect();
        let whole = members.concat();
        assert_eq!(read(whole.clone()), (texts.concat(), Vec::new()));
        let others = texts.iter().enumerate().filter(|(number, _)| *number != 2);
        let start: usize = members[..2].iter().map(Vec::len).sum();
        let end = start + members[2].len();
        for place in (start..end).step_by(23).chain([start, start + 1, start + 3, end - 8, end - 1])
        {
            let mut damaged = whole.clone();
            damaged[place] ^= 0x55;
            let (all, errors) = read(damaged);
            // Names and times in a member's head may be any.
            if errors.is_empty() && place < start + 10 {
                continue;
            }
            assert!(!errors.is_empty(), "{place}");
            assert!(errors[0].contains(&format!("at byte {start}")), "{place}: {errors:?}");
            for (number, text) in others.clone() {
                assert!(all.windows(text.len()).any(|part| part == &text[..]), "{place}: {number}");
            }
        }
        // Cut out of the middle, or off the end.
        let cut = [&whole[..start + 40], &whole[end..]].concat();
        let (all, errors) = read(cut);
        assert!(errors.len() == 1 && all.ends_with(&texts[3..].concat()), "{errors:?}");
        let (all, errors) = read(whole[..whole.len() - 3].to_vec());
        assert!(errors.len() == 1 && all.starts_with(&texts[..4].concat()), "{errors:?}");
    }

    #[test]
    fn members_that_are_larger_than_what_is_kept_are_read() {
        let large: Vec<u8> =
            (0..3_000_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let file = [member(&large), member(b"small")].concat();
        assert!(file.len() > 2 * KEPT_BYTES);
        let (all, errors) = read(file);
        assert!(errors.is_empty() && all.len() == large.len() + 5 && all.ends_with(b"small"));
    }
}
