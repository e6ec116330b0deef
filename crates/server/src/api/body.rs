//! Bodies of requests: read whole, within limits, and unpacked.

use std::io::Read;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, StatusCode, header};

use super::server::Server;
use crate::problem::{Answered, Problem};

/// Reads a body, and unpacks it if its headers say so.
pub(crate) async fn read(server: &Server, headers: &HeaderMap, body: Body) -> Answered<Vec<u8>> {
    let limit = server.settings().body;
    let bytes = to_bytes(body, limit as usize).await.map_err(|_| too_long(limit))?;
    let encoding = headers.get(header::CONTENT_ENCODING).map(|value| value.as_bytes());
    match encoding {
        None | Some(b"" | b"identity") => Ok(bytes.into()),
        Some(b"gzip" | b"x-gzip") => unpack(flate2::read::MultiGzDecoder::new(&*bytes), limit),
        Some(b"deflate") => unpack(flate2::read::ZlibDecoder::new(&*bytes), limit),
        Some(b"zstd") => match zstd::stream::read::Decoder::new(&*bytes) {
            Ok(decoder) => unpack(decoder, limit),
            Err(error) => Err(broken(&error)),
        },
        Some(other) => {
            let other = String::from_utf8_lossy(other);
            let detail =
                format!("Content-Encoding {other}: send gzip, deflate, zstd or no encoding");
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            Err(Problem::new(status, "encoding", "The encoding is not known", detail))
        }
    }
}

fn unpack(packed: impl Read, limit: u64) -> Answered<Vec<u8>> {
    let mut body = Vec::new();
    packed.take(limit + 1).read_to_end(&mut body).map_err(|error| broken(&error))?;
    if body.len() as u64 > limit { Err(too_long(limit)) } else { Ok(body) }
}

fn broken(error: &std::io::Error) -> Problem {
    Problem::bad(format!("the body cannot be unpacked: {error}"))
}

fn too_long(limit: u64) -> Problem {
    let limit = spirit_forms::size::Size(limit);
    let detail = format!("a body has at most {limit}, also once it is unpacked: send it in parts");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "body-too-long", "The body is too long", detail)
}
