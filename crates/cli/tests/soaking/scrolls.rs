//! Clients that read all of an index by scrolling.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::caller::Caller;

/// Reads again and again, until that is enough or the server has gone. Returns the number of scrolls
/// that were read to their end.
pub(crate) fn scroll(caller: &Caller<'_>, index: &str) -> u64 {
    let mut scrolls = 0;
    while !caller.signals.is_enough() {
        match all(caller, index) {
            Some(is_there) => scrolls += u64::from(is_there),
            None => break,
        }
    }
    scrolls
}

/// Reads all of an index once. Returns false while it does not exist; nothing if the server has gone.
fn all(caller: &Caller<'_>, index: &str) -> Option<bool> {
    let path = format!("/{index}/_search?scroll=1m");
    let body = json!({"size": 500, "_source": false}).to_string();
    let (status, text) = caller.ask("POST", &path, &body)?;
    if status == 404 {
        return Some(false);
    }
    let mut answer: Value = serde_json::from_str(&text).expect(&text);
    assert_eq!(status, 200, "{answer}");
    let total = answer["hits"]["total"]["value"].as_u64().unwrap();
    let (mut ids, mut read) = (BTreeSet::new(), 0);
    loop {
        let hits = answer["hits"]["hits"].as_array().unwrap();
        let id = json!({"scroll_id": answer["_scroll_id"], "scroll": "1m"}).to_string();
        if hits.is_empty() {
            caller.json(
                "DELETE",
                "/_search/scroll",
                &json!({"scroll_id": answer["_scroll_id"]}).to_string(),
            )?;
            assert_eq!((read, ids.len() as u64), (total, total), "{index}");
            return Some(true);
        }
        read += hits.len() as u64;
        ids.extend(hits.iter().map(|hit| hit["_id"].to_string()));
        answer = caller.json("POST", "/_search/scroll", &id)?;
    }
}
