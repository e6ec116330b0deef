//! Members of JSON lines become fields: by a schema that was typed, is in a file, or grows with what comes.

mod common;

use common::{Folder, spirit};

const LINES: &str = r#"{"key": "a", "text": "red", "views": 3, "user": {"name": "Ann"}, "tags": ["x", "y"]}
{"key": "b", "text": "red", "views": "many"}
{"key": "c", "text": "blue", "views": null, "ts": 1700000000}
{"text": "no", "no\tname": 1}
{"key": "d", "ts": "2026-11-22T19:00:00Z"}
"#;

#[test]
fn facets_are_of_all_that_match() {
    let folder = Folder::new();
    let line = |n: i64| format!("{{\"text\": \"visit\", \"page\": \"p{}\", \"ms\": {n}}}\n", n % 3);
    let file = folder.file("visits.jsonl", (0..30).map(line).collect::<String>());
    let asked =
        ["search", "--in", &file, "--schema", "page:keyword,ms:integer", "-k", "2", "visit"];
    let facets = ["--facet", "terms:page:2", "--facet", "stats:ms", "--facet", "histogram:ms:10"];
    let answer = spirit(&[&asked[..], &facets, &["--json"]].concat()).json().remove(0);
    let found = &answer["facets"];
    assert_eq!(found[0]["buckets"][0], serde_json::json!({ "value": "p0", "count": 10 }));
    assert_eq!((&found[0]["others"], &found[0]["distinct"]), (&10.into(), &3.into()));
    assert_eq!((&found[1]["count"], &found[1]["mean"]), (&30.into(), &14.5.into()));
    assert_eq!(found[2]["buckets"][2], serde_json::json!({ "from": 20.0, "count": 10 }));
    let shown = spirit(&[&asked[..], &facets].concat()).done();
    assert!(
        shown.contains("terms:page:2: 3 values, 10 documents with other values\n    10  p0\n"),
        "{shown}"
    );
    let wrong = spirit(&[&asked[..], &["--facet", "stats:page"]].concat()).failed(1);
    assert!(wrong.contains("numbers or times"), "{wrong}");
}

#[test]
fn facets_of_moments_are_moments() {
    let folder = Folder::new();
    let moments = [1_391_149_585, 1_391_149_585 + 60, 1_391_149_585 + 180];
    let line = |ts: i64| format!("{{\"text\": \"visit\", \"ts\": {ts}}}\n");
    let file = folder.file("visits.jsonl", moments.map(line).concat());
    let asked = ["search", "--in", &file, "--schema", "ts:time(seconds)", "visit"];
    let facets = ["--facet", "stats:ts", "--facet", "percentiles:ts:0,100"];
    let answer = spirit(&[&asked[..], &facets, &["--json"]].concat()).json().remove(0);
    let (least, mean, most) =
        ("2014-01-31T06:26:25Z", "2014-01-31T06:27:45Z", "2014-01-31T06:29:25Z");
    let stats = serde_json::json!({ "facet": "stats:ts", "count": 3, "min": least, "max": most, "mean": mean });
    assert_eq!(answer["facets"][0], stats);
    let at = &answer["facets"][1]["percentiles"];
    assert_eq!((&at[0]["value"], &at[1]["value"]), (&least.into(), &most.into()));
    let shown = spirit(&[&asked[..], &facets].concat()).done();
    assert!(
        shown.contains(&format!("stats:ts: 3 values, {least} to {most}, mean {mean}\n")),
        "{shown}"
    );
    assert!(shown.contains(&format!("    100%  {most}\n")), "{shown}");
    let wrong = spirit(&[&asked[..], &["--facet", "histogram:ts:86400"]].concat()).failed(2);
    assert!(wrong.contains("--facet histogram:ts:86400: field \"ts\" holds times"), "{wrong}");
    assert!(wrong.ends_with("as in dates:ts:1day"), "{wrong}");
    spirit(&[&asked[..], &["--facet", "dates:ts:1day"]].concat()).done();
}

#[test]
fn members_become_fields_and_what_does_not_fit_is_left_out() {
    let folder = Folder::new();
    let (file, index) = (folder.file("a.jsonl", LINES), folder.path("index"));
    let schema = "ts:time(seconds),user.name:keyword";
    let run = spirit(&["ingest", "-d", &index, &file, "--schema", schema]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("\"documents\":5,\"refused\":0"), "{}", run.out);
    let value = "\"values_left_out\":[{\"name\":\"views\",\"count\":1,\"at\":[\"";
    assert!(run.out.contains(value), "{}", run.out);
    let misfit = "a.jsonl:2: field \"views\" holds values of kind integer; \"many\" is not one";
    assert!(run.err.contains(misfit), "{}", run.err);
    let left_out = "\"members_left_out\":[{\"name\":\"no\\tname\",\"count\":1,";
    assert!(run.out.contains(left_out), "{}", run.out);
    let stats = spirit(&["stats", "-d", &index]).done();
    for (name, kind) in [
        ("text", "text(standard)"),
        ("ts", "time(seconds)"),
        ("user.name", "keyword"),
        ("views", "integer"),
        ("tags", "text(standard)"),
    ] {
        let line = format!("{:<32}{kind}", format!("field {name}"));
        assert!(stats.lines().any(|found| found == line), "{line} in {stats}");
    }
    let count = |query: &str| spirit(&["count", "-d", &index, query]).done();
    assert_eq!(count("red").trim(), "2");
    assert_eq!(count("*").trim(), "5");
    let refused = folder.path("refused");
    let run = spirit(&["ingest", "-d", &refused, &file, "--on-misfit", "refuse"]);
    assert_eq!(run.code, 3, "{}", run.err);
    let numbers = "{\"n\": 20}\n{\"n\": 20.0}\n{\"n\": 2e1}\n{\"n\": \"20\"}\n{\"n\": 20.5}\n";
    let numbers = folder.file("n.jsonl", numbers);
    for (policy, found) in [("keep", "3"), ("convert", "4")] {
        let index = folder.path(policy);
        let run = spirit(&["ingest", "-d", &index, &numbers, "--on-misfit", policy]);
        assert!(run.out.contains("\"documents\":5,\"refused\":0"), "{}", run.out);
        assert_eq!(spirit(&["count", "-d", &index, "n:20"]).done().trim(), found, "{policy}");
    }
}

#[test]
fn a_strict_schema_takes_nothing_else() {
    let folder = Folder::new();
    let file = folder.file("a.jsonl", LINES);
    let schema = folder.file("s.toml", "[fields]\nts = \"time\"\nviews = \"integer\"\n");
    let index = folder.path("index");
    let run = spirit(&["ingest", "-d", &index, &file, "--schema", &schema, "--strict-schema"]);
    assert!(run.out.contains("\"documents\":2,\"refused\":3"), "{} {}", run.out, run.err);
    assert!(run.err.contains("a.jsonl:1: field \"user.name\""), "{}", run.err);
    let again = spirit(&["ingest", "-d", &index, &file, "--schema", "ts:keyword"]);
    assert_eq!(again.code, 2, "{}", again.err);
    assert!(again.err.contains("--schema ts:keyword"), "{}", again.err);
}

#[test]
fn a_configuration_file_has_fields() {
    let folder = Folder::new();
    let file = folder.file("a.jsonl", "{\"text\": \"red\", \"channel\": \"a b\"}\n");
    let config = "strict-schema = true\n[fields]\nchannel = \"keyword\"\n";
    let config = folder.file("c.toml", config);
    let index = folder.path("index");
    spirit(&["ingest", "-d", &index, &file, "--config", &config]).done();
    let stats = spirit(&["stats", "-d", &index, "--json"]).done();
    let schema = r#""schema":[{"name":"text","kind":"text(standard)"},{"name":"channel","kind":"keyword"}],"strict":true"#;
    assert!(stats.contains(schema), "{stats}");
}

#[test]
fn a_field_is_of_one_kind() {
    let folder = Folder::new();
    let (file, index) = (folder.file("a.txt", "red\n"), folder.path("index"));
    let ingest = |more: &[&str]| spirit(&[&["ingest", "-d", &index, &file], more].concat());
    let run = ingest(&["--schema", "a:integer,a:float"]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("`a` is given twice"), "{}", run.err);

    let both = "schema = \"a:integer\"\n[fields]\n";
    let config = folder.file("twice.toml", format!("{both}a = \"float\"\n"));
    let line = ingest(&["--config", &config]).failed(2);
    assert!(line.contains("twice.toml: `schema` and [fields]: `a` is given twice"), "{line}");
    let config = folder.file("both.toml", format!("{both}b = \"keyword\"\n"));
    ingest(&["--config", &config]).done();
    let stats = spirit(&["stats", "-d", &index, "--json"]).json().remove(0);
    let names: Vec<_> = stats["schema"].as_array().unwrap().iter().map(|f| &f["name"]).collect();
    assert_eq!(names, ["text", "a", "b"]);

    let line = ingest(&["--strict-schema"]).failed(2);
    assert!(line.starts_with("spirit: --strict-schema: the index in "), "{line}");
}

#[test]
fn a_file_that_is_no_toml_is_placed() {
    let folder = Folder::new();
    let (file, index) = (folder.file("a.txt", "red\n"), folder.path("index"));
    let ingest = |more: &[&str]| spirit(&[&["ingest", "-d", &index, &file], more].concat());
    let config = folder.file("c.toml", "store = true\ndram = \n");
    let line = ingest(&["--config", &config]).failed(2);
    assert!(line.starts_with(&format!("spirit: {config}:2: ")), "{line}");
    let schema = folder.file("s.toml", "[fields]\na = \"text\"\nb == 3\n");
    let run = ingest(&["--schema", &schema]);
    assert!(run.code == 2 && run.err.contains(&format!("{schema}:3: ")), "{}", run.err);
}

#[test]
fn text_is_cut_by_the_analyzer_of_the_index() {
    let folder = Folder::new();
    let file = folder.file("a.jsonl", "{\"title\": \"ships\", \"more\": \"ships\"}\n");
    let index = folder.path("index");
    let ingest = |more: &[&str]| spirit(&[&["ingest", "-d", &index, &file], more].concat()).done();
    ingest(&["--analyzer", "english", "--schema", "title:text,own:text(simple)"]);
    // An index that is there: its own analyzer, which is not typed again.
    ingest(&["--schema", "title:text,body:text"]);
    let stats = spirit(&["stats", "-d", &index]).done();
    for (name, analyzer) in
        [("title", "english"), ("own", "simple"), ("more", "english"), ("body", "english")]
    {
        let line = format!("{:<32}text({analyzer})", format!("field {name}"));
        assert!(stats.lines().any(|found| found == line), "{line} in {stats}");
    }
    assert_eq!(spirit(&["count", "-d", &index, "title:ship"]).done(), "2\n");
}

const POSTS: &str = r#"{"key": "a", "text": "red sea", "views": 3, "ts": "2026-11-22T19:00:00Z", "level": "info"}
{"key": "b", "text": "red", "views": 40, "level": "error"}
{"key": "c", "text": "blue", "views": -7, "ts": "2026-11-23T01:00:00Z", "level": "error"}
{"key": "d", "text": "red"}
"#;

#[test]
fn fields_are_searched_for_values_and_sorted_by() {
    let folder = Folder::new();
    let (file, index) = (folder.file("a.jsonl", POSTS), folder.path("index"));
    spirit(&["ingest", "-d", &index, &file, "--schema", "level:keyword"]).done();
    let count = |query: &str| spirit(&["count", "-d", &index, query]).done().trim().to_owned();
    assert_eq!(count("views:[3 TO *]"), "2");
    assert_eq!(count("red views:>=40"), "3");
    assert_eq!(count("ts:2026-11-22"), "1");
    assert_eq!(count("level:IN [info warning]"), "1");
    assert_eq!(count("NOT ts:*"), "2");
    let refused = spirit(&["count", "-d", &index, "views:[a TO b]"]).failed(1);
    assert!(refused.contains("query: column 8: expected a whole number"), "{refused}");
    let search = |order: &str| {
        let run = spirit(&["search", "-d", &index, "--json", "-k", "3", "--order", order, "*"]);
        run.done()
    };
    let out = search("views");
    assert!(out.contains(r#""hits":[{"key":"b","score":null,"sort":40},{"key":"a""#), "{out}");
    let out = search("ts:asc");
    let times = r#"{"key":"a","score":null,"sort":"2026-11-22T19:00:00Z"},{"key":"c","score":null,"sort":"2026-11-23T01:00:00Z"},{"key":"d","score":null,"sort":null}"#;
    assert!(out.contains(times), "{out}");
    let cursor = out.split("\"cursor\":\"").nth(1).unwrap().split('"').next().unwrap();
    let next = ["search", "-d", &index, "--order", "ts:asc", "--after", cursor, "*"];
    let next = spirit(&next).done();
    assert!(next.contains("b\t-\n") && !next.contains("a\t"), "{next}");
    let out = search("level:asc");
    let levels = r#""hits":[{"key":"c","score":null,"sort":"error"},{"key":"b","score":null,"sort":"error"},{"key":"a","score":null,"sort":"info"}"#;
    assert!(out.contains(levels), "{out}");
    let refused = spirit(&["search", "-d", &index, "--order", "text", "*"]).failed(1);
    assert!(refused.contains("field \"text\""), "{refused}");
    let faded = ["search", "-d", &index, "--json", "--order", "bm25", "--recency", "ts:1h", "*"];
    let out = spirit(&faded).done();
    assert!(
        out.contains(r#"{"key":"d","score":0.0,"text""#)
            || out.contains(r#"{"key":"d","score":0.0}"#),
        "{out}"
    );
    let refused = spirit(&["search", "-d", &index, "--recency", "ts:1h", "*"]).failed(2);
    assert!(refused.contains("--recency: needs --order best"), "{refused}");
    let refused = spirit(&["search", "-d", &index, "--order", "views:up", "*"]);
    assert!(refused.code == 2 && refused.err.contains("FIELD:asc"), "{}", refused.err);
}

const MOMENTS: &str = r#"{"text": "x", "at": "2024-02-29T23:30:00Z", "user": "ann", "size": 0.1}
{"text": "x", "at": "2024-03-01T12:00:00Z", "user": "ann", "size": 0.2}
{"text": "x", "at": "2024-05-01T12:00:00Z", "user": "bob", "size": 0.3}
{"text": "x", "user": "bob", "size": 9007199254740993}
"#;

/// Asks all documents of a file of `MOMENTS`.
fn visits(file: &str) -> [&str; 8] {
    let schema = "at:time(milliseconds),user:keyword,size:float";
    ["search", "--in", file, "--schema", schema, "-k", "0", "x"]
}

/// Months are those of a time zone; empty ones, and what is missing, are shown on request.
#[test]
fn calendars_are_those_of_a_time_zone() {
    let folder = Folder::new();
    let file = folder.file("visits.jsonl", MOMENTS);
    let asked = visits(&file);
    let facets = |typed: &str| {
        let answer = spirit(&[&asked[..], &["--facet", typed, "--json"]].concat()).json().remove(0);
        answer["facets"][0]["buckets"].clone()
    };
    let from = |from: &str, count: u64| serde_json::json!({ "from": from, "count": count });
    for month in ["month", "1M", "M", "1month"] {
        let expected = [
            from("2024-02-01T00:00:00Z", 1),
            from("2024-03-01T00:00:00Z", 1),
            from("2024-05-01T00:00:00Z", 1),
        ];
        assert_eq!(facets(&format!("dates:at:{month}")), serde_json::json!(expected), "{month}");
    }
    let missing = serde_json::json!({ "missing": true, "count": 1 });
    let berlin = serde_json::json!([
        from("2024-03-01T00:00:00+01:00", 2),
        from("2024-04-01T00:00:00+02:00", 0),
        from("2024-05-01T00:00:00+02:00", 1),
        missing,
    ]);
    assert_eq!(facets("dates:at:month zone=Europe/Berlin empty missing"), berlin);
    for (wrong, says) in [
        ("dates:at:2M", "one unit"),
        ("dates:at:month zone=Mars/Olympus", "no time zone \"Mars/Olympus\""),
        ("stats:size empty", "has no buckets"),
        ("terms:text", "as a keyword"),
        ("terms:user > histogram:at:5", "holds times"),
        ("sum:at", "have no sum"),
    ] {
        let run = spirit(&[&asked[..], &["--facet", wrong]].concat());
        assert!(run.code != 0 && run.err.contains(says), "{wrong}: {}", run.err);
    }
}

/// Each bucket is divided further, and its numbers are shown.
#[test]
fn facets_within_facets_are_shown() {
    let folder = Folder::new();
    let file = folder.file("visits.jsonl", MOMENTS);
    let asked = visits(&file);
    let typed = "terms:user > sum:size + ranges:size:0.1..0.3,0.3.. > values:at";
    let shown = spirit(&[&asked[..], &["--facet", typed]].concat()).done();
    let ann = "    2  ann\n        sum:size: 0.30000000000000004\n        ranges:size:0.1..0.3,0.3..\n            2  0.1..0.3\n                \
               values:at: 2\n            0  0.3..\n                values:at: 0\n";
    assert!(shown.contains(ann), "{shown}");
    let answer = spirit(&[&asked[..], &["--facet", typed, "--json"]].concat()).json().remove(0);
    let bob = serde_json::json!({ "value": "bob", "count": 2, "facets": [
        { "facet": "sum:size", "value": 9_007_199_254_740_992.0 },
        { "facet": "ranges:size:0.1..0.3,0.3..", "buckets": [
            { "range": "0.1..0.3", "count": 0, "facets": [{ "facet": "values:at", "value": 0 }] },
            { "range": "0.3..", "count": 2, "facets": [{ "facet": "values:at", "value": 1 }] },
        ] },
    ] });
    assert_eq!(answer["facets"][0]["buckets"][1], bob);
}

/// Documents of many members were refused, as reported of elasticsearch 89911 and OpenSearch 14031.
#[test]
fn a_document_of_many_members_goes_in() {
    let folder = Folder::new();
    let index = folder.path("index");
    let texts: String = (0..150).map(|n| format!(",\"t{n}\":\"value {n}\"")).collect();
    let numbers: String = (0..1200).map(|n| format!(",\"n{n}\":{n}")).collect();
    let lines = format!("{{\"text\":\"login\"{texts}}}\n").repeat(3)
        + &format!("{{\"text\":\"login\"{numbers}}}\n").repeat(200);
    let file = folder.file("a.jsonl", lines);
    let run = spirit(&["ingest", "-d", &index, &file]);
    assert_eq!(run.code, 0, "{}", run.err);
    let summary = &run.json()[0];
    assert_eq!((&summary["documents"], &summary["refused"]), (&203.into(), &0.into()));
    assert_eq!(summary["members_left_out"].as_array().map_or(0, Vec::len), 0);
    let count = |query: &str| spirit(&["count", "-d", &index, query]).done().trim().to_owned();
    // The text and 127 more are fields of text, and so are 896 numbers; the others are text of one more.
    for (query, found) in [
        ("login", "203"),
        ("t3:value", "3"),
        ("t126:\"value 126\"", "3"),
        ("_more:\"t127: value 127\"", "3"),
        ("\"t149: value 149\"", "3"),
        ("n895:[895 TO 895]", "200"),
        ("\"n896: 896\"", "200"),
        ("n1199", "200"),
    ] {
        assert_eq!(count(query), found, "{query}");
    }
    let unknown = spirit(&["count", "-d", &index, "n896:896"]).failed(1);
    assert!(unknown.contains("_more"), "{unknown}");
}

#[test]
fn strings_that_documents_bring_are_words_and_keywords() {
    const STRINGS: &str = r#"{"key": "a", "text": "red", "level": "Too late"}
{"key": "b", "text": "red", "level": "Warn"}
{"key": "c", "text": "red", "level": "too late"}
{"key": "d", "text": "red", "level": "Warn", "said": "LONG"}
"#;
    let folder = Folder::new();
    let long = "so long ".repeat(40);
    let file = folder.file("a.jsonl", STRINGS.replace("LONG", &long));
    let count = |query: &str| spirit(&["count", "--in", &file, query]).done().trim().to_owned();
    let asked = ["level:late", "level:warn", "level.keyword:Warn", "level.keyword:warn"];
    assert_eq!(asked.map(count), ["2", "2", "2", "0"]);
    let asked = [r#"level.keyword:"Too late""#, "level.keyword:T*", "level.keyword:[U TO Z]"];
    assert_eq!(asked.map(count), ["1", "1", "2"]);
    // A long value is words alone.
    assert_eq!(["said:long", "said.keyword:so*"].map(count), ["1", "0"]);

    let search = |more: &[&str]| {
        let run = spirit(&[&["search", "--in", &file, "--json", "red"], more].concat());
        run.json().remove(0)
    };
    for level in ["level", "level.keyword"] {
        let answer = search(&["--order", level]);
        let keys: Vec<_> =
            answer["hits"].as_array().unwrap().iter().map(|hit| &hit["key"]).collect();
        assert_eq!(keys.last().unwrap().as_str(), Some("a"), "{answer}");
        let facet = &search(&["--facet", &format!("terms:{level}")])["facets"][0];
        assert_eq!(facet["buckets"][0], serde_json::json!({ "value": "Warn", "count": 2 }));
        assert_eq!(facet["distinct"], 3);
    }

    // A field of this name is asked for by it.
    let own = folder.file("own.jsonl", format!("{STRINGS}{{\"level.keyword\": 5}}\n"));
    let count = |query: &str| spirit(&["count", "--in", &own, query]).done().trim().to_owned();
    assert_eq!(["level.keyword:5", "level:warn"].map(count), ["1", "2"]);

    // A text that is declared is words alone.
    let schema = ["--schema", "level:text"];
    let declared = ["count", "--in", &file, "level.keyword:Warn"];
    let refused = spirit(&[&declared[..], &schema].concat()).failed(1);
    assert!(refused.contains("no such field"), "{refused}");
}

#[test]
fn members_of_an_array_are_of_one_object() {
    const USERS: &str = r#"{"key":"a","text":"red","users":[{"name":"ann","role":"admin","age":3},{"name":"bob","role":"guest"}]}
{"key":"b","text":"red","users":[{"name":"ann lee","role":"guest","geo":[{"at":"sea","m":1},{"at":"hill","m":2}]},{"name":"bob"}]}
{"key":"c","text":"red","users":{"name":"ann","role":"guest"}}
{"key":"d","text":"red","message":[{"name":"ann"},{"role":"guest"}],"users":"ann"}
"#;
    let folder = Folder::new();
    let file = folder.file("a.jsonl", USERS);
    let index = folder.path("index");
    let size = ["--dram", "64MiB", "--nvm", "64MiB", "--store", "yes"];
    spirit(&[&["ingest", "-d", &index, &file], &size[..]].concat()).done();
    let asked = [
        ("users.name:ann AND users.role:guest", "c b"),
        ("+users.name:ann +users.role:admin", "a"),
        ("users.name:bob AND users.role.keyword:guest", "a"),
        ("users.name:ann AND users.name:bob", "b a"),
        ("users.age:3 AND users.name:bob", ""),
        ("users.age:3 AND users.role:admin", "a"),
        ("users.geo.at:sea AND users.geo.m:1", "b"),
        ("users.geo.at:sea AND users.geo.m:2", ""),
        ("users.geo.at:sea AND users.name:bob", ""),
        ("message.name:ann AND message.role:guest", ""),
        ("users:ann", "d"),
    ];
    for (query, expected) in asked {
        let run = spirit(&["search", "-d", &index, "--json", query]);
        let answer = run.json().remove(0);
        let hits = answer["hits"].as_array().unwrap().iter();
        let keys: Vec<_> = hits.map(|hit| hit["key"].as_str().unwrap()).collect();
        assert_eq!(keys.join(" "), expected, "{query}");
    }
    // What is shown has the members, and no more.
    let run = spirit(&[
        "search",
        "-d",
        &index,
        "--json",
        "--fields",
        "users.age,users.name,users.role,users",
        "users.age:3",
    ]);
    let fields = &run.json()[0]["hits"][0]["fields"];
    let names: Vec<_> = fields.as_object().unwrap().keys().collect();
    assert_eq!(names, ["users.age", "users.name", "users.role"]);
    let explained = spirit(&["search", "-d", &index, "--explain", asked[0].0]).done();
    assert!(explained.contains(r#"users:"name:ann role:guest""#), "{explained}");
}

#[test]
fn a_new_field_with_values_of_two_kinds_costs_a_value() {
    let folder = Folder::new();
    let file = folder
        .file("a.jsonl", "{\"key\":\"a\",\"n\":[5,\"x\",2.5,{\"m\":1}],\"m\":[\"x\",true]}\n");
    let index = folder.path("index");
    let size = ["--dram", "64MiB", "--nvm", "64MiB"];
    let run = spirit(&[&["ingest", "-d", &index, &file], &size[..]].concat());
    let summary = run.json().remove(0);
    assert_eq!((&summary["documents"], &summary["refused"]), (&1.into(), &0.into()), "{summary}");
    let count = |query: &str| spirit(&["count", "-d", &index, query]).done().trim().to_owned();
    assert_eq!(["n:5", "n:2.5", "n.m:1", "m:x"].map(count), ["1"; 4]);
}
