//! Documents that are counted up by `_update`: each acknowledged step is there afterwards, once.

use serde_json::json;
use spirit::lab::Random;

use super::caller::Caller;
use crate::serving::Server;

/// The number of counters.
const COUNTERS: usize = 40;

/// The counters.
pub(crate) struct Counters {
    random: Random,
    /// What each has reached for certain.
    reached: [u64; COUNTERS],
    /// The counter whose last step got no answer.
    open: Option<usize>,
    /// Steps that were acknowledged.
    pub(crate) steps: u64,
}

impl Counters {
    pub(crate) fn new(seed: u64) -> Counters {
        let random = Random::named(seed, "counters");
        Counters { random, reached: [0; COUNTERS], open: None, steps: 0 }
    }

    /// Counts until that is enough, or the server has gone.
    pub(crate) fn count(&mut self, caller: &Caller<'_>) {
        while !caller.signals.is_enough() {
            let counter = self.random.below(COUNTERS as u64) as usize;
            let next = self.reached[counter] + 1;
            let body = json!({"doc": {"n": next}, "doc_as_upsert": true}).to_string();
            self.open = Some(counter);
            let path = format!("/counters/_update/{counter}");
            let Some(answer) = caller.json("POST", &path, &body) else { return };
            let result = if next == 1 { "created" } else { "updated" };
            assert_eq!(answer["result"], result, "{path}: {answer}");
            self.open = None;
            self.reached[counter] = next;
            self.steps += 1;
        }
    }

    /// Checks all counters, and takes what became of the last step.
    pub(crate) fn check(&mut self, server: &Server) {
        for counter in 0..COUNTERS {
            let before = self.reached[counter];
            let answer = server.get(&format!("/counters/_doc/{counter}"));
            let found = match answer.status {
                404 => 0,
                _ => answer.is(200)["_source"]["n"].as_u64().unwrap(),
            };
            let is_next = self.open == Some(counter) && found == before + 1;
            assert!(found == before || is_next, "counter {counter}: {found}, not {before}");
            self.reached[counter] = found;
        }
        self.open = None;
        let there = self.reached.iter().filter(|reached| **reached > 0).count();
        if there > 0 {
            assert_eq!(server.get("/counters/_count").is(200)["count"], there);
        }
    }
}
