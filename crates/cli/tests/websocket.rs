//! `spirit serve`: many standing queries over one WebSocket.

mod common;
mod serving;

use std::net::TcpStream;
use std::time::Duration;

use common::{Folder, spirit};
use serde_json::{Value, json};
use serving::Server;
use tungstenite::client::IntoClientRequest;
use tungstenite::http::StatusCode;
use tungstenite::{Error, Message, WebSocket};

const PATIENCE: Duration = Duration::from_secs(30);
const PATH: &str = "/api/v1/posts/socket";

/// A client.
struct Client(WebSocket<TcpStream>);

impl Client {
    /// Opens a socket with some headers, or returns the status of the refusal.
    fn open(
        server: &Server,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Client, StatusCode> {
        let stream = server.connect();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = server.url(path).replace("http", "ws").into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Client(socket)),
            Err(tungstenite::HandshakeError::Failure(Error::Http(answer))) => Err(answer.status()),
            Err(other) => panic!("{other}"),
        }
    }

    fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    /// Returns the next message.
    fn next(&mut self) -> Value {
        loop {
            match self.0.read().expect("a message in time") {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) => {}
                other => panic!("{other}"),
            }
        }
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.next()
    }

    /// Returns the ids and keys of the next documents, sorted: those of different queries mix.
    fn hits(&mut self, count: usize) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let hits = (0..count).map(|_| self.next());
        let mut hits: Vec<_> =
            hits.map(|hit| (text(&hit["id"]), text(&hit["hit"]["key"]))).collect();
        hits.sort();
        hits
    }
}

fn start(folder: &Folder) -> Server {
    let server = Server::start(&folder.path("all"), &[]);
    server.put("/api/v1/posts", "").is(201);
    put(&server, "0", "the first");
    server
}

fn put(server: &Server, key: &str, text: &str) {
    let body = json!({ "text": text }).to_string();
    server.put(&format!("/api/v1/posts/documents/{key}"), &body).is(201);
}

fn pair(id: &str, key: &str) -> (String, String) {
    (id.to_owned(), key.to_owned())
}

#[test]
fn one_socket_listens_to_many_queries() {
    let folder = Folder::new();
    let server = start(&folder);
    let mut client = Client::open(&server, PATH, &[]).unwrap();
    for (id, q) in [("a", "text:heron"), ("b", "text:gull OR text:heron"), ("c", "text:nothing")] {
        let answer = client.ask(&json!({ "listen": id, "q": q, "highlight_field": "text" }));
        assert_eq!(answer, json!({ "id": id, "listening": true }));
    }
    put(&server, "1", "a heron");
    assert_eq!(client.hits(2), [pair("a", "1"), pair("b", "1")]);
    put(&server, "2", "a gull");
    let hit = client.next();
    assert_eq!((&hit["id"], &hit["hit"]["source"]["text"]), (&json!("b"), &json!("a gull")));
    assert!(hit["hit"]["snippets"].to_string().contains("gull"), "{hit}");
    let place = hit["place"].clone();

    // A client that comes back with a place gets what is behind it.
    assert_eq!(client.ask(&json!({ "leave": "b" })), json!({ "id": "b", "end": "left" }));
    put(&server, "3", "a gull again");
    let again = json!({ "listen": "b", "q": "text:gull", "since": place });
    assert_eq!(client.ask(&again)["listening"], true);
    assert_eq!(client.hits(1), [pair("b", "3")]);

    // A query that is kept, by its name.
    server.put("/api/v1/posts/queries/terns", r#"{ "q": "text:tern" }"#).is(201);
    assert_eq!(client.ask(&json!({ "listen": "d", "name": "terns" }))["listening"], true);
    put(&server, "4", "a tern");
    assert_eq!(client.hits(1), [pair("d", "4")]);

    server.ask_to_end();
    let mut last = client.next();
    // Each query says why it ends, and so does the socket.
    while last.get("id").is_some() {
        last = client.next();
    }
    assert!(last["end"].as_str().unwrap().contains("ends"), "{last}");
    assert!(matches!(client.0.read(), Ok(Message::Close(_)) | Err(_)));
    assert_eq!(server.end(), 0);
}

#[test]
fn what_is_wrong_is_said_and_harms_nothing() {
    let folder = Folder::new();
    let server = start(&folder);
    let mut client = Client::open(&server, PATH, &[]).unwrap();
    assert_eq!(client.ask(&json!({ "listen": "a", "q": "text:heron" }))["listening"], true);
    for (message, what) in [
        (json!("a"), "struct"),
        (json!({}), "listen"),
        (json!({ "listen": "a", "leave": "a" }), "listen"),
        (json!({ "listen": "a", "q": "text:gull" }), "leave it first"),
        (json!({ "listen": "b", "q": "text:(" }), "expected"),
        (json!({ "listen": "b", "q": "nobody:a" }), "no such field"),
        (json!({ "listen": "b", "name": "nobody" }), "nobody"),
        (json!({ "listen": "b", "q": "text:a", "name": "a" }), "exclude"),
        (json!({ "listen": "b", "q": "text:a", "since": "x" }), "place"),
        (json!({ "listen": "b", "query": "text:a" }), "query"),
        (json!({ "leave": "b" }), "no query"),
    ] {
        let error = client.ask(&message);
        assert!(error["error"].as_str().unwrap_or_default().contains(what), "{message}: {error}");
    }
    client.0.send(Message::binary(vec![1, 2])).unwrap();
    assert!(client.next()["error"].as_str().unwrap().contains("text"));
    put(&server, "1", "a heron");
    assert_eq!(client.hits(1), [pair("a", "1")]);
    // A message that is too long ends the socket, and nothing else.
    let long = json!({ "listen": "c", "q": "x".repeat(100_000) }).to_string();
    let _ = client.0.send(Message::text(long));
    while let Ok(message) = client.0.read() {
        assert!(!message.is_text(), "{message}");
    }
    assert_eq!(server.get("/api/v1/posts/count").is(200)["count"], 2);
    assert_eq!(
        Client::open(&server, "/api/v1/nobody/socket", &[]).err(),
        Some(StatusCode::NOT_FOUND)
    );
    assert_eq!(server.get(PATH).is(426)["type"], "websocket-required");
}

/// A page that a browser has open may not listen to a server that happens to run on the same machine.
#[test]
fn pages_of_other_origins_are_refused() {
    let folder = Folder::new();
    let server = start(&folder);
    let of = |origin: &str| Client::open(&server, PATH, &[("Origin", origin)]).err();
    assert_eq!(of(&server.url("")), None);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "file://"] {
        assert_eq!(of(origin), Some(StatusCode::FORBIDDEN), "{origin}");
    }
}

#[test]
fn a_socket_needs_a_key_that_is_in_force() {
    let folder = Folder::new();
    let directory = folder.path("all");
    let make = |name: &str, more: &[&str]| {
        let args = [&["keys", "create", "-d", &directory, name], more].concat();
        spirit(&args).done().trim().to_owned()
    };
    let root = make("root", &["--scope", "admin"]);
    let reader = make("reader", &["--scope", "search", "--index", "posts"]);
    let other = make("other", &["--scope", "search", "--index", "others"]);
    let server = Server::start_with_key(&directory, &[], &root);
    server.put("/api/v1/posts", "").is(201);
    put(&server, "0", "the first");
    let open =
        |protocols: &str| Client::open(&server, PATH, &[("Sec-WebSocket-Protocol", protocols)]);
    assert_eq!(Client::open(&server, PATH, &[]).err(), Some(StatusCode::UNAUTHORIZED));
    assert_eq!(open("spirit, spirit_wrong").err(), Some(StatusCode::UNAUTHORIZED));
    assert_eq!(open(&format!("spirit, {other}")).err(), Some(StatusCode::FORBIDDEN));
    let mut client = open(&format!("spirit, {reader}")).unwrap();
    assert_eq!(client.ask(&json!({ "listen": "a", "q": "text:heron" }))["listening"], true);
    put(&server, "1", "a heron");
    assert_eq!(client.hits(1), [pair("a", "1")]);
    spirit(&["keys", "revoke", "-d", &directory, "reader"]).done();
    let end = client.next();
    assert!(end["end"].as_str().unwrap().contains("revoked"), "{end}");
}
