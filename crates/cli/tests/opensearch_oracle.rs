//! A real OpenSearch node as oracle: the same documents and the same searches, drawn by a seed, over HTTP.
//!
//! `SPIRIT_ORACLE_CASES` says how many searches there are, `SPIRIT_ORACLE_SEED` which ones.

mod common;
mod oracle;
mod serving;

use common::{Folder, number_of};
use oracle::chance::Chance;
use oracle::compare::compare;
use oracle::differences::DIFFERENCES;
use oracle::documents::{bulk, settings};
use oracle::node::{Node, Peer};
use oracle::searches::{Search, search};
use serde_json::{Value, json};
use serving::Server;

const CASES: u64 = 500;
const DOCUMENTS: u64 = 2_000;
/// Failures that are shown.
const SHOWN: usize = 100;

#[test]
fn searches_and_aggregations_are_those_of_opensearch() {
    let folder = Folder::new();
    let node = Node::start(&folder.path("."));
    let server = Server::start(&folder.path("all"), &[]);
    let ours = Peer::at(server.url(""));
    let seed = number_of("SPIRIT_ORACLE_SEED").unwrap_or(1);
    for peer in [&ours, &node.peer] {
        load(peer, seed);
    }
    let mut chance = Chance::named(seed, "searches");
    let (mut failures, mut found) = (Vec::new(), 0);
    for case in 0..number_of("SPIRIT_ORACLE_CASES").unwrap_or(CASES) {
        let search = search(&mut chance);
        let answers = ask(&search, &ours, &node.peer);
        match judge(&search, &answers) {
            Ok(total) => found += u64::from(total > 0),
            Err(error) => {
                let [one, other] = &answers;
                let line =
                    json!({"case": case, "asked": search.ours, "ours": one.1, "theirs": other.1});
                folder.append("differences.jsonl", &format!("{line}\n"));
                failures.push(format!("case {case}: {error}"));
            }
        }
    }
    let shown = failures.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n");
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "seed {seed}: {count} answers differ, other than by {DIFFERENCES:#?}; they are in differences.jsonl\n{shown}"
    );
    assert!(found > CASES / 4, "only {found} searches found anything");
}

fn load(peer: &Peer, seed: u64) {
    let (status, made) = peer.put("/posts", &settings().to_string());
    assert_eq!(status, 200, "{made}");
    let mut chance = Chance::named(seed, "documents");
    let (status, answer) = peer.post("/posts/_bulk?refresh=true", &bulk(&mut chance, DOCUMENTS));
    let first = answer["items"]
        .as_array()
        .and_then(|items| items.iter().find(|item| item["index"]["error"].is_object()));
    assert_eq!((status, &answer["errors"]), (200, &json!(false)), "{first:?}");
}

type Answers = [(u16, Value); 2];

fn ask(search: &Search, ours: &Peer, theirs: &Peer) -> Answers {
    let asked = [(ours, &search.ours), (theirs, &search.theirs)];
    asked.map(|(peer, body)| peer.post("/posts/_search", &body.to_string()))
}

/// Says how many documents were found, or what differs.
fn judge(
    search: &Search,
    [(our_status, ours), (their_status, theirs)]: &Answers,
) -> Result<u64, String> {
    if *their_status == 503 && theirs.to_string().contains("too_many_buckets_exception") {
        // See the table of differences.
        return Ok(0);
    }
    if (*our_status, *their_status) != (200, 200) {
        let reason = |answer: &Value| answer["error"]["root_cause"][0].to_string();
        return Err(format!(
            "status {our_status} {}, there {their_status} {}",
            reason(ours),
            reason(theirs)
        ));
    }
    compare(search, ours, theirs)?;
    Ok(theirs["hits"]["total"]["value"].as_u64().unwrap_or(0))
}
