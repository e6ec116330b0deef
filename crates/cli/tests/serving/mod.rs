//! A real `spirit serve`, and a client of it.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The time in which a server starts or ends.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server that is killed when the test ends.
pub(crate) struct Server {
    child: Child,
    address: String,
    agent: ureq::Agent,
    /// The key that requests have; none if it is empty.
    key: String,
}

/// What a server answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: ureq::http::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).expect(&self.text)
    }

    /// The body of an answer with this status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Server {
    /// Starts a server of a directory on a free port.
    pub(crate) fn start(directory: &str, flags: &[&str]) -> Server {
        Server::start_with_key(directory, flags, "")
    }

    /// Starts a server that has keys. Requests have this one.
    pub(crate) fn start_with_key(directory: &str, flags: &[&str], key: &str) -> Server {
        let mut server = Server::start_unready(directory, flags);
        server.key = key.to_owned();
        server.wait_until_ready();
        server
    }

    /// Starts a server that writes its log to a file.
    pub(crate) fn start_logged(directory: &str, flags: &[&str], key: &str, log: File) -> Server {
        let mut server = Server::start_with(directory, flags, log.into());
        server.key = key.to_owned();
        server.wait_until_ready();
        server
    }

    /// Starts a server, and does not wait for its indexes. It listens on a free port, unless the flags
    /// say where.
    pub(crate) fn start_unready(directory: &str, flags: &[&str]) -> Server {
        Server::start_with(directory, flags, Stdio::inherit())
    }

    fn start_with(directory: &str, flags: &[&str], log: Stdio) -> Server {
        let free_port = ["--listen", "127.0.0.1:0"];
        let listen = if flags.contains(&"--listen") { &free_port[..0] } else { &free_port };
        let mut command = Command::new(env!("CARGO_BIN_EXE_spirit"));
        command.args(["serve", "-d", directory]).args(listen).args(flags).stderr(log);
        Server::started(&mut command)
    }

    /// Starts a server by a command of the test's own.
    pub(crate) fn start_by(command: &mut Command) -> Server {
        let server = Server::started(command);
        server.wait_until_ready();
        server
    }

    fn started(command: &mut Command) -> Server {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().rsplit_once("://").expect(&line).1.to_owned();
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let agent = config.timeout_global(Some(PATIENCE)).build().into();
        Server { child, address, agent, key: String::new() }
    }

    fn wait_until_ready(&self) {
        let end = Instant::now() + PATIENCE;
        // A server that refuses the key is not asked.
        while !matches!(self.get("/health/ready").status, 200 | 401) {
            assert!(Instant::now() < end, "the server does not become ready");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn answer(answered: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Answer {
        let mut response = answered.unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        Answer { status: response.status().as_u16(), headers: response.headers().clone(), text }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        Server::answer(self.with_key(self.agent.get(self.url(path))).call())
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        Server::answer(self.with_key(self.agent.delete(self.url(path))).call())
    }

    pub(crate) fn put(&self, path: &str, body: &str) -> Answer {
        self.put_if(path, body, &[])
    }

    pub(crate) fn put_if(&self, path: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
        let request = self.with_key(self.agent.put(self.url(path)));
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        Server::answer(request.send(body))
    }

    pub(crate) fn post(
        &self,
        path: &str,
        body: impl AsRef<[u8]>,
        headers: &[(&str, &str)],
    ) -> Answer {
        let request = self.with_key(self.agent.post(self.url(path)));
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        Server::answer(request.send(body.as_ref()))
    }

    fn with_key<B>(&self, request: ureq::RequestBuilder<B>) -> ureq::RequestBuilder<B> {
        match self.key.as_str() {
            "" => request,
            key => request.header("Authorization", format!("Bearer {key}")),
        }
    }

    /// Sends a request line as it is, with headers and a body, on a connection of its own. Returns the
    /// status and all of the answer.
    pub(crate) fn ask(&self, line: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let headers: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let request = format!(
            "{line} HTTP/1.1\r\nHost: spirit\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
        );
        let answer = self.raw(request.as_bytes());
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or_else(|| panic!("{line}: {answer:?}")), answer)
    }

    /// What a client that writes bytes of its own gets back, until the server closes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn id(&self) -> i32 {
        self.child.id() as i32
    }

    /// Kills it: nothing is said to anybody.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end, and returns its exit code.
    pub(crate) fn end(mut self) -> i32 {
        self.ask_to_end();
        self.child.wait().unwrap().code().unwrap()
    }

    pub(crate) fn ask_to_end(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_raw(self.id()).unwrap();
        rustix::process::kill_process(id, signal).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
