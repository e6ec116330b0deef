//! Bodies of requests: read whole, within limits of length, time and memory, and unpacked.
//!
//! A body takes its memory from a budget of all bodies as its bytes come. So neither many large bodies nor
//! many slow ones take more, and who is slow holds no more than what he has sent.

use std::future::poll_fn;
use std::io::Read;
use std::ops::Deref;
use std::pin::Pin;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, StatusCode, header};
use tokio::time::timeout;

use super::budget::Room;
use super::server::Server;
use crate::problem::{Answered, Problem};

/// Bytes from which on memory is reserved for all of a body.
const LARGE: usize = 1 << 20;

/// A body, with its part of the budget.
#[derive(Debug)]
pub(crate) struct Received {
    bytes: Vec<u8>,
    _room: Room,
}

impl Deref for Received {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads a body, and unpacks it if its headers say so.
pub(crate) async fn read(server: &Server, headers: &HeaderMap, body: Body) -> Answered<Received> {
    let limit = server.settings().body;
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let declared = declared.and_then(|length| length.parse::<u64>().ok()).unwrap_or_default();
    if declared > limit {
        return Err(too_long(limit));
    }
    let patience = server.settings().hold;
    let mut reading = Reading { server, room: Room::default(), bytes: Vec::new(), patience };
    let time = server.settings().body_timeout;
    timeout(time, reading.read(body, declared as usize)).await.map_err(|_| too_slow(time))??;
    let bytes = unpacked(headers, std::mem::take(&mut reading.bytes), limit)?;
    reading.take_room(bytes.len()).await?;
    server.trail().body(&bytes);
    Ok(Received { bytes, _room: reading.room })
}

/// A body that is being read.
struct Reading<'s> {
    server: &'s Server,
    room: Room,
    bytes: Vec<u8>,
    /// The time that it may still wait for room, in all. If each piece had its own, large bodies could
    /// keep each other waiting.
    patience: Duration,
}

impl Reading<'_> {
    async fn read(&mut self, mut body: Body, declared: usize) -> Answered<()> {
        let limit = self.server.settings().body;
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            let frame =
                frame.map_err(|error| Problem::bad(format!("the body breaks off: {error}")))?;
            // Trailers say nothing here.
            let data: Bytes = frame.into_data().unwrap_or_default();
            if (self.bytes.len() + data.len()) as u64 > limit {
                return Err(too_long(limit));
            }
            if let Err(busy) = self.take_room(self.bytes.len() + data.len()).await {
                (self.bytes, self.room) = (Vec::new(), Room::default());
                discard(body, limit).await;
                return Err(busy);
            }
            // A large one does not double. One that has only said that it is large takes nothing yet.
            if self.bytes.len() >= LARGE && self.bytes.capacity() < declared {
                self.bytes.reserve_exact(declared - self.bytes.len());
            }
            self.bytes.extend_from_slice(&data);
        }
        Ok(())
    }

    /// Takes room for a body of this many bytes from the budget. Waits for it, but not for ever.
    async fn take_room(&mut self, bytes: usize) -> Answered<()> {
        let started = Instant::now();
        let taken = self.server.bodies().take(&mut self.room, bytes);
        let status = self.server.settings().overload_status;
        let busy = |_| Problem::overloaded(status);
        let taken = timeout(self.patience, taken).await.map_err(busy);
        self.patience = self.patience.saturating_sub(started.elapsed());
        taken
    }
}

/// Reads the rest of a body and keeps nothing. A client that is still writing would not read its answer.
async fn discard(mut body: Body, limit: u64) {
    let mut length = 0;
    while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        length += frame.into_data().map_or(0, |data: Bytes| data.len() as u64);
        if length > limit {
            return;
        }
    }
}

fn unpacked(headers: &HeaderMap, bytes: Vec<u8>, limit: u64) -> Answered<Vec<u8>> {
    let encoding = headers.get(header::CONTENT_ENCODING).map(|value| value.as_bytes());
    match encoding {
        None | Some(b"" | b"identity") => Ok(bytes),
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

fn too_slow(time: Duration) -> Problem {
    let time = humantime::format_duration(time);
    let detail = format!("a body has to come within {time}: send it in parts");
    Problem::new(StatusCode::REQUEST_TIMEOUT, "body-too-slow", "The body came too slowly", detail)
}
