//! TLS with a certificate that changes, and a Unix socket.

mod common;
mod serving;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Folder, spirit};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serving::Server;

const REQUEST: &str = "GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Writes a new certificate and its key. Returns the certificate.
fn certify(folder: &Folder) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    folder.file("cert.pem", made.cert.pem());
    folder.file("key.pem", made.signing_key.serialize_pem());
    made.cert.der().clone()
}

/// Asks over TLS, as a client that trusts one certificate.
fn ask(address: &str, trusted: &CertificateDer<'static>) -> Result<String, std::io::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(client, TcpStream::connect(address)?);
    stream.write_all(REQUEST.as_bytes())?;
    let mut answer = String::new();
    // The server may end the connection without the end of TLS.
    let _ = stream.read_to_string(&mut answer);
    Ok(answer)
}

fn flags(folder: &Folder) -> [String; 4] {
    ["--tls-cert".into(), folder.path("cert.pem"), "--tls-key".into(), folder.path("key.pem")]
}

#[test]
fn certificates_change_while_the_server_runs() {
    let folder = Folder::new();
    let old = certify(&folder);
    let flags = flags(&folder);
    let flags: Vec<&str> =
        flags.iter().map(String::as_str).chain(["--header-timeout", "1s"]).collect();
    let server = Server::start_unready(&folder.path("all"), &flags);
    let address = server.address();
    assert!(ask(address, &old).unwrap().starts_with("HTTP/1.1 200"));
    // Who speaks no TLS gets no answer, and who says nothing is not waited for.
    assert!(!server.raw(REQUEST.as_bytes()).contains("HTTP"));
    let started = Instant::now();
    server.raw(b"");
    assert!(started.elapsed() < Duration::from_secs(10));
    // A certificate that cannot be used leaves the old one.
    folder.file("cert.pem", "nonsense");
    server.signal(rustix::process::Signal::HUP);
    std::thread::sleep(Duration::from_millis(500));
    assert!(ask(address, &old).unwrap().starts_with("HTTP/1.1 200"));
    let new = certify(&folder);
    let key = std::fs::read_to_string(folder.path("key.pem")).unwrap();
    certify(&folder);
    folder.file("key.pem", &key);
    server.signal(rustix::process::Signal::HUP);
    std::thread::sleep(Duration::from_millis(500));
    assert!(ask(address, &old).unwrap().starts_with("HTTP/1.1 200"), "a key that does not fit");
    assert!(ask(address, &new).is_err());
    let new = certify(&folder);
    server.signal(rustix::process::Signal::HUP);
    let end = Instant::now() + Duration::from_secs(20);
    while ask(address, &new).is_err() {
        assert!(Instant::now() < end, "the new certificate is not in force");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(ask(address, &old).is_err());
    assert_eq!(server.end(), 0);
}

#[test]
fn others_reach_a_server_with_keys_and_a_certificate() {
    let folder = Folder::new();
    let (certificate, directory) = (certify(&folder), folder.path("all"));
    spirit(&["keys", "create", "-d", &directory, "--scope", "admin", "root"]).done();
    let flags = flags(&folder);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let all = [&flags[..], &["--listen", "0.0.0.0:0"]].concat();
    let server = Server::start_unready(&directory, &all);
    let port = server.address().rsplit_once(':').unwrap().1.to_owned();
    let answer = ask(&format!("127.0.0.1:{port}"), &certificate).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let half = spirit(&["serve", "-d", &folder.path("b"), flags[0], flags[1]]);
    assert!(half.failed(2).contains("--tls-cert and --tls-key belong together"));
    folder.file("cert.pem", "");
    let empty = spirit(&[&["serve", "-d", &folder.path("b")], &flags[..]].concat());
    assert!(empty.failed(2).contains("there is no certificate"));
}

/// An authority of one's own: its certificate in PEM form, and what signs by it.
fn authority(name: &str) -> (String, rcgen::Issuer<'static, rcgen::KeyPair>) {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    let certificate = params.self_signed(&key).unwrap();
    (certificate.pem(), rcgen::Issuer::new(params, key))
}

#[test]
fn an_authority_of_ones_own_is_trusted_if_it_is_named() {
    let folder = Folder::new();
    let (own, issuer) = authority("own");
    let (other, _) = authority("other");
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    folder.file("cert.pem", params.signed_by(&key, &issuer).unwrap().pem());
    folder.file("key.pem", key.serialize_pem());
    let flags = flags(&folder);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let server = Server::start_unready(&folder.path("all"), &flags);
    let port = server.address().rsplit_once(':').unwrap().1;
    let url = format!("https://localhost:{port}");
    let top = |more: &[&str]| {
        spirit(&[&["top", "--once", "--interval", "100ms", "--url", &url], more].concat())
    };
    // The second certificate of a file is as good as the first.
    for (name, trusted) in [("own", own.clone()), ("both", format!("{other}{own}"))] {
        let shown = top(&["--ca", &folder.file(name, trusted)]).done();
        assert!(shown.starts_with(&url) && shown.contains("INDEX"), "{shown}");
    }
    for more in [&[][..], &["--ca", &folder.file("other", &other)]] {
        let refused = top(more).failed(1);
        assert!(refused.contains(&url) && refused.contains("ertificate"), "{refused}");
    }
    let elsewhere = format!("https://127.0.0.1:{port}");
    let named = ["top", "--once", "--url", &elsewhere, "--ca", &folder.path("own")];
    let refused = spirit(&named).failed(1);
    assert!(refused.contains("ertificate"), "a name that it is not for: {refused}");
    assert_eq!(server.end(), 0);
}

fn ask_socket(path: &str) -> String {
    let mut stream = UnixStream::connect(path).unwrap();
    stream.write_all(REQUEST.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_socket_is_for_its_owner_and_goes_with_the_server() {
    let folder = Folder::new();
    // Paths of sockets are short.
    let path = format!("/tmp/spirit-{}.sock", std::process::id());
    let (directory, flags) = (folder.path("all"), ["--socket", &*path]);
    let server = Server::start(&directory, &flags);
    let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o660);
    assert!(ask_socket(&path).starts_with("HTTP/1.1 200"));
    let second =
        spirit(&["serve", "-d", &folder.path("b"), "--listen", "127.0.0.1:0", "--socket", &path]);
    assert!(second.failed(1).contains("another process listens there"));
    assert!(ask_socket(&path).starts_with("HTTP/1.1 200"));
    // A socket that nobody has any more does not stop a start.
    server.kill();
    assert!(std::fs::metadata(&path).is_ok());
    let server = Server::start(&directory, &flags);
    assert!(ask_socket(&path).starts_with("HTTP/1.1 200"));
    assert_eq!(server.end(), 0);
    assert!(std::fs::metadata(&path).is_err());
    let file = folder.file("a-file", "kept");
    let refused =
        spirit(&["serve", "-d", &folder.path("b"), "--listen", "127.0.0.1:0", "--socket", &file]);
    assert!(refused.failed(1).contains("no socket"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}
