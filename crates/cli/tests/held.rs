//! Writes to a full index: they wait for room, and are refused as a whole if none comes.

mod common;
mod filled;
mod serving;

use std::time::{Duration, Instant};

use common::Folder;
use serving::Server;

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];

/// A bulk of documents with and without ids of their own.
fn bulk(count: usize) -> String {
    let document = |n: usize| match n % 2 {
        0 => format!("{{\"create\":{{\"_id\":\"k{n}\"}}}}\n{{\"late\":\"heron {n}\"}}\n"),
        _ => format!("{{\"index\":{{}}}}\n{{\"late\":\"heron {n}\"}}\n"),
    };
    (0..count).map(document).collect()
}

fn herons(server: &Server) -> serde_json::Value {
    server.get("/full/_count?q=late:heron").is(200)["count"].clone()
}

#[test]
fn a_full_index_refuses_all_of_a_write_or_takes_it_once_there_is_room() {
    let folder = Folder::new();
    let directory = folder.path("all");
    let server = Server::start(&directory, &["--hold", "100ms"]);
    filled::make(&server, "full");
    filled::fill(&server, "full", 20);
    let refused = server.post("/full/_bulk", bulk(100), &JSON);
    assert_eq!(refused.header("Retry-After"), "1");
    assert_eq!(refused.is(429)["error"]["type"], "es_rejected_execution_exception");
    assert_eq!(server.end(), 0);

    let server = Server::start(&directory, &["--hold", "100ms", "--overload-status", "503"]);
    // A start makes some room.
    filled::fill(&server, "full", 20);
    let refused = server.post("/full/_bulk", bulk(100), &JSON);
    assert_eq!(refused.header("Retry-After"), "1");
    assert_eq!(refused.is(503)["status"], 503);
    server.post("/full/_doc", "{\"late\": \"heron\"}", &JSON).is(503);
    server.put("/api/v1/full/documents/a", "{\"late\": \"heron\"}").is(503);
    server.post("/api/v1/full/documents", "{\"late\": \"heron\"}", &JSON).is(503);
    assert_eq!(herons(&server), 0);
    assert_eq!(server.end(), 0);

    let server = Server::start(&directory, &["--hold", "2s"]);
    filled::fill(&server, "full", 3);
    let started = Instant::now();
    std::thread::scope(|threads| {
        let bulks = threads.spawn(|| server.post("/full/_bulk", bulk(100), &JSON).is(200));
        let one = threads.spawn(|| server.put("/full/_doc/one", "{\"late\": \"heron\"}").is(201));
        let own = || server.put("/api/v1/full/documents/own", "{\"late\": \"heron\"}").is(201);
        let own = threads.spawn(own);
        std::thread::sleep(Duration::from_millis(500));
        // Others are served meanwhile.
        server.put("/empty/_doc/1", "{\"n\": 1}").is(201);
        assert_eq!(herons(&server), 0);
        server.post("/api/v1/full/grow", "{\"dram\": \"64MiB\"}", &JSON).is(200);
        let taken = bulks.join().unwrap();
        assert_eq!(
            (&taken["errors"], taken["items"].as_array().unwrap().len()),
            (&false.into(), 100)
        );
        one.join().unwrap();
        own.join().unwrap();
    });
    assert!(started.elapsed() < Duration::from_secs(20), "they wait longer than they must");
    assert_eq!(herons(&server), 102);
}

/// Documents of a bulk that the index has no room for.
const MANY: usize = 50_000;

/// The first part is taken at once, the rest once the index has grown, and nothing twice.
#[test]
fn a_bulk_in_which_the_index_becomes_full_is_taken_whole_once_there_is_room() {
    let folder = Folder::new();
    let server = Server::start(&folder.path("all"), &["--hold", "20s"]);
    filled::make(&server, "full");
    let taken = std::thread::scope(|threads| {
        let bulk = threads.spawn(|| server.post("/full/_bulk", bulk(MANY), &JSON).is(200));
        let end = Instant::now() + Duration::from_secs(15);
        while herons(&server).as_u64() < Some(5_000) {
            assert!(Instant::now() < end, "the first part is not taken: {}", herons(&server));
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_secs(1));
        assert!(herons(&server).as_u64() < Some(MANY as u64), "the index does not become full");
        server.post("/api/v1/full/grow", "{\"dram\": \"64MiB\"}", &JSON).is(200);
        bulk.join().unwrap()
    });
    assert_eq!((&taken["errors"], herons(&server)), (&false.into(), MANY.into()));
    // The answer names the ids that documents have.
    let items = taken["items"].as_array().unwrap();
    for place in [1, 2_001, 10_001, MANY - 1] {
        let id = items[place]["index"]["_id"].as_str().unwrap();
        let source = server.get(&format!("/full/_source/{id}")).is(200);
        assert_eq!(source["late"], format!("heron {place}"));
    }
}
