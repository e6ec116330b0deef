//! A client of one thread, which knows when its server may go away.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use serde_json::Value;

/// The time that an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the test says to all clients.
#[derive(Default)]
pub(crate) struct Signals {
    /// Set when clients shall end after their request.
    enough: AtomicBool,
    /// Set before the server is asked to end or killed: requests may fail.
    leaving: AtomicBool,
}

impl Signals {
    pub(crate) fn end(&self) {
        self.enough.store(true, SeqCst);
    }

    pub(crate) fn is_enough(&self) -> bool {
        self.enough.load(SeqCst)
    }

    pub(crate) fn leave(&self) {
        self.leaving.store(true, SeqCst);
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.load(SeqCst)
    }
}

/// A client.
pub(crate) struct Caller<'s> {
    agent: ureq::Agent,
    pub(crate) address: &'s str,
    pub(crate) signals: &'s Signals,
}

impl<'s> Caller<'s> {
    pub(crate) fn new(address: &'s str, signals: &'s Signals) -> Caller<'s> {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let agent = config.timeout_global(Some(PATIENCE)).build().into();
        Caller { agent, address, signals }
    }

    /// Sends a request. Returns status and body; none if the server has gone, which it may only if it
    /// was announced. No server may answer that it has failed.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.address))
            .header("Content-Type", "application/json")
            .body(body.to_owned())
            .unwrap();
        let answered = self.agent.run(request).and_then(|mut answer| {
            Ok((answer.status().as_u16(), answer.body_mut().read_to_string()?))
        });
        match answered {
            Err(_) if self.signals.is_leaving() => None,
            Err(error) => panic!("{method} {path}: {error}"),
            // One that ends takes nothing more.
            Ok((503, _)) if self.signals.is_leaving() => None,
            Ok((status, text)) => {
                assert!(status < 500, "{method} {path}: {status} {text}");
                Some((status, text))
            }
        }
    }

    /// Sends a request whose answer has this status. Returns its body as JSON.
    pub(crate) fn json(&self, method: &str, path: &str, body: &str) -> Option<Value> {
        let (status, text) = self.ask(method, path, body)?;
        assert!(matches!(status, 200 | 201), "{method} {path}: {status} {text}");
        Some(serde_json::from_str(&text).expect(&text))
    }
}
