//! The result cache from the command line: answers are as without it, `--explain` says what became of a query, and
//! `stats` accounts for the bytes.

mod common;

use common::{Folder, spirit};

/// Documents with a number and one of three channels.
fn documents() -> String {
    let document = |n: u32| {
        let word = ["heron", "reed", "marsh"][n as usize % 3];
        format!(
            "{{\"text\":\"{word} n{} shore\",\"n\":{},\"channel\":\"c{}\"}}\n",
            n % 7,
            n % 100,
            n % 3
        )
    };
    (0..3000).map(document).collect()
}

/// The same queries again and again: each is kept the first time.
fn queries() -> String {
    let asked = ["heron OR reed", "reed", "+shore +n3", "n*", "\"heron n2\"", "shore -marsh"];
    asked.iter().cycle().take(25).map(|query| format!("{query}\n")).collect()
}

#[test]
fn answers_are_as_without_it() {
    let folder = Folder::new();
    let (file, queries) = (folder.file("a.jsonl", documents()), folder.file("queries", queries()));
    let ask = |more: &[&str]| {
        let facets = ["--facet", "terms:channel", "--facet", "stats:n"];
        let base = ["search", "--in", &file, "--queries", &queries, "--json", "-k", "200"];
        let run = spirit(&[&base[..], &facets, &["--count", "yes"], more].concat());
        let strip = |mut answer: serde_json::Value| {
            answer.as_object_mut().unwrap().remove("took_us");
            answer
        };
        run.json().into_iter().map(strip).collect::<Vec<_>>()
    };
    let plain = ask(&[]);
    assert_eq!(plain.len(), 25);
    for policy in ["lru", "dlirs", "random", "s3fifo", "tinylfu"] {
        for allocator in ["first-fit", "tlsf"] {
            let cache =
                ["--cache", "1MiB", "--cache-policy", policy, "--cache-allocator", allocator];
            let more = ["--cache-cost", "0s", "--cache-entries", "9", "--caches", "2"];
            for matching in ["iso", "partial1"] {
                let all = [&cache[..], &more, &["--cache-match", matching]].concat();
                assert!(ask(&all) == plain, "{policy}, {allocator}, {matching}");
            }
        }
    }
}

#[test]
fn a_plan_says_what_became_of_the_query() {
    let folder = Folder::new();
    let file = folder.file("a.jsonl", documents());
    let asked = folder.file("queries", "heron OR n*\nheron OR n*\nheron\nkey:7\nheron OR n*\n");
    let args = ["search", "--in", &file, "--queries", &asked, "--explain", "--json", "-k", "200"];
    let said = |more: &[&str]| -> Vec<String> {
        let answers = spirit(&[&args[..], more].concat()).json();
        answers
            .iter()
            .map(|answer| answer["cache"].as_str().unwrap_or("nothing").to_owned())
            .collect()
    };
    let kept = said(&["--cache", "1MiB", "--cache-cost", "0s"]);
    let begins: Vec<&str> = kept.iter().map(|said| said.split(':').next().unwrap()).collect();
    assert_eq!(begins, ["missed", "hit", "missed", "not asked", "hit"], "{kept:?}");
    assert!(kept[3].contains("by their keys"), "{kept:?}");
    let seldom = said(&["--cache", "1MiB", "--cache-cost", "1h"]);
    assert!(
        seldom[0].contains("was not asked before") && seldom[4].contains("less time"),
        "{seldom:?}"
    );
    assert!(said(&[]).iter().all(|said| said == "nothing"));
    let shown = spirit(&["search", "--in", &file, "--explain", "--cache", "1MiB", "heron"]).done();
    assert!(shown.contains("result cache: not asked: the newest matches of two terms"), "{shown}");
}

#[test]
fn approximate_answers_are_marked() {
    let folder = Folder::new();
    let file = folder.file("a.jsonl", documents());
    // There are two fields of text, in both of which a word without a field's name is looked for.
    let lines = ["heron AND n3", "n3", "reed OR n3", "n3 OR marsh", "marsh"];
    let lines = lines.map(|line| format!("text:({line})\n"));
    let asked = folder.file("queries", lines.concat());
    let args = ["search", "--in", &file, "--queries", &asked, "-k", "400", "--explain", "--json"];
    let cache = ["--segment", "64KiB", "--cache", "1MiB", "--cache-cost", "0s", "--cache-match"];
    let ask = |matching| spirit(&[&args[..], &cache, &[matching]].concat()).json();
    let (partial, rough) = (ask("partial1"), ask("partial2"));
    let marks = |answers: &[serde_json::Value]| {
        answers.iter().map(|a| a["approximate"] == true).collect::<Vec<_>>()
    };
    assert_eq!(marks(&partial), [false; 5]);
    assert!(partial[0].get("approximate").is_none(), "as before, if nothing is approximate");
    assert_eq!(partial[4]["cache"].as_str().unwrap().split(':').next(), Some("hit"));
    let marked = marks(&rough);
    assert!(marked.contains(&true) && !marked[0], "{marked:?}");
    for (exact, rough) in partial.iter().zip(&rough) {
        let keys = |answer: &serde_json::Value| -> Vec<String> {
            let hits = answer["hits"].as_array().unwrap();
            hits.iter().map(|hit| hit["key"].to_string()).collect()
        };
        let (all, found) = (keys(exact), keys(rough));
        let is_marked = rough["approximate"] == true;
        assert_eq!(rough["cache"].as_str().unwrap().starts_with("approximate"), is_marked);
        match is_marked {
            true => assert!(found != all, "{}", rough["query"]),
            false => assert_eq!(found, all),
        }
        assert!(rough["exact"] == false || rough["count"] == exact["count"]);
    }
    let text = &[&args[..args.len() - 2], &cache, &["partial2"]].concat();
    assert!(spirit(text).err.contains("(approximate: hits are missing)"));
}

#[test]
fn in_the_second_tier_it_leaves_nothing_behind() {
    let folder = Folder::new();
    let (file, index) = (folder.file("a.jsonl", documents()), folder.path("index"));
    spirit(&["ingest", "-d", &index, "--dram", "16MiB", "--nvm", "32MiB", &file]).done();
    let cache = ["--cache", "2MiB", "--cache-tier", "nvm"];
    let found = spirit(&[&["count", "-d", &index, "heron OR n*"][..], &cache].concat()).done();
    assert_eq!(found.trim(), "3000");
    let stats = spirit(&[&["stats", "-d", &index, "--json"][..], &cache].concat()).json().remove(0);
    let bytes = |name: &str| stats["cache"][name].as_u64().unwrap();
    assert!(bytes("bytes") <= 2 << 20, "{stats}");
    assert_eq!(
        bytes("bytes") - bytes("heap_bytes"),
        bytes("table_bytes") + bytes("policy_bytes") + (64 << 10)
    );
    let mut names: Vec<_> =
        std::fs::read_dir(&index).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["heap"]);
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = Folder::new();
    let file = folder.file("a.jsonl", documents());
    let refused = |more: &[&str]| {
        let run = spirit(&[&["count", "--in", &file, "heron"][..], more].concat());
        assert_ne!(run.code, 0, "{more:?}");
        run.err
    };
    assert!(refused(&["--cache-policy", "lru"]).contains("--cache <SIZE>"));
    assert!(
        refused(&["--cache", "1k"]).contains("choose 65536 to"),
        "{}",
        refused(&["--cache", "1k"])
    );
    assert!(refused(&["--cache", "1M", "--caches", "0"]).contains("the number of caches is 0"));
    let entries = refused(&["--cache", "1M", "--cache-entries", "0"]);
    assert!(entries.contains("entries of each cache is 0: choose 1 to"), "{entries}");
    let tier = refused(&["--cache", "1M", "--cache-tier", "nvm"]);
    assert!(tier.contains("only an index in a directory has a second tier"), "{tier}");
    let config = folder.file("c.toml", "cache-policy = \"lru\"\n");
    let index = folder.path("index");
    let alone = spirit(&["ingest", "-d", &index, "--config", &config, &file]).failed(2);
    assert!(alone.contains("cache-policy: there is no cache without a size"), "{alone}");
    let config = folder.file("m.toml", "cache = \"1MiB\"\ncache-match = \"iso2\"\n");
    let wrong = spirit(&["ingest", "-d", &index, "--config", &config, &file]).failed(2);
    assert!(wrong.contains("cache-match") && wrong.contains("partial2"), "{wrong}");
    let config = folder.file("m.toml", "cache = \"1MiB\"\ncache-match = \"partial1\"\n");
    spirit(&["ingest", "-d", &index, "--config", &config, &file]).done();
    let policy = refused(&["--cache", "1M", "--cache-policy", "best"]);
    assert!(policy.contains("dlirs") && policy.contains("tinylfu"), "{policy}");
}
