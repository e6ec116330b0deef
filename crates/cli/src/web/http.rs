//! Answers of HTTP as they were kept: heads of lines, bodies in chunks, compressed or not.

use std::borrow::Cow;
use std::io::{self, Read};

/// Bytes of an unpacked body, at most.
const BODY_BYTES_MAX: u64 = 64 << 20;
const BROTLI_BUFFER_BYTES: usize = 16 << 10;

/// Returns the value of a header; heads end with a blank line, or with the bytes.
pub(crate) fn header<'h>(head: &'h [u8], name: &str) -> Option<Cow<'h, str>> {
    let lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let value = |line: &'h [u8]| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let is_it = line[..colon].trim_ascii().eq_ignore_ascii_case(name.as_bytes());
        is_it.then(|| String::from_utf8_lossy(line[colon + 1..].trim_ascii()))
    };
    lines.skip(1).take_while(|line| !line.is_empty()).find_map(value)
}

/// Splits a head off.
pub(super) fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        if line.trim_ascii().is_empty() {
            break;
        }
    }
    bytes.split_at(at)
}

/// An answer.
pub(super) struct Response<'r> {
    pub(super) status: u16,
    /// The kind of its content, in lower case, and the name of the encoding.
    pub(super) kind: String,
    pub(super) charset: Option<String>,
    pub(super) body: Cow<'r, [u8]>,
}

impl<'r> Response<'r> {
    /// Reads an answer. Fails with what cannot be read.
    pub(super) fn of(bytes: &'r [u8]) -> Result<Response<'r>, String> {
        let (head, body) = split(bytes);
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let status = line.starts_with("HTTP/").then(|| line.split_ascii_whitespace().nth(1));
        let status = status.flatten().and_then(|status| status.parse().ok());
        let status = status.ok_or("an answer without a line of HTTP's status")?;
        let given = header(head, "Content-Type").unwrap_or_default().to_ascii_lowercase();
        let mut parts = given.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_owned();
        let charset = parts.find_map(|part| part.strip_prefix("charset=")).map(unquoted);
        let is_chunked = header(head, "Transfer-Encoding")
            .is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"));
        // Archives that took the chunks apart left the header as it was.
        let whole = if is_chunked { joined(body) } else { None };
        let body = unpacked(whole.map_or(Cow::Borrowed(body), Cow::Owned), head)?;
        Ok(Response { status, kind, charset, body })
    }
}

fn unquoted(name: &str) -> String {
    name.trim_matches(|c| c == '"' || c == '\'').to_owned()
}

/// Joins chunks. None if the body does not consist of them. One that is cut off ends where it ends.
fn joined(mut body: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(body.len());
    loop {
        let end = body.iter().position(|byte| *byte == b'\n')?;
        let size = std::str::from_utf8(&body[..end]).ok()?.split(';').next()?.trim();
        let size = usize::from_str_radix(size, 16).ok()?;
        let rest = &body[end + 1..];
        if size == 0 || size >= rest.len() {
            whole.extend(&rest[..size.min(rest.len())]);
            return Some(whole);
        }
        whole.extend(&rest[..size]);
        let behind = &rest[size..];
        body = behind.strip_prefix(b"\r\n").or_else(|| behind.strip_prefix(b"\n"))?;
        if body.is_empty() {
            return Some(whole);
        }
    }
}

fn unpacked<'r>(body: Cow<'r, [u8]>, head: &[u8]) -> Result<Cow<'r, [u8]>, String> {
    let coding = header(head, "Content-Encoding").unwrap_or_default().to_ascii_lowercase();
    let is_gzip = body.starts_with(b"\x1f\x8b");
    let is_zstd = body.starts_with(b"\x28\xb5\x2f\xfd");
    let packed = &body[..];
    let unpacked = match &*coding {
        "gzip" | "x-gzip" if is_gzip => whole(flate2::read::MultiGzDecoder::new(packed)),
        "zstd" if is_zstd => zstd::Decoder::new(packed).and_then(whole),
        // What servers call so has zlib's head or none. Or the archive unpacked it.
        "deflate" => whole(flate2::read::ZlibDecoder::new(packed))
            .or_else(|_| whole(flate2::read::DeflateDecoder::new(packed)))
            .or_else(|_| Ok(packed.to_vec())),
        // It has no magic either.
        "br" if std::str::from_utf8(packed).is_err() => {
            whole(brotli_decompressor::Decompressor::new(packed, BROTLI_BUFFER_BYTES))
        }
        "" | "identity" | "none" | "gzip" | "x-gzip" | "zstd" | "br" | "utf-8" => return Ok(body),
        other => return Err(format!("a body with Content-Encoding {other}, which is not read")),
    };
    match unpacked {
        Ok(whole) if whole.len() as u64 > BODY_BYTES_MAX => {
            Err(format!("a body of more than {BODY_BYTES_MAX} bytes once it is unpacked"))
        }
        Ok(whole) => Ok(Cow::Owned(whole)),
        Err(error) => Err(format!("a body whose {coding} data is damaged: {error}")),
    }
}

/// Reads on until it is too much.
fn whole(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut whole = Vec::new();
    reader.take(BODY_BYTES_MAX + 1).read_to_end(&mut whole)?;
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn body(head: &str, body: &[u8]) -> Result<Vec<u8>, String> {
        let bytes = [format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes(), body].concat();
        Response::of(&bytes).map(|response| response.body.into_owned())
    }

    #[test]
    fn heads_are_read_as_servers_write_them() {
        let answer =
            b"HTTP/1.0 404 Not Found\ncontent-TYPE : Text/HTML; x=1; charset=\"Big5\"\n\nbody: x";
        let response = Response::of(answer).unwrap();
        assert_eq!((response.status, &*response.kind), (404, "text/html"));
        assert_eq!((response.charset.as_deref(), &*response.body), (Some("big5"), &b"body: x"[..]));
        assert_eq!(header(answer, "body"), None);
        assert!(Response::of(b"ICY 200 OK\r\n\r\n").is_err());
        assert!(Response::of(b"").is_err());
    }

    #[test]
    fn chunks_are_joined_unless_that_was_done() {
        let chunked = |text: &[u8]| body("Transfer-Encoding: chunked", text).unwrap();
        assert_eq!(
            chunked(b"3\r\nabc\r\n1A;x=y\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n").len(),
            29
        );
        assert_eq!(chunked(b"<html>\nplain"), b"<html>\nplain");
        assert_eq!(chunked(b"5\r\nabc"), b"abc");
        assert_eq!(chunked(b"3\r\nabc\r\n"), b"abc");
        assert_eq!(chunked(b"ffffffffffffffff\r\nabc"), b"abc");
    }

    #[test]
    fn bodies_are_unpacked() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"a heron").unwrap();
        let gzip = gzip.finish().unwrap();
        assert_eq!(body("Content-Encoding: gzip", &gzip).unwrap(), b"a heron");
        assert_eq!(body("Content-Encoding: gzip", b"a heron").unwrap(), b"a heron");
        let cut = body("Content-Encoding: gzip", &gzip[..gzip.len() - 9]).unwrap_err();
        assert!(cut.contains("damaged"), "{cut}");
        for head in [true, false] {
            let mut packed = Vec::new();
            let level = flate2::Compression::fast();
            match head {
                true => {
                    flate2::read::ZlibEncoder::new(&b"a heron"[..], level).read_to_end(&mut packed)
                }
                false => flate2::read::DeflateEncoder::new(&b"a heron"[..], level)
                    .read_to_end(&mut packed),
            }
            .unwrap();
            assert_eq!(body("Content-Encoding: deflate", &packed).unwrap(), b"a heron");
        }
        // As other tools pack it: as it is, with an empty block behind it; and with copies.
        let brotli = b"\x0b\x03\x80a heron\x03";
        assert_eq!(body("Content-Encoding: br", brotli).unwrap(), b"a heron");
        let brotli = b"\x1b\x1b\x00\xf8\x1d\x89q,\xc9:c\xe2B\r\x12V\xf6\xa9\xd0\x86\xd3\xedM\xae$\x99'\x0e8\xd1q";
        let copies = "a heron heron heron heron ß".as_bytes();
        assert_eq!(body("Content-Encoding: br", brotli).unwrap(), copies);
        assert_eq!(body("Content-Encoding: br", b"a heron").unwrap(), b"a heron");
        let zstd = zstd::encode_all(&b"a heron"[..], 3).unwrap();
        assert_eq!(body("Content-Encoding: zstd", &zstd).unwrap(), b"a heron");
        assert!(body("Content-Encoding: zstd", &zstd[..9]).unwrap_err().contains("damaged"));
        let bomb = zstd::encode_all(std::io::repeat(b' ').take(BODY_BYTES_MAX + 1), 3).unwrap();
        assert!(body("Content-Encoding: zstd", &bomb).unwrap_err().contains("more than 67108864"));
        assert!(body("Content-Encoding: sdch", b"x").unwrap_err().contains("sdch"));
    }
}
