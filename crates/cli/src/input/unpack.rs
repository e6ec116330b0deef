//! Compression by content: the first bytes of a source say what it is, whatever its name is.

use std::io::{self, ErrorKind, Read};

use super::head::{Bytes, Head};
use super::members::Members;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Codec {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    /// Bytes as they are.
    Plain,
    /// A known form of files that is not read.
    Foreign(&'static str),
}

/// First bytes. `?` is any byte. Zstandard may begin with a frame that is skipped; bzip2 says its block size, and then the first
/// block begins, or the end of a file without one.
const MAGICS: [(&[u8], Codec); 12] = [
    (b"\x1f\x8b\x08", Codec::Gzip),
    (b"\x28\xb5\x2f\xfd", Codec::Zstd),
    (b"?\x2a\x4d\x18", Codec::Zstd),
    (b"BZh?1AY&SY", Codec::Bzip2),
    (b"BZh?\x17\x72\x45\x38\x50\x90", Codec::Bzip2),
    (b"\xfd7zXZ\0", Codec::Xz),
    (b"PK\x03\x04", Codec::Foreign("a zip archive")),
    (b"PK\x05\x06", Codec::Foreign("a zip archive")),
    (b"7z\xbc\xaf\x27\x1c", Codec::Foreign("a 7z archive")),
    (b"\x04\x22\x4d\x18", Codec::Foreign("lz4 data")),
    (b"\x1f\x9d", Codec::Foreign("data of `compress`")),
    (b"PAR1", Codec::Foreign("a Parquet file")),
];

impl Codec {
    /// By a source's first bytes; none if it takes more of them.
    fn of(bytes: &[u8], is_over: bool) -> Option<Codec> {
        let fits = |magic: &[u8]| {
            magic.iter().zip(bytes).all(|(wanted, byte)| *wanted == b'?' || wanted == byte)
        };
        let mut known = MAGICS.iter().filter(|(magic, _)| fits(magic));
        let Some((magic, codec)) = known.next() else { return Some(Codec::Plain) };
        if bytes.len() >= magic.len() {
            return Some(*codec);
        }
        // A few bytes that are no text are the beginning of a file that was cut.
        let is_cut = bytes.len() > 1 && !bytes.is_ascii();
        is_over.then_some(if is_cut { *codec } else { Codec::Plain })
    }

    fn name(self) -> &'static str {
        match self {
            Codec::Gzip => "gzip",
            Codec::Zstd => "zstd",
            Codec::Bzip2 => "bzip2",
            Codec::Xz => "xz",
            Codec::Plain | Codec::Foreign(_) => "plain",
        }
    }

    /// Reads all members, streams or frames of `packed`, one after the other.
    fn decoder(self, packed: impl Read + Send + 'static) -> io::Result<Bytes> {
        Ok(match self {
            Codec::Gzip => Box::new(Members::new(packed)),
            Codec::Zstd => Box::new(zstd::Decoder::new(packed)?),
            Codec::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(packed)),
            Codec::Xz => Box::new(liblzma::read::XzDecoder::new_multi_decoder(packed)),
            Codec::Plain => Box::new(packed),
            Codec::Foreign(what) => {
                let reason = format!("it is {what}; unpack it first");
                return Err(io::Error::new(ErrorKind::Unsupported, reason));
            }
        })
    }

    /// Says what is wrong with packed data. Errors of the file itself stay as they are.
    fn damage(self, error: io::Error) -> io::Error {
        let is_of_file = error.raw_os_error().is_some()
            || matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted);
        if is_of_file || self == Codec::Plain {
            return error;
        }
        let reason = format!(
            "the {} data is damaged or cut off ({error}); what came before that was read: get the \
             file whole and read it again",
            self.name()
        );
        io::Error::new(error.kind(), reason)
    }
}

/// True if a source that begins so is not packed.
pub(super) fn is_plain(head: &[u8]) -> bool {
    Codec::of(head, true) == Some(Codec::Plain)
}

/// A source without its compression.
pub(crate) struct Unpacked(Stage);

enum Stage {
    Opening(Head),
    Open(Codec, Bytes),
}

impl Unpacked {
    pub(crate) fn new(source: Bytes) -> Unpacked {
        Unpacked(Stage::Opening(Head::new(source)))
    }
}

impl Read for Unpacked {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            let head = match &mut self.0 {
                Stage::Open(codec, reader) => {
                    return reader.read(to).map_err(|error| codec.damage(error));
                }
                Stage::Opening(head) => head,
            };
            let Some(codec) = Codec::of(head.bytes(), head.is_over()) else {
                head.more()?;
                continue;
            };
            let head = std::mem::replace(head, Head::new(Box::new(io::empty())));
            self.0 = Stage::Open(codec, codec.decoder(head.whole(0))?);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    /// `text` as one member of each compression that is read.
    pub(crate) fn packed(text: &[u8]) -> [(&'static str, Vec<u8>); 4] {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text).unwrap();
        let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bzip2.write_all(text).unwrap();
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
        xz.write_all(text).unwrap();
        [
            ("gzip", gzip.finish().unwrap()),
            ("zstd", zstd::encode_all(text, 3).unwrap()),
            ("bzip2", bzip2.finish().unwrap()),
            ("xz", xz.finish().unwrap()),
        ]
    }

    /// Gives a byte at a time, and says before each that nothing is there.
    pub(crate) struct Drops(pub(crate) Cursor<Vec<u8>>, pub(crate) bool);

    impl Read for Drops {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(ErrorKind::WouldBlock.into());
            }
            let room = to.len().min(1);
            self.0.read(&mut to[..room])
        }
    }

    fn drops(bytes: &[u8]) -> Bytes {
        Box::new(Drops(Cursor::new(bytes.to_vec()), false))
    }

    fn unpacked(source: Bytes) -> (Vec<u8>, io::Result<()>) {
        let (mut unpacked, mut all, mut piece) = (Unpacked::new(source), Vec::new(), [0; 100]);
        loop {
            match unpacked.read(&mut piece) {
                Ok(0) => return (all, Ok(())),
                Ok(read) => all.extend(&piece[..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return (all, Err(error)),
            }
        }
    }

    #[test]
    fn members_are_read_to_the_last_though_they_trickle_in() {
        let (one, two) = (b"red fox\n".repeat(300), b"blue".to_vec());
        for ((name, mut bytes), (_, second)) in packed(&one).into_iter().zip(packed(&two)) {
            bytes.extend(second);
            let (all, ended) = unpacked(drops(&bytes));
            assert!(ended.is_ok() && all == [&one[..], &two].concat(), "{name}: {ended:?}");
        }
        let mut skipped = b"\x50\x2a\x4d\x18\x01\0\0\0x".to_vec();
        skipped.extend(zstd::encode_all(&one[..], 3).unwrap());
        assert_eq!(unpacked(drops(&skipped)).0, one);
    }

    #[test]
    fn wherever_packed_data_is_cut_it_is_an_error_that_names_the_compression() {
        let text: Vec<u8> = (0..3000u32).flat_map(|n| (n * n).to_string().into_bytes()).collect();
        for (name, bytes) in packed(&text) {
            for end in (2..40).chain((40..bytes.len()).step_by(97)) {
                // Two or three letters are text.
                if name == "bzip2" && end < 10 {
                    continue;
                }
                let (all, ended) = unpacked(Box::new(Cursor::new(bytes[..end].to_vec())));
                let error = ended.expect_err(name).to_string();
                assert!(error.contains(name) && error.contains("cut off"), "{name} {end}: {error}");
                assert!(text.starts_with(&all), "{name} {end}");
            }
        }
    }

    #[test]
    fn text_is_taken_as_it_is_however_it_begins() {
        for text in ["", "B", "BZ", "BZh", "BZh9", "BZh91AY and so on", "P", "PK", "7zip", "red"] {
            assert_eq!(unpacked(drops(text.as_bytes())).0, text.as_bytes(), "{text}");
        }
        let (_, zip) = unpacked(drops(b"PK\x03\x04\x14\0"));
        assert!(zip.unwrap_err().to_string().contains("a zip archive; unpack it first"));
    }
}
