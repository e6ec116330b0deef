//! A real OpenSearch node of `ci/opensearch`, and requests to it and to our server alike.
//!
//! Maven builds it below the build's folder, once.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// The time in which either answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// A node that is killed when the test ends.
pub(crate) struct Node {
    child: Child,
    pub(crate) peer: Peer,
}

/// A server that speaks OpenSearch's words.
pub(crate) struct Peer {
    url: String,
    agent: ureq::Agent,
}

impl Peer {
    pub(crate) fn at(url: String) -> Peer {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        Peer { url, agent: config.timeout_global(Some(PATIENCE)).build().into() }
    }

    pub(crate) fn put(&self, path: &str, body: &str) -> (u16, Value) {
        let request = self.agent.put(format!("{}{path}", self.url));
        Peer::answer(request.header("Content-Type", "application/json").send(body))
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> (u16, Value) {
        let request = self.agent.post(format!("{}{path}", self.url));
        Peer::answer(request.header("Content-Type", "application/json").send(body))
    }

    fn answer(answered: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> (u16, Value) {
        let mut response = answered.unwrap();
        let text = response.body_mut().with_config().limit(1 << 30).read_to_string().unwrap();
        (response.status().as_u16(), serde_json::from_str(&text).expect(&text))
    }
}

impl Node {
    /// Starts a node whose files are in a folder.
    pub(crate) fn start(folder: &str) -> Node {
        let built = built();
        let libraries = std::fs::read_to_string(built.join("classpath.txt")).unwrap();
        let classes = built.join("target/classes");
        let log = std::fs::File::create(Path::new(folder).join("opensearch.log")).unwrap();
        let mut child = Command::new("java")
            .args(["-Xms512m", "-Xmx512m", "-XX:+UseSerialGC", "-Dlog4j2.disable.jmx=true", "-cp"])
            .arg(format!("{}:{}", classes.display(), libraries.trim()))
            .args(["spirit.oracle.Main", folder])
            // The node ends when this pipe is closed, whatever becomes of the test.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("java 17 or later");
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let url = lines.into_iter().find(|line| line.starts_with("http://127.0.0.1:"));
        let url = url.unwrap_or_else(|| panic!("the node did not start: {folder}/opensearch.log"));
        Node { child, peer: Peer::at(url) }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the folder with the node's classes and the names of its libraries.
fn built() -> PathBuf {
    let wanted = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci/opensearch");
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("opensearch");
    let source = Path::new("src/main/java/spirit/oracle");
    let files = [PathBuf::from("pom.xml"), source.join("Main.java")];
    let has = |path: PathBuf| std::fs::read(path).unwrap_or_default();
    let is_same = |file: &PathBuf| has(home.join(file)) == has(wanted.join(file));
    if files.iter().all(is_same) && home.join("classpath.txt").exists() {
        return home;
    }
    std::fs::create_dir_all(home.join(source)).unwrap();
    let _ = std::fs::remove_file(home.join("classpath.txt"));
    for file in files {
        std::fs::copy(wanted.join(&file), home.join(&file)).unwrap();
    }
    let goals =
        ["-q", "-B", "compile", "dependency:build-classpath", "-Dmdep.outputFile=classpath.txt"];
    let mut maven = Command::new("mvn");
    maven.args(goals).current_dir(&home);
    assert!(maven.status().expect("Maven").success(), "{maven:?}");
    home
}
