//! Chat search: each message is found the instant it is sent, by all threads of the server.
//!
//! `cargo run --example chat_search`

use std::error::Error;
use std::thread;

use spirit::{Document, FieldKind, Index, OnFull, Search};

fn main() -> Result<(), Box<dyn Error>> {
    // The newest messages that fit into 64 MiB. Channels and users are keywords: whole values, not words.
    let index = Index::builder()
        .dram_bytes(64 << 20)
        .on_full(OnFull::DropOldest)
        .store(true)
        .field("channel", FieldKind::Keyword)
        .field("user", FieldKind::Keyword)
        .open()?;

    let messages = [
        ("m1", "birds", "ann", "Did you see the grey heron at the pond?"),
        ("m2", "birds", "bob", "Yes, it stood in the reed all morning."),
        ("m3", "boats", "ann", "The ferry is late again."),
    ];
    for (key, channel, user, text) in messages {
        let message = Document::new().text(text).field("channel", channel).field("user", user);
        index.put(key, message)?;
    }

    // One searcher for all threads that answer requests.
    let searcher = index.searcher();
    thread::scope(|scope| {
        for user in ["ann", "bob"] {
            let searcher = &searcher;
            scope.spawn(move || {
                let found =
                    searcher.count(&format!("user:{user}")).expect("the query is well formed");
                println!("{user} sent {found}");
            });
        }
    });

    // Somebody edits a message: the same key replaces, and no query sees both or neither.
    let edited = Document::new().text("The ferry is on time!").field("channel", "boats");
    index.put("m3", edited.field("user", "ann"))?;
    assert_eq!(searcher.count("late")?, 0);

    for hit in searcher.search("channel:birds heron OR reed", Search::newest(20))? {
        let user = hit.get("user")?.and_then(|user| user.as_str()).unwrap_or("?");
        println!("{} {user}: {}", hit.key()?, hit.text()?);
    }
    Ok(())
}
