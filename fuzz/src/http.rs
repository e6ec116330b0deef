//! Any request over HTTP, to a real server: it is answered or refused, and the server goes on.
//!
//! The first line of an input is the method and the path, lines up to an empty one are headers, and the rest is
//! the body. An input that begins with a zero byte is sent as it is.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::Duration;

use spirit_server::settings::InForce;

/// The time in which an answer has to come.
const PATIENCE: Duration = Duration::from_secs(20);
/// The errors for which OpenSearch has status 500, although a client made them.
const ALLOWED: [&str; 2] =
    ["aggregation_initialization_exception", "unsupported_operation_exception"];

/// Returns the address of a server with one index.
fn server() -> SocketAddr {
    static SERVER: OnceLock<SocketAddr> = OnceLock::new();
    *SERVER.get_or_init(|| {
        let directory = directory();
        let flags = [
            ("directory", directory.display().to_string()),
            ("listen", "127.0.0.1:0".to_owned()),
            ("dram", "64MiB".to_owned()),
            ("nvm", "256MiB".to_owned()),
            ("index-dram", "8MiB".to_owned()),
            ("index-nvm", "32MiB".to_owned()),
            ("hold", "50ms".to_owned()),
            ("log-level", "error".to_owned()),
        ];
        let settings = InForce::read(None, |_| None, &flags).expect("these are settings").settings;
        let (sender, listening) = channel();
        std::thread::spawn(move || {
            let served = spirit_server::serve(settings, |url| {
                let address = url.rsplit('/').next().and_then(|address| address.parse().ok());
                let _ = sender.send(address.expect("an address"));
            });
            panic!("the server ended: {served:?}");
        });
        let address = listening.recv().expect("the server listens");
        let first = request(b"PUT /posts/_doc/1\n\n{\"text\": \"heron\", \"n\": 1}");
        let made = ask(address, &first, false);
        assert!(made.starts_with("HTTP/1.1 201"), "{made}");
        address
    })
}

/// A directory that nobody has, in memory if there is such a place.
fn directory() -> PathBuf {
    let shared = PathBuf::from("/dev/shm");
    let base = if shared.is_dir() { shared } else { std::env::temp_dir() };
    let directory = base.join(format!("spirit-fuzz-http-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    directory
}

/// Sends the request that `data` is.
pub fn http(data: &[u8]) {
    let address = server();
    if let Some(raw) = data.strip_prefix(&[0]) {
        return check(&ask(address, raw, true), raw);
    }
    let request = request(data);
    let answer = ask(address, &request, false);
    assert!(!answer.is_empty(), "no answer: {:?}", String::from_utf8_lossy(&request));
    check(&answer, &request);
}

fn check(answer: &str, request: &[u8]) {
    let status = answer.split(' ').nth(1).unwrap_or("");
    let is_bug = status == "500" && !ALLOWED.iter().any(|kind| answer.contains(kind));
    assert!(!is_bug, "{answer}\nto {:?}", String::from_utf8_lossy(request));
}

/// Makes a request of an input.
fn request(data: &[u8]) -> Vec<u8> {
    let end = data.windows(2).position(|two| two == b"\n\n").unwrap_or(data.len());
    let (head, body) = (&data[..end], data.get(end + 2..).unwrap_or_default());
    let mut lines = head.split(|byte| *byte == b'\n');
    let mut request = lines.next().unwrap_or_default().to_vec();
    request.extend_from_slice(b" HTTP/1.1\r\nHost: here\r\nConnection: close\r\n");
    // An upgraded connection would have no end, and a length of the input's own is for raw ones.
    let is_kept = |line: &&[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        !["upgrade", "connection", "content-length", "transfer-encoding", "expect"]
            .iter()
            .any(|known| name.trim_ascii().eq_ignore_ascii_case(known.as_bytes()))
    };
    for line in lines.filter(is_kept) {
        request.extend_from_slice(line);
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    request.extend_from_slice(body);
    request
}

/// Returns what the server answers until it closes the connection. A tail has no end, so its beginning counts.
/// With `ends`, the client says that nothing follows: then it may get no answer.
fn ask(address: SocketAddr, request: &[u8], ends: bool) -> String {
    let mut stream = TcpStream::connect(address).expect("the server accepts");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time");
    // A server may answer and close before it has read all.
    let _ = stream.write_all(request);
    if ends {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let (mut answer, mut part) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(count) => answer.extend_from_slice(&part[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) => panic!("{error}: {:?}", String::from_utf8_lossy(request)),
        }
        if answer.windows(17).any(|bytes| bytes == b"text/event-stream") {
            break;
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}
