//! An index that is full.

use std::time::Duration;

use crate::serving::Server;

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

/// Makes an index that is soon full.
pub(crate) fn make(server: &Server, index: &str) {
    server.put(&format!("/api/v1/{index}"), r#"{"dram": "8MiB", "nvm": "8MiB"}"#).is(201);
}

/// Fills it with documents until it refuses that many requests in a row as a whole. The server must not
/// hold a write for long.
pub(crate) fn fill(server: &Server, index: &str, refusals_max: usize) {
    let document =
        |n| format!("{{\"create\":{{\"_id\":\"f{n}\"}}}}\n{{\"fill\":\"filler {n}\"}}\n");
    let put = |from: usize, to: usize| {
        let bulk: String = (from..to).map(document).collect();
        server.post(&format!("/{index}/_bulk"), bulk, &JSON).status
    };
    let (mut next, mut refusals) = (0, 0);
    // The stages behind may make some more room, which documents one by one find.
    while refusals < refusals_max {
        let count = if refusals == 0 { 500 } else { 1 };
        match put(next, next + count) {
            200 => refusals = 0,
            429 | 503 => refusals += 1,
            status => panic!("{status}"),
        }
        next += count;
        assert!(next < 1_000_000, "it does not fill up");
        if refusals > 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
