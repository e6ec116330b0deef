//! Queries are answered: shapes of output, pages, operators, errors.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{Folder, keys, spirit};
use serde_json::{Value, json};

const TEXT: &str = "the red fox\nthe blue bird\na red bird\n\nRED alert\n";

#[test]
fn an_answer_has_the_documented_shape() {
    let folder = Folder::new();
    let file = folder.file("a.txt", TEXT);
    let out = spirit(&["search", "--in", &file, "red", "--json"]).done();
    assert!(out.starts_with("{\"query\":\"red\",\"count\":3,\"exact\":true,\"took_us\":"), "{out}");
    assert!(
        out.ends_with(
            ",\"hits\":[{\"key\":\"4\",\"score\":null,\"text\":\"RED alert\"},\
             {\"key\":\"2\",\"score\":null,\"text\":\"a red bird\"},\
             {\"key\":\"0\",\"score\":null,\"text\":\"the red fox\"}]}\n"
        ),
        "{out}"
    );
}

#[test]
fn people_get_keys_and_texts_and_the_rest_is_said_beside() {
    let folder = Folder::new();
    let file = folder.file("a.txt", TEXT);
    let run = spirit(&["search", "--in", &file, "-k", "2", "red"]);
    let said: Vec<_> = run.err.lines().collect();
    assert!(said[0].starts_with("3 matches in "), "{said:?}");
    assert_eq!(said[1..], ["next page: --after 2"]);
    assert_eq!(run.done(), "4\tRED alert\n2\ta red bird\n");
    let run = spirit(&["search", "--in", &file, "nothing"]);
    assert!(run.err.starts_with("0 matches in "), "{}", run.err);
    assert_eq!(run.done(), "");
    assert!(spirit(&["search", "--in", &file, "alert"]).err.starts_with("1 match in "));
    assert_eq!(spirit(&["search", "--in", &file, "--json", "red"]).err, "");
    let bare = ["search", "--in", &file, "--store", "no", "red"];
    assert_eq!(spirit(&bare).done(), "4\n2\n0\n");
}

#[test]
fn the_query_may_stand_anywhere() {
    let folder = Folder::new();
    let (a, b) = (folder.file("a.txt", TEXT), folder.file("b.txt", TEXT));
    for args in [
        &["count", "red", "--in", &a, &b][..],
        &["count", "--in", &a, &b, "red"],
        &["count", "--in", &a, "--in", &b, "--", "red"],
        &["count", "--in", &a, &b, "--", "+red -green"],
    ] {
        assert_eq!(spirit(args).done(), "6\n", "{args:?}");
    }
    // A file of that name: there is no query.
    assert!(spirit(&["count", "--in", &a, &b]).failed(2).contains("no query"));
}

#[test]
fn neighbours_are_either_or_both() {
    let folder = Folder::new();
    let file = folder.file("a.txt", TEXT);
    let count = |more: &[&str]| spirit(&[&["count", "--in", &file][..], more].concat()).done();
    assert_eq!(count(&["--default-operator", "or", "red bird"]), "4\n");
    assert_eq!(count(&["--default-operator", "and", "red bird"]), "1\n");
    let search = ["search", "--in", &file, "--default-operator", "and", "--json", "red bird"];
    assert_eq!(keys(&spirit(&search).json()[0]), ["2"]);
}

#[test]
fn an_expression_finds_terms_that_it_matches_whole() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "a heron\nherrings\nhero of /heronry/log/\n");
    let found = |query: &str| spirit(&["search", "--in", &file, query]).done();
    assert_eq!(found("/her(on|ring)s?/"), "1\therrings\n0\ta heron\n");
    assert_eq!(found("/heronry/log/"), "2\thero of /heronry/log/\n");
    let refused = spirit(&["search", "--in", &file, "heron /her(?=on)/"]).failed(1);
    assert!(refused.contains("column 11") && refused.contains("look-around"), "{refused}");
    let marked = spirit(&["search", "--in", &file, "--highlight", "/H.R.*S/"]).done();
    assert!(marked.contains("herrings"), "{marked}");
}

#[test]
fn every_algorithm_finds_the_same() {
    let folder = Folder::new();
    let text: String = (0..5000).map(|n| format!("{} {} \n", n % 7, n % 11)).collect();
    let file = folder.file("a.txt", text);
    let found = |algorithm| {
        let args = ["search", "--in", &file, "--algorithm", algorithm, "--json", "3 AND 9"];
        keys(&spirit(&args).json()[0]).join(" ")
    };
    let expected = found("auto");
    assert_eq!(expected.split(' ').count(), 10);
    for algorithm in ["naive", "binary", "finger", "simd"] {
        assert_eq!(found(algorithm), expected, "{algorithm}");
    }
    let windows = ["search", "--in", &file, "--evaluator", "windows", "--json", "3 AND 9"];
    assert_eq!(keys(&spirit(&windows).json()[0]).join(" "), expected);
    let best = ["search", "--in", &file, "--order", "best", "--json", "3 AND 9"];
    let expected = keys(&spirit(&best).json()[0]).join(" ");
    let bm25 = ["search", "--in", &file, "--order", "bm25", "--json", "--limit", "10", "3 AND 9"];
    assert_eq!(keys(&spirit(&bm25).json()[0]).join(" "), expected);
    for more in [&["--exhaustive"][..], &["--evaluator", "windows"], &["--algorithm", "finger"]] {
        assert_eq!(keys(&spirit(&[&best[..], more].concat()).json()[0]).join(" "), expected);
    }
    let newest = ["search", "--in", &file, "--exhaustive", "3"];
    assert!(spirit(&newest).failed(2).contains("--order best"));
}

#[test]
fn close_words_come_first_by_proximity() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "sea grey x x heron\ngrey heron x x sea\nx x grey x heron\n");
    let first = |order: &str, more: &[&str]| {
        let args = ["search", "--in", &file, "--json", "--order", order, "grey heron"];
        spirit(&[&args[..], more].concat()).json().remove(0)
    };
    assert_eq!(keys(&first("best", &[])), ["2", "1", "0"]);
    let found = first("proximity", &["--explain", "--k1", "1.5", "--exhaustive"]);
    assert_eq!(keys(&found), ["1", "2", "0"]);
    let parts = &found["hits"][0]["explanation"]["clauses"];
    assert_eq!((&parts[1]["first"], &parts[3]["distance"]), (&0.into(), &1.into()), "{found}");
}

#[test]
fn an_answer_is_explained() {
    let folder = Folder::new();
    let file = folder.file("a.txt", TEXT);
    let asked = ["search", "--in", &file, "--explain", "red -fo*"];
    let answer = spirit(&[&asked[..], &["--json", "--order", "bm25"]].concat()).json().remove(0);
    let part = &answer["plan"][0]["fresh"];
    assert_eq!((&part["segments"], &part["evaluator"]), (&1.into(), &"windows".into()));
    let clauses = &part["clause"]["clauses"];
    assert_eq!((&clauses[0]["clause"], &clauses[0]["documents"]), (&"red".into(), &3.into()));
    assert_eq!((&clauses[1]["first"][0], &clauses[1]["occur"]), (&"fox".into(), &"not".into()));
    for hit in answer["hits"].as_array().unwrap() {
        let explained = &hit["explanation"];
        let near = explained["value"].as_f64().unwrap() - hit["score"].as_f64().unwrap();
        assert!(near.abs() < 1e-5 && explained["clauses"][0]["bm25"]["documents"] == 4, "{hit}");
    }
    let newest = spirit(&[&asked[..], &["--json"]].concat()).json().remove(0);
    assert!(newest.get("plan").is_some() && newest["hits"][0].get("explanation").is_none());
    let shown = spirit(&[&asked[..], &["--order", "bm25"]].concat()).done();
    assert!(shown.contains("executor 0\n  fresh segments: 1, windows\n"), "{shown}");
    assert!(shown.contains("(...)  sum\n"), "{shown}");
}

#[test]
fn files_of_queries_are_answered_in_order() {
    let folder = Folder::new();
    let file = folder.file("a.txt", TEXT);
    let queries = folder.file("queries.txt", "bird\n\nred AND fox\r\n");
    let source = ["--in", &file, "--queries", &queries];
    let counted = spirit(&[&["count", "--json"], &source[..]].concat()).done();
    assert_eq!(
        counted,
        "{\"query\":\"bird\",\"count\":2}\n{\"query\":\"\",\"count\":0}\n{\"query\":\"red AND fox\",\"count\":1}\n"
    );
    assert_eq!(spirit(&[&["count"], &source[..]].concat()).done(), "2\n0\n1\n");
    let answers = spirit(&[&["search", "--json"], &source[..]].concat()).json();
    let found: Vec<_> = answers.iter().map(keys).collect();
    assert_eq!(found, [vec!["2", "1"], vec![], vec!["0"]]);
    let shown = spirit(&[&["search"], &source[..]].concat());
    let said: Vec<_> = shown.err.lines().map(|line| line.split(" in ").next().unwrap()).collect();
    let totals = ["1: 2 matches", "2: 0 matches", "3: 1 match"];
    assert_eq!(said, totals.map(|total| format!("{queries}:{total}")));
    let expected = "query: bird\n2\ta red bird\n1\tthe blue bird\nquery: \nquery: red AND fox\n0\tthe red fox\n";
    assert_eq!(shown.done(), expected);
}

#[test]
fn counts_end_when_there_are_enough() {
    let folder = Folder::new();
    let file = folder.file("a.txt", TEXT);
    let count =
        |more: &[&str]| spirit(&[&["count", "--in", &file, "red"][..], more].concat()).done();
    assert_eq!(count(&["--up-to", "3"]), "3\n");
    assert!(count(&["--up-to", "2"]).starts_with("at least 3"));
    let shape = "{\"query\":\"red\",\"count\":3,\"exact\":true}\n";
    assert_eq!(count(&["--up-to", "9", "--json"]), shape);
    // `search` calls it so too, and takes the number where it was before.
    for (option, number, count, exact) in
        [("--up-to", "1", 2, false), ("--count", "1", 2, false), ("--up-to", "3", 3, true)]
    {
        let args = ["search", "--in", &file, "-k", "1", option, number, "--json", "red"];
        let answer = spirit(&args).json().remove(0);
        assert!(answer["count"].as_u64().unwrap() >= count, "{answer}");
        assert_eq!(answer["exact"], exact, "{answer}");
    }
}

#[test]
fn without_a_count_top_k_stops_early_and_says_so() {
    let folder = Folder::new();
    let file = folder.file("a.txt", TEXT);
    let answer = |k, count| {
        let args = ["search", "--in", &file, "-k", k, "--count", count, "--json", "red"];
        let answer = spirit(&args).json().remove(0);
        (
            answer["count"].as_u64().unwrap(),
            answer["exact"].as_bool().unwrap(),
            answer.get("cursor").is_some(),
        )
    };
    assert_eq!(answer("2", "yes"), (3, true, true));
    assert_eq!(answer("2", "no"), (2, false, true));
    assert_eq!(answer("3", "yes"), (3, true, false));
    assert_eq!(answer("3", "no"), (3, false, true));
    assert_eq!(answer("4", "no"), (3, true, false));
    // All there are were found, though fewer were to be counted.
    assert_eq!(answer("4", "1"), (3, true, false));
    assert_eq!(answer("0", "yes"), (3, true, false));
    assert_eq!(answer("1", "3"), (3, true, true));
    let (count, exact, more) = answer("1", "1");
    assert!(count > 1 && !exact && more);
}

#[test]
fn pages_one_after_another_are_one_big_page() {
    let folder = Folder::new();
    let text: String = (0..500).map(|n| if n % 3 == 0 { "red\n" } else { "blue\n" }).collect();
    let file = folder.file("a.txt", text);
    let search = |more: &[&str]| {
        spirit(&[&["search", "--in", &file, "--json", "red"], more].concat()).json().remove(0)
    };
    let all = search(&["-k", "1000"]);
    assert_eq!(keys(&all).len(), 167);
    let mut paged: Vec<String> = Vec::new();
    let mut cursor = None::<String>;
    loop {
        let after: Vec<&str> = cursor.iter().flat_map(|cursor| ["--after", cursor]).collect();
        let page = search(&[&["-k", "40"], &after[..]].concat());
        assert_eq!(page["count"], 167);
        paged.extend(keys(&page).into_iter().map(str::to_owned));
        cursor = page["cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(paged, keys(&all));
}

#[test]
fn executors_share_one_order() {
    let folder = Folder::new();
    let file = folder.file("a.txt", "red\n".repeat(300));
    let args = ["search", "--in", &file, "--executors", "3", "-k", "300", "--json", "red"];
    let expected: Vec<_> = (0..300).rev().map(|n| n.to_string()).collect();
    assert_eq!(keys(&spirit(&args).json()[0]), expected);
}

#[test]
fn a_query_that_is_none_is_placed() {
    let folder = Folder::new();
    let file = folder.file("a.txt", TEXT);
    let line = spirit(&["search", "--in", &file, "red AND"]).failed(1);
    assert!(line.starts_with("spirit: query: column 8: expected "), "{line}");
    let line = spirit(&["count", "--in", &file, "(red"]).failed(1);
    assert!(line.starts_with("spirit: query: column 5: expected "), "{line}");
}

#[test]
fn a_bad_line_does_not_keep_the_others_from_their_answers() {
    let folder = Folder::new();
    let file = folder.file("a.txt", TEXT);
    let queries = folder.file("queries.txt", b"red\n)\n\xff\nbird\n");
    let run = |args: &[&str]| {
        let run = spirit(&[args, &["--in", &file, "--queries", &queries]].concat());
        let is_total = |line: &&str| line.contains(" matches in ");
        let reasons: Vec<_> =
            run.err.lines().filter(|line| !is_total(line)).map(str::to_owned).collect();
        let column = format!("{queries}:2: column 1: expected ");
        assert!(reasons[0].starts_with(&column), "{}", run.err);
        assert_eq!(reasons[1], format!("{queries}:3: invalid UTF-8 at byte 1"));
        assert_eq!(reasons[2], format!("spirit: {queries}: 2 of 4 queries have no answer"));
        assert_eq!((reasons.len(), run.code), (3, 1));
        run.out
    };
    for command in ["search", "count"] {
        let out = run(&[command, "--json"]);
        let answers: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let asked: Vec<_> =
            answers.iter().map(|answer| answer["query"].as_str().unwrap()).collect();
        assert_eq!(asked, ["red", ")", "\u{fffd}", "bird"]);
        assert_eq!((&answers[0]["count"], &answers[3]["count"]), (&3.into(), &2.into()));
        assert!(answers[1]["error"].as_str().unwrap().starts_with("column 1: "), "{out}");
        assert_eq!(answers[2], json!({ "query": "\u{fffd}", "error": "invalid UTF-8 at byte 1" }));
    }
    assert_eq!(run(&["count"]), "3\n-\n-\n2\n");
    let shown = run(&["search"]);
    assert!(
        shown.contains("\nquery: )\nno answer: column 1: ")
            && shown.contains("query: bird\n2\ta red bird\n"),
        "{shown}"
    );
}

#[test]
fn what_people_type_is_read_leniently_if_that_is_asked_for() {
    let folder = Folder::new();
    let file = folder.file(
        "a.jsonl",
        "{\"text\": \"the red fox\", \"n\": 3}\n{\"text\": \"a bird\", \"n\": 4}\n",
    );
    let typed = "(red AND";
    for command in ["search", "count"] {
        let asked = [command, "--in", &file, typed];
        assert!(spirit(&asked).failed(1).contains("query: column "));
        let run = spirit(&[&asked[..], &["--lenient", "--json"]].concat());
        let noted: Vec<_> = run.err.lines().map(str::to_owned).collect();
        assert!(
            noted.iter().all(|l| l.starts_with("spirit: column ") && l.ends_with(": ignored")),
            "{}",
            run.err
        );
        let answer = run.json().remove(0);
        let warnings = answer["warnings"].as_array().unwrap();
        assert_eq!((warnings.len(), &answer["count"]), (2, &1.into()));
        let reported: Vec<_> =
            warnings.iter().map(|w| format!("spirit: {}", w.as_str().unwrap())).collect();
        assert_eq!(reported, noted);
        let sound =
            spirit(&[command, "--in", &file, "red", "--lenient", "--json"]).json().remove(0);
        assert_eq!((&sound["warnings"], &sound["count"]), (&json!([]), &1.into()));
    }
    assert_eq!(spirit(&["count", "--in", &file, "--up-to", "1", "--lenient", typed]).done(), "1\n");
    // Everything that is said of a query is of the same one.
    let all = [
        "--lenient",
        "--json",
        "--order",
        "bm25",
        "--explain",
        "--highlight",
        "--facet",
        "stats:n",
    ];
    let answer = spirit(&[&["search", "--in", &file, typed][..], &all].concat()).json().remove(0);
    assert_eq!(answer["facets"][0]["max"], 3.0);
    assert!(answer["plan"].is_array() && answer["hits"][0]["explanation"].is_object(), "{answer}");
    assert_eq!(answer["hits"][0]["snippets"], json!(["the <em>red</em> fox"]));

    let queries = folder.file("queries.txt", format!("red\n{typed}\n"));
    let run = spirit(&["count", "--in", &file, "--lenient", "--queries", &queries]);
    assert!(run.err.starts_with(&format!("{queries}:2: column ")), "{}", run.err);
    assert_eq!(run.done(), "1\n1\n");
}

#[test]
fn a_query_that_costs_too_much_has_no_answer() {
    let folder = Folder::new();
    let text: String = (0..5000).map(|n| format!("w{n} all\n")).collect();
    let file = folder.file("a.txt", text);
    for command in ["search", "count"] {
        let asked = [command, "--in", &file];
        let line = spirit(&[&asked[..], &["--expansions", "100", "w*"]].concat()).failed(1);
        assert!(line.starts_with("spirit: query: the query's prefixes"), "{line}");
        assert!(line.contains("more than 100 terms"), "{line}");
        spirit(&[&asked[..], &["--expansions", "5000", "w*"]].concat()).done();
        let line = spirit(&[&asked[..], &["--timeout", "1ns", "all"]].concat()).failed(1);
        assert!(line.starts_with("spirit: query: the query exceeded its time limit"), "{line}");
        spirit(&[&asked[..], &["--timeout", "1h", "all"]].concat()).done();
        assert_eq!(spirit(&[&asked[..], &["--timeout", "soon", "all"]].concat()).code, 2);
    }
    let queries = folder.file("queries.txt", "w1*\nw*\nw2*\n");
    let run = spirit(&["count", "--in", &file, "--expansions", "1200", "--queries", &queries]);
    assert_eq!((run.code, &*run.out), (1, "1111\n-\n1111\n"), "{}", run.err);
}

#[test]
fn scores_are_as_they_were_computed() {
    let folder = Folder::new();
    let file = folder.file("a.txt", TEXT);
    let asked = ["search", "--in", &file, "--order", "bm25", "red^0.000000001"];
    let out = spirit(&[&asked[..], &["--json"]].concat()).done();
    let scores = out.split("\"score\":").skip(1).map(|rest| rest.split(['}', ',']).next().unwrap());
    for score in scores {
        let read: f32 = score.parse().unwrap();
        assert!(read > 0.0 && read < 1e-8, "{score}");
        // The shortest form that is read back as the same.
        assert_eq!(serde_json::to_string(&read).unwrap(), score);
    }
    let shown = spirit(&asked).done();
    let scores = shown.lines().map(|line| line.split('\t').nth(1).unwrap());
    assert!(scores.clone().count() == 3 && scores.clone().all(|s| s.ends_with("e-10")), "{shown}");
}

#[test]
fn hostile_queries_are_refused_not_suffered() {
    let folder = Folder::new();
    let file = folder.file("a.txt", TEXT);
    let clauses: String = (0..100_000).map(|n| format!("w{n} ")).collect();
    let nested = format!("{}red{}", "(".repeat(50_000), ")".repeat(50_000));
    let word = "x".repeat(900_000);
    let too_long = "red ".repeat(300_000);
    for (query, reason) in
        [(&clauses, "too large"), (&nested, "too large"), (&too_long, "a query of more than")]
    {
        let queries = folder.file("queries.txt", query);
        let run = spirit(&["count", "--in", &file, "--queries", &queries]);
        assert!(run.err.contains("queries.txt:1: ") && run.err.contains(reason));
        run.failed(1);
    }
    let queries = folder.file("queries.txt", format!("{word}\n"));
    assert_eq!(spirit(&["count", "--in", &file, "--queries", &queries]).done(), "0\n");
}

#[test]
fn statistics_tell_what_is_where() {
    let folder = Folder::new();
    let file = folder.file("a.tsv", "a\tred fox\nb\tbird\na\tblue fox\n");
    let stats = spirit(&["stats", "--in", &file, "--dram", "64MiB", "--json"]).json().remove(0);
    assert_eq!(stats["documents"]["live"], 2);
    assert_eq!(stats["documents"]["accepted"], 3);
    assert_eq!(stats["documents"]["deleted"], 1);
    assert_eq!(stats["heap"]["dram"]["cap"], 64 << 20);
    assert!(stats["heap"]["persistent"].is_null());
    assert_eq!(stats["segments"][0]["count"], 1);
    let shown = spirit(&["stats", "--in", &file]).done();
    assert!(
        shown.lines().any(|line| line.starts_with("documents ") && line.ends_with(" 2")),
        "{shown}"
    );
}

/// A file of queries, some of which have no answer.
fn many_queries() -> String {
    let line = |n: usize| match n % 7 {
        0 => "red AND bird\n".to_owned(),
        1 => "(broken\n".to_owned(),
        2 => format!("w{}\n", n % 90),
        3 => "nothing\n".to_owned(),
        4 => format!("w{} OR red\n", n % 30),
        5 => "\"a red\"\n".to_owned(),
        _ => "r*\n".to_owned(),
    };
    (0..500).map(line).collect()
}

/// What took how long is not compared.
fn without_times(out: &str) -> Vec<String> {
    let time = regex::Regex::new("\"took_us\":[0-9.]+|in [0-9.]+ .?s").unwrap();
    out.lines().map(|line| time.replace_all(line, "").into_owned()).collect()
}

#[test]
fn several_threads_answer_in_the_order_of_the_file() {
    let folder = Folder::new();
    let texts: String = (0..3000).map(|n| format!("{TEXT}w{} w{}\n", n % 100, n % 7)).collect();
    let (file, queries) = (folder.file("a.txt", texts), folder.file("q.txt", many_queries()));
    for more in [&["--json"][..], &[]] {
        let asked = |command: &str, threads: &str| {
            let args = [command, "--in", &file, "--queries", &queries, "--query-threads", threads];
            spirit(&[&args[..], more].concat())
        };
        for command in ["search", "count"] {
            let (one, four) = (asked(command, "1"), asked(command, "4"));
            assert_eq!((one.code, four.code), (1, 1), "{}", one.err);
            assert_eq!(without_times(&one.out), without_times(&four.out));
            let [mut one, mut four] = [&one.err, &four.err].map(|err| without_times(err));
            one.sort();
            four.sort();
            assert_eq!(one, four);
            assert!(one.iter().any(|line| line.ends_with("72 of 500 queries have no answer")));
        }
    }
    for threads in ["0", "32", "many"] {
        let args = ["count", "--in", &file, "--query-threads", threads, "red"];
        let run = spirit(&args);
        assert_eq!(run.code, 2);
        assert!(run.err.contains("choose 1 to 31"), "{}", run.err);
    }
}

/// Each answer comes before the next query is known, and the end of the reader ends the command.
#[test]
fn several_threads_answer_each_query_at_once() {
    let folder = Folder::new();
    let (file, pipe) = (folder.file("a.txt", TEXT), folder.path("pipe"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_spirit"));
    command.args(["count", "--in", &file, "--queries", &pipe, "--query-threads", "3"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut queries = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for (query, count) in [("red", "3"), ("bird", "2"), ("fox OR blue", "2"), ("none", "0")] {
        writeln!(queries, "{query}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), count);
    }
    drop(answers);
    // The answers to these have nowhere to go, and the pipe of queries stays open. The first may still find a place: between
    // fork and exec, a process that another test starts has a copy of this end of the pipe.
    let patience = Instant::now() + Duration::from_secs(60);
    let ended = loop {
        // The process may have ended since the last look.
        let _ = writeln!(queries, "red");
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        assert!(Instant::now() < patience, "it goes on though nobody reads its answers");
        sleep(Duration::from_millis(5));
    };
    assert!(ended.success(), "{ended}");
}
