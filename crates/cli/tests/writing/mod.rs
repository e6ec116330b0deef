//! Clients that write bulks until the server is gone, and know what must be there.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use spirit::lab::Random;

use crate::serving::Server;

/// Documents of earlier rounds that each check looks at.
const OLD: u64 = 500;

/// How a client writes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Way {
    /// `_bulk` with new documents, replaced and deleted ones.
    Bulk,
    /// `_bulk` with documents that are created once.
    Create,
    /// Lines of JSON, by `/api/v1`.
    Lines,
}

/// A document's state: its bytes, or none.
type State = Option<String>;

/// A client with documents of its own.
pub(crate) struct Client {
    way: Way,
    index: String,
    random: Random,
    /// What was acknowledged last.
    known: BTreeMap<String, State>,
    /// What the request that got no answer would have made.
    open: BTreeMap<String, State>,
    /// What was acknowledged since the last check.
    fresh: BTreeSet<String>,
    next: u64,
    pub(crate) acknowledged: u64,
    /// Documents of requests without an answer.
    pub(crate) unknown: u64,
}

impl Client {
    pub(crate) fn new(seed: u64, number: u64, way: Way) -> Client {
        Client {
            way,
            index: format!("log-{number}"),
            random: Random::named(seed + number, "client"),
            known: BTreeMap::new(),
            open: BTreeMap::new(),
            fresh: BTreeSet::new(),
            next: 0,
            acknowledged: 0,
            unknown: 0,
        }
    }

    /// Writes bulks until the server does not answer.
    pub(crate) fn write(&mut self, address: &str) {
        self.write_until(address, &|| false);
    }

    /// Writes bulks until that is enough, or the server does not answer. True if it was enough.
    pub(crate) fn write_until(&mut self, address: &str, is_enough: &dyn Fn() -> bool) -> bool {
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let config = config.timeout_global(Some(Duration::from_secs(30)));
        let agent: ureq::Agent = config.build().into();
        let path = match self.way {
            Way::Lines => format!("{address}/api/v1/{}/documents", self.index),
            _ => format!("{address}/{}/_bulk", self.index),
        };
        if self.way == Way::Lines && self.known.is_empty() {
            let made = agent.put(format!("{address}/api/v1/{}", self.index)).send("");
            if made.is_err() {
                return false;
            }
        }
        while !is_enough() {
            std::thread::sleep(Duration::from_micros(self.random.below(4_000)));
            let body = self.draw();
            let request = agent.post(&path).header("Content-Type", "application/x-ndjson");
            let answer = request.send(&body).ok();
            let text = answer.and_then(|mut answer| {
                let text = answer.body_mut().read_to_string().ok()?;
                assert_eq!(answer.status().as_u16(), 200, "{text}");
                Some(text)
            });
            let Some(text) = text else {
                self.unknown += self.open.len() as u64;
                return false;
            };
            self.acknowledge(&text);
        }
        true
    }

    /// Draws a request, which is then open.
    fn draw(&mut self) -> String {
        let count = 1 + self.random.below(120);
        let mut body = String::new();
        for _ in 0..count {
            let id = self.id();
            if self.open.contains_key(&id) {
                continue;
            }
            let is_deletion = self.way == Way::Bulk
                && self.known.get(&id).is_some_and(Option::is_some)
                && self.random.one_in(4);
            let state = (!is_deletion).then(|| self.source(&id));
            let action = match (self.way, &state) {
                (Way::Lines, _) => "lines",
                (_, None) => "delete",
                (Way::Create, _) => "create",
                _ => "index",
            };
            if self.way != Way::Lines {
                body += &json!({action: {"_id": id}}).to_string();
                body.push('\n');
            }
            if let Some(source) = &state {
                body += source;
                body.push('\n');
            }
            self.open.insert(id, state);
        }
        body
    }

    fn id(&mut self) -> String {
        let is_old = self.way != Way::Create && self.next > 0 && self.random.one_in(3);
        if is_old {
            return self.random.below(self.next).to_string();
        }
        self.next += 1;
        (self.next - 1).to_string()
    }

    /// Returns a document as no serializer would write it.
    fn source(&mut self, id: &str) -> String {
        let blanks = " ".repeat(self.random.below(4) as usize);
        let length = if self.random.one_in(50) { 30_000 } else { self.random.below(400) };
        let text: String = (0..length / 6)
            .map(|_| self.random.pick(&["heron ", "wölf  ", "\\u00e9\\n ", "12.50 "]))
            .collect();
        format!(
            "{{\"key\":\"{id}\",{blanks}\"text\" : \"{text}\", \"n\":{}.50,\"tags\":[ \"a\",\"b\" ]}}",
            self.random.below(1000)
        )
    }

    /// Takes an answer: all that was open is known.
    fn acknowledge(&mut self, text: &str) {
        let answer: Value = serde_json::from_str(text).expect(text);
        match self.way {
            Way::Lines => assert_eq!(answer["accepted"], self.open.len(), "{answer}"),
            _ => assert_eq!(answer["errors"], false, "{answer}"),
        }
        self.acknowledged += self.open.len() as u64;
        self.fresh.extend(self.open.keys().cloned());
        self.known.append(&mut self.open);
    }

    /// Checks what was written since the last check, and some of the rest, and takes what became of
    /// documents without an answer.
    pub(crate) fn check(&mut self, server: &Server) {
        let mut ids: BTreeSet<String> = self.open.keys().chain(&self.fresh).cloned().collect();
        for _ in 0..OLD.min(self.next) {
            ids.insert(self.random.below(self.next).to_string());
        }
        self.check_these(server, ids.into_iter().collect());
    }

    /// Checks all documents.
    pub(crate) fn check_all(&mut self, server: &Server) {
        let ids = self.known.keys().chain(self.open.keys()).cloned().collect();
        self.check_these(server, ids);
        self.check_number(server);
    }

    /// Checks that there are as many documents as there must be: nothing is there twice.
    pub(crate) fn check_number(&self, server: &Server) {
        if self.known.is_empty() {
            return;
        }
        let live = self.known.values().flatten().count();
        let path = format!("/{}/_count", self.index);
        assert_eq!(server.get(&path).is(200)["count"], live, "{}", self.index);
    }

    /// Deletes the index and begins with another one, if it has more documents than this.
    pub(crate) fn begin_again_beyond(&mut self, server: &Server, documents: usize) -> bool {
        let is_large = self.known.len() > documents;
        if is_large {
            server.delete(&format!("/{}", self.index)).is(200);
            server.get(&format!("/{}/_count", self.index)).is(404);
            self.known.clear();
            self.next = 0;
        }
        is_large
    }

    fn check_these(&mut self, server: &Server, ids: Vec<String>) {
        if server.get(&format!("/{}/_count", self.index)).status == 404 {
            assert!(self.fresh.is_empty() && self.known.is_empty(), "{} is gone", self.index);
            return self.open.clear();
        }
        for ids in ids.chunks(1000) {
            for (id, found) in ids.iter().zip(self.found(server, ids)) {
                let before = self.known.get(id).cloned().flatten();
                let is_open = self.open.get(id).is_some_and(|open| *open == found);
                assert!(
                    found == before || is_open,
                    "{} {id}: {found:?}, not {before:?}",
                    self.index
                );
                self.known.insert(id.clone(), found);
            }
        }
        self.open.clear();
        self.fresh.clear();
    }

    /// Returns the documents' bytes, as far as there are any.
    fn found(&self, server: &Server, ids: &[String]) -> Vec<State> {
        let body = json!({"ids": ids}).to_string();
        let headers = [("Content-Type", "application/json")];
        let answer = server.post(&format!("/{}/_mget", self.index), body, &headers);
        assert_eq!(answer.status, 200, "{}", answer.text);
        let answer: Found = serde_json::from_str(&answer.text).expect(&answer.text);
        let source = |one: &One| one.source.as_ref().map(|source| source.get().to_owned());
        answer.docs.iter().map(source).collect()
    }
}

/// An answer of `_mget`.
#[derive(Deserialize)]
struct Found {
    docs: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    #[serde(rename = "_source")]
    source: Option<Box<RawValue>>,
}
