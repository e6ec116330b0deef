//! A client that costs little: it keeps connections open, and reads answers whole.
//!
//! All connections are of one thread, which is the client of both sides.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// A connection, which has one request under way at most.
pub(super) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    address: SocketAddr,
}

/// What a server answered.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> Result<Connection, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{address}: {error}");
        let stream = TcpStream::connect(address).await.map_err(|error| failed(&error))?;
        stream.set_nodelay(true).map_err(|error| failed(&error))?;
        let (sender, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error))?;
        // It ends with the sender; what breaks it is the next request's error.
        tokio::spawn(connection);
        Ok(Connection { sender, address })
    }

    pub(super) async fn open_all(
        address: SocketAddr,
        number: usize,
    ) -> Result<Vec<Connection>, String> {
        let mut all = Vec::with_capacity(number);
        for _ in 0..number {
            all.push(Connection::open(address).await?);
        }
        Ok(all)
    }

    /// Sends a request, and returns its answer, whatever its status.
    pub(super) async fn ask(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<Answer, String> {
        let failed =
            |error: &dyn std::fmt::Display| format!("{method} {}{path}: {error}", self.address);
        let request = Request::builder()
            .method(method.clone())
            .uri(path)
            .header(HOST, self.address.to_string())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .map_err(|error| failed(&error))?;
        self.sender.ready().await.map_err(|error| failed(&error))?;
        let response = self.sender.send_request(request).await.map_err(|error| failed(&error))?;
        let status = response.status();
        let body = response.into_body().collect().await.map_err(|error| failed(&error))?;
        Ok(Answer { status, body: body.to_bytes() })
    }

    /// Like [`Connection::ask`], but a status of failure is an error.
    pub(super) async fn must(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<Bytes, String> {
        let answer = self.ask(method.clone(), path, body).await?;
        if answer.status.is_success() {
            return Ok(answer.body);
        }
        let text = String::from_utf8_lossy(&answer.body);
        Err(format!("{method} {}{path}: {} {text}", self.address, answer.status))
    }

    /// The answer to a request, as JSON.
    pub(super) async fn json(
        &mut self,
        method: Method,
        path: &str,
        body: &str,
    ) -> Result<Value, String> {
        let answer = self.must(method, path, Bytes::from(body.to_owned())).await?;
        serde_json::from_slice(&answer).map_err(|error| format!("{path}: {error}"))
    }

    /// Sends a bulk. A document that was refused is an error.
    pub(super) async fn bulk(&mut self, path: &str, body: Bytes) -> Result<(), String> {
        let answer = self.must(Method::POST, path, body).await?;
        // Both sides say first whether there were errors, so the results need not be read.
        let head = &answer[..answer.len().min(60)];
        if String::from_utf8_lossy(head).contains(r#""errors":false"#) {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&answer);
        let start = text.find(r#""error":"#).unwrap_or(0);
        Err(format!("a bulk was refused: {}", text[start..].chars().take(300).collect::<String>()))
    }
}
