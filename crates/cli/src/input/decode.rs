//! Byte order marks and UTF-16: whatever a source is encoded in, UTF-8 comes out.
//!
//! What is no UTF-16 becomes a byte that is no UTF-8, so that its line is refused as others are.

use std::io::{self, ErrorKind, Read};

use encoding_rs::{Decoder, DecoderResult, UTF_16BE, UTF_16LE};

use super::head::{Bytes, Head};

pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// In no UTF-8 text.
const INVALID: u8 = 0xff;
const RAW_BYTES: usize = 64 << 10;

/// A source as UTF-8, without a mark at its beginning.
pub(crate) struct Decoded(Stage);

enum Stage {
    Opening(Head),
    Utf8(Bytes),
    Utf16(Box<Utf16>),
}

struct Utf16 {
    source: Bytes,
    decoder: Decoder,
    raw: Vec<u8>,
    text: Vec<u8>,
    /// So much of the text was taken.
    at: usize,
    is_over: bool,
}

impl Decoded {
    pub(crate) fn new(source: Bytes) -> Decoded {
        Decoded(Stage::Opening(Head::new(source)))
    }
}

/// The encoding by a source's first bytes; none if it takes more of them.
fn stage_of(head: Head) -> io::Result<Stage> {
    let utf16 = |head: Head, decoder| {
        let source = Box::new(head.whole(2));
        let raw = vec![0; RAW_BYTES];
        Stage::Utf16(Box::new(Utf16 {
            source,
            decoder,
            raw,
            text: Vec::new(),
            at: 0,
            is_over: false,
        }))
    };
    match head.bytes() {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => {
            let reason = "it is UTF-32; make it UTF-8, as with `iconv -f UTF-32 -t UTF-8`";
            Err(io::Error::new(ErrorKind::Unsupported, reason))
        }
        [0xff, 0xfe, ..] => Ok(utf16(head, UTF_16LE.new_decoder_without_bom_handling())),
        [0xfe, 0xff, ..] => Ok(utf16(head, UTF_16BE.new_decoder_without_bom_handling())),
        bytes => {
            let mark = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
            Ok(Stage::Utf8(Box::new(head.whole(mark))))
        }
    }
}

/// True if a source that begins so has UTF-8 and no mark before it.
pub(super) fn is_utf8(head: &[u8]) -> bool {
    let is_utf16 = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    !is_utf16 && !may_be_mark(head) && !head.starts_with(BYTE_ORDER_MARK)
}

/// True if more bytes could still make a mark of them.
fn may_be_mark(bytes: &[u8]) -> bool {
    let marks: [&[u8]; 4] = [BYTE_ORDER_MARK, b"\xff\xfe\0\0", b"\xfe\xff", b"\0\0\xfe\xff"];
    marks.iter().any(|mark| bytes.len() < mark.len() && mark.starts_with(bytes))
}

impl Read for Decoded {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            let head = match &mut self.0 {
                Stage::Utf8(source) => return source.read(to),
                Stage::Utf16(utf16) => return utf16.read(to),
                Stage::Opening(head) => head,
            };
            if may_be_mark(head.bytes()) && !head.is_over() {
                head.more()?;
                continue;
            }
            let head = std::mem::replace(head, Head::new(Box::new(io::empty())));
            self.0 = stage_of(head)?;
        }
    }
}

impl Utf16 {
    /// Decodes the next piece.
    fn fill(&mut self) -> io::Result<()> {
        let read = self.source.read(&mut self.raw)?;
        self.is_over = read == 0;
        (self.at, self.text) = (0, Vec::new());
        let mut left = &self.raw[..read];
        loop {
            let room = self.decoder.max_utf8_buffer_length_without_replacement(left.len());
            let mut text = vec![0; room.unwrap_or(RAW_BYTES * 3)];
            let (result, taken, made) =
                self.decoder.decode_to_utf8_without_replacement(left, &mut text, self.is_over);
            self.text.extend(&text[..made]);
            left = &left[taken..];
            match result {
                DecoderResult::InputEmpty => return Ok(()),
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => self.text.push(INVALID),
            }
        }
    }
}

impl Read for Utf16 {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() && !self.is_over {
            self.fill()?;
        }
        let taken = (&self.text[self.at..]).read(to)?;
        self.at += taken;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::unpack::tests::Drops;
    use super::*;

    fn decoded(bytes: Vec<u8>) -> Vec<u8> {
        let source = Drops(Cursor::new(bytes), false);
        let (mut decoded, mut all, mut piece) =
            (Decoded::new(Box::new(source)), Vec::new(), [0; 3]);
        loop {
            match decoded.read(&mut piece) {
                Ok(0) => return all,
                Ok(read) => all.extend(&piece[..read]),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
    }

    fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    #[test]
    fn utf16_of_both_orders_becomes_utf8_whatever_the_pieces() {
        let text = "\u{feff}größe 日本\r\n😀 end";
        for unit in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(decoded(utf16(text, unit)), text.trim_start_matches('\u{feff}').as_bytes());
        }
        assert_eq!(decoded(text.as_bytes().to_vec()), &text.as_bytes()[3..]);
        for text in ["", "a", "\u{ff}"] {
            assert_eq!(decoded(text.as_bytes().to_vec()), text.as_bytes());
        }
    }

    #[test]
    fn half_a_pair_of_surrogates_spoils_its_line_alone() {
        let mut bytes = utf16("\u{feff}a\n", u16::to_le_bytes);
        bytes.extend(0xd800u16.to_le_bytes());
        bytes.extend(utf16("b\nc\n", u16::to_le_bytes));
        assert_eq!(decoded(bytes), b"a\n\xffb\nc\n");
        assert_eq!(decoded(b"\xff\xfea\0b".to_vec()), b"a\xff");
    }
}
