//! Sources: compression, encodings, formats, folders, records of several lines; and what of them is refused.

mod common;

use std::io::Write;
use std::os::unix::fs::symlink;

use common::{Folder, ingest, spirit, spirit_fed};
use serde_json::Value;

/// As one member of each compression.
fn packed(text: &[u8]) -> [(&'static str, Vec<u8>); 4] {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(text).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(text).unwrap();
    [
        ("gzip", gzip.finish().unwrap()),
        ("zstd", zstd::encode_all(text, 3).unwrap()),
        ("bzip2", bzip2.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
    ]
}

/// Documents and refused records of a summary.
fn counts(out: &str) -> (u64, u64) {
    let summary: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    (summary["documents"].as_u64().unwrap(), summary["refused"].as_u64().unwrap())
}

fn count(file: &str, query: &str) -> String {
    spirit(&["count", "--in", file, query]).done()
}

#[test]
fn the_content_says_the_compression_whatever_the_name_and_from_a_pipe_too() {
    let folder = Folder::new();
    let text = "{\"text\": \"red\"}\n".repeat(2000);
    let end = "{\"text\": \"red end\"}";
    for ((name, mut bytes), (_, last)) in
        packed(text.as_bytes()).into_iter().zip(packed(end.as_bytes()))
    {
        bytes.extend(last);
        for ending in ["jsonl", "jsonl.zst", "ndjson.GZ"] {
            let file = folder.file(&format!("{name}.{ending}"), &bytes);
            assert_eq!(count(&file, "red"), "2001\n", "{file}");
        }
        let out = spirit_fed(&["ingest", "--mode", "volatile", "-"], &bytes).done();
        assert_eq!(counts(&out), (2001, 0), "{name}");
    }
    let plain = folder.file("plain.txt.gz", "red\n");
    assert_eq!(count(&plain, "red"), "1\n");
}

#[test]
fn a_stream_that_is_cut_is_an_error_and_what_came_before_is_in() {
    let folder = Folder::new();
    let lines: String = (0..60_000u64).map(|n| format!("red {} word{n}\n", n * n % 977)).collect();
    for (name, bytes) in packed(lines.as_bytes()) {
        let file = folder.file(name, &bytes[..bytes.len() * 3 / 4]);
        let (index, reason) = (folder.path(&format!("{name}-index")), format!("{name} data"));
        let run = spirit(&["ingest", "-d", &index, &file]);
        let documents = counts(&run.out).0;
        let line = run.failed(1);
        assert!(
            line.contains(&file) && line.contains(&reason) && line.contains("cut off"),
            "{line}"
        );
        // bzip2 has blocks of 100 kB.
        assert!(documents > 10_000, "{name}: {documents}");
        let found = spirit(&["count", "-d", &index, "red"]).done();
        assert_eq!(found, format!("{documents}\n"), "{name}");
    }
    let zip = folder.file("a.txt", b"PK\x03\x04rest");
    let line = spirit(&["count", "--in", &zip, "a"]).failed(1);
    assert!(line.contains("it is a zip archive; unpack it first"), "{line}");
}

#[test]
fn marks_and_encodings_are_taken_off_wherever_files_were_joined() {
    let folder = Folder::new();
    let le = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let be = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let object = "{\"text\":\"größe 日本 red\"}\r\n";
    let (marked, twice) =
        (format!("\u{feff}{object}"), format!("\u{feff}{object}\r\n\u{feff}{object}"));
    let mut members = packed(marked.as_bytes())[0].1.clone();
    members.extend(&packed(marked.as_bytes())[0].1);
    for (name, bytes, expected) in [
        ("utf8.jsonl", twice.clone().into_bytes(), "2\n"),
        ("le.jsonl", le(&twice), "2\n"),
        ("be.jsonl", be(&twice), "2\n"),
        ("members.jsonl.gz", members, "2\n"),
        ("be.jsonl.xz", packed(&be(&twice))[3].1.clone(), "2\n"),
    ] {
        let run = spirit(&["count", "--in", &folder.file(name, bytes), "größe AND red"]);
        assert_eq!(run.err, "", "{name}");
        assert_eq!(run.done(), expected, "{name}");
    }
    let line = folder.file("a.txt", "one\r\n\r\n\u{feff}two\r\nunterminated");
    assert_eq!(count(&line, "*"), "4\n");
}

#[test]
fn blank_lines_are_no_records_also_if_strict() {
    let folder = Folder::new();
    for (name, text) in [
        ("a.jsonl", "\n{\"text\":\"red\"}\n \t\r\n\r\n{\"text\":\"red\"}\n\n"),
        ("a.tsv", "\na\tred\n\n\nb\tred\n"),
        ("a.csv", "\n\nkey,text\n\na,red\n\nb,red\n\n"),
        ("a.logfmt", "\nmsg=red\n\nmsg=red\n"),
        ("a.json", "\n\n[\n\n{\"text\":\"red\"}\n,\n{\"text\":\"red\"}\n\n]\n\n"),
    ] {
        let run = ingest(&["--strict", &folder.file(name, text)]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{name}");
        assert_eq!(counts(&run.out), (2, 0), "{name}");
    }
}

#[test]
fn an_array_is_read_object_by_object_and_a_cut_one_is_an_error() {
    let folder = Folder::new();
    let object = |n: u32| {
        format!("{{\"key\":\"k{n}\",\n  \"text\":\"red ]}} {n}\", \"o\":{{\"n\":[{n}]}}}}")
    };
    let all: Vec<_> = (0..5000).map(object).collect();
    let array = folder.file("a.json", format!("[\n{}\n]", all.join(",\n")));
    assert_eq!(count(&array, "red"), "5000\n");
    assert_eq!(count(&array, "o.n:[4990 TO 4999]"), "10\n");
    let pretty = folder.file("b.json", all[..2].join("\n"));
    assert_eq!(count(&pretty, "red"), "2\n");
    let cut = folder.file("c.json", format!("[{},{}", all[0], &all[1][..20]));
    let run = ingest(&[&cut]);
    assert_eq!((run.code, counts(&run.out)), (3, (1, 1)));
    assert!(run.err.starts_with(&format!("{cut}:2: malformed JSON: ")), "{}", run.err);
    let open = folder.file("d.json", format!("[{},", all[0]));
    let run = ingest(&[&open]);
    assert_eq!((run.code, counts(&run.out)), (3, (1, 1)));
    assert!(run.err.contains("ends within an array"), "{}", run.err);
    let index = folder.path("index");
    let line = spirit(&["ingest", "-d", &index, "--resume", &array]).failed(2);
    assert!(line.contains("--resume: ") && line.contains("JSON lines"), "{line}");
    let mixed = folder.file("e.json", "[1,{\"text\":\"red\"},[{\"text\":\"red\"}]]");
    assert_eq!(counts(&ingest(&[&mixed]).out), (2, 1));
    let piped = spirit_fed(&["ingest", "--mode", "volatile", "-"], all.join(" ").as_bytes());
    assert_eq!(counts(&piped.done()), (5000, 0));
}

#[test]
fn rows_of_a_table_have_the_names_of_the_first() {
    let folder = Folder::new();
    let index = folder.path("index");
    let text = "\u{feff}id;message;price;zip\r\na;\"Tea; \"\"green\"\"\nleaf\";3.5;00501\r\nb;Pot;12;10115\r\n";
    let file = folder.file("a.csv", text);
    let small = ["--dram", "8MiB", "--segment", "128KiB", "--nvm", "32MiB", "--store", "yes"];
    let args = ["ingest", "-d", &index, "--delimiter", ";", "--schema", "zip:keyword", &file];
    spirit(&[&args[..], &small].concat()).done();
    for (query, expected) in
        [("green leaf", "1\n"), ("key:a", "1\n"), ("price:>10", "1\n"), ("zip:00501", "1\n")]
    {
        assert_eq!(spirit(&["count", "-d", &index, query]).done(), expected, "{query}");
    }
    let found = spirit(&["get", "-d", &index, "a"]).done();
    assert_eq!(found, "key: a\nprice: 3.5\nzip: 00501\n\nTea; \"green\"\nleaf\n");
    let tabs = folder.file("b.txt", "key\ttext\nk\tred\n");
    let args = ["count", "--format", "csv", "--delimiter", "tab", "--in", &tabs, "key:k AND red"];
    assert_eq!(spirit(&args).done(), "1\n");
}

#[test]
fn records_of_several_lines_begin_where_the_pattern_matches() {
    let folder = Folder::new();
    let log = "2026-01-01 ERROR boom\n  at frame one\n\n  at frame two\r\n2026-01-02 INFO fine\n";
    let file = folder.file("app.log", log);
    let asked = ["count", "--record-start", r"^\d{4}-", "--in", &file];
    for (query, expected) in [("*", "2\n"), ("+boom +one +two", "1\n"), ("+fine +frame", "0\n")] {
        assert_eq!(spirit(&[&asked[..], &[query]].concat()).done(), expected, "{query}");
    }
    let wrong = ["count", "--record-start", "x", "--format", "jsonl", "--in", &file, "a"];
    let line = spirit(&wrong).failed(2);
    assert!(line.contains("--record-start: "), "{line}");
}

#[test]
fn files_below_a_folder_are_read_in_order_and_hidden_ones_are_passed_over() {
    let folder = Folder::new();
    folder.file("f/b.txt", "two\n");
    folder.file("f/a/z.jsonl", "{\"text\":\"one\"}");
    folder.file("f/a/.swp", "no");
    folder.file("f/.git/x", "no");
    folder.file("f/c", &packed(b"three")[2].1);
    symlink(folder.path("f/b.txt"), folder.path("f/link")).unwrap();
    let index = folder.path("f/index");
    let small = ["--dram", "8MiB", "--segment", "128KiB", "--nvm", "32MiB", "--store", "yes"];
    let rejects = folder.path("f/rejects");
    let top = folder.path("f");
    let args = ["ingest", "-d", &index, &top, "--rejects", &rejects];
    let first = spirit(&[&args[..], &small].concat()).json();
    let number = |name: &str| first[0][name].as_u64();
    let names = ["documents", "files", "hidden", "special"];
    assert_eq!(names.map(number), [Some(3), Some(3), Some(2), Some(1)]);
    assert_eq!(spirit(&["search", "-d", &index, "*"]).done(), "2\tthree\n1\ttwo\n0\tone\n");
    // Neither the index nor the rejects are read.
    assert_eq!(spirit(&args).json()[0]["documents"], 3);
}

#[test]
fn refused_records_are_counted_by_reason_and_kept_to_be_mended() {
    let folder = Folder::new();
    let lines = b"{\"text\":\"red\"}\n{\"text\":\xff}\nnone\n{\"key\":\"\",\"text\":\"a\"}\n{\"a\n{\"text\":\"red\"}\n";
    let (file, rejects) = (folder.file("a.jsonl", lines), folder.path("rejected"));
    let run = ingest(&["--rejects", &rejects, &file]);
    assert_eq!((run.code, run.err.lines().count()), (3, 4), "{}", run.err);
    let summary: Value = serde_json::from_str(&run.out).unwrap();
    let reasons = summary["refusals"].as_array().unwrap();
    let json = reasons.iter().find(|reason| reason["reason"] == "malformed JSON").unwrap();
    assert_eq!(
        (&json["count"], &json["at"]),
        (&2.into(), &[format!("{file}:3"), format!("{file}:5")][..].into())
    );
    assert_eq!(reasons.len(), 3);
    let kept = std::fs::read(&rejects).unwrap();
    assert_eq!(kept, b"{\"text\":\xff}\nnone\n{\"key\":\"\",\"text\":\"a\"}\n{\"a\n");
    let why = std::fs::read_to_string(format!("{rejects}.reasons")).unwrap();
    let why: Vec<_> = why.lines().map(|line| line.split_once('\t').unwrap()).collect();
    let reported: Vec<_> = ["1", "2", "3", "4"].into_iter().zip(run.err.lines()).collect();
    assert_eq!(why, reported);
    // Mended, they go in.
    let mended = String::from_utf8_lossy(&kept).replace('\u{fffd}', "1").replace("none\n", "");
    let mended = mended.replace("\"key\":\"\",", "").replace("{\"a\n", "");
    assert_eq!(count(&folder.file("mended.jsonl", mended), "*"), "2\n");
    // Rows come with the names of their columns.
    let table = folder.file("b.csv", "key,text\na,b\nc\nd,e\nf,g,h\n");
    assert_eq!(ingest(&["--rejects", &rejects, &table]).code, 3);
    assert_eq!(std::fs::read_to_string(&rejects).unwrap(), "key,text\nc\nf,g,h\n");
    // Answers that lack some say so.
    for asked in [&["search", "--in", &file, "red"][..], &["count", "--in", &file, "*"]] {
        let run = spirit(asked);
        assert!(run.code == 3 && run.err.contains("a.jsonl:5: malformed"), "{}", run.err);
        assert!(!run.out.is_empty());
    }
    let line = ingest(&["--rejects", &file, &file]).failed(2);
    assert!(line.contains("--rejects"), "{line}");
    assert_eq!(std::fs::read(&file).unwrap(), lines);
}

#[test]
fn a_member_whose_name_can_be_no_fields_costs_no_document() {
    let folder = Folder::new();
    let line = "{\"text\":\"red\",\"_type\":\"a\",\"n\":1,\"_o\":{\"a\":[1,2]}}\n";
    let file = folder.file("a.jsonl", line.repeat(3000));
    let summary = ingest(&[&file]).json();
    assert_eq!((&summary[0]["documents"], &summary[0]["refused"]), (&3000.into(), &0.into()));
    let left_out = summary[0]["members_left_out"].as_array().unwrap();
    let counted = |name: &str| {
        left_out.iter().find(|member| member["name"] == name).map(|member| member["count"].clone())
    };
    assert_eq!([counted("_type"), counted("_o.a")], [Some(3000.into()), Some(6000.into())]);
    let index = folder.path("index");
    let small = ["--dram", "8MiB", "--segment", "128KiB", "--nvm", "32MiB"];
    spirit(&[&["ingest", "-d", &index, "--resume", &file], &small[..]].concat()).done();
    assert_eq!(spirit(&["count", "-d", &index, "n:1"]).done(), "3000\n");
}

#[test]
fn a_document_without_a_text_has_the_first_member_of_a_usual_name() {
    let folder = Folder::new();
    let lines = "{\"message\":\"red\",\"title\":\"blue\"}\n{\"title\":\"red\",\"log\":\"green\"}\n{\"msg\":[\"red\",\"lines\"]}\n";
    let file = folder.file("a.jsonl", lines);
    assert_eq!(count(&file, "text:red"), "2\n");
    assert_eq!(count(&file, "text:green OR text:lines"), "2\n");
    let asked = ["count", "--text-field", "title,msg", "--in", &file];
    assert_eq!(spirit(&[&asked[..], &["text:blue OR text:red"]].concat()).done(), "3\n");
}

/// Everything that acts on a terminal, in every part of a document.
#[test]
fn nothing_of_a_document_acts_on_a_terminal() {
    let folder = Folder::new();
    let acts = |c: char| {
        c.is_control() && !"\n\t".contains(c) || "\u{202e}\u{2066}\u{200f}\u{2028}".contains(c)
    };
    let bad = "\\u001b[31mred\\u0007 \\u009b2J\\u202e\\u2066\\u200f\\u2028\\u007f";
    let lines = format!(
        "{{\"key\":\"k{bad}\",\"text\":\"fox {bad}\\r\\nfox\",\"tag\":\"t{bad}\",\"b\\u001b\":1}}\n{{\"key\":\"{bad}\n\u{1b}[31mfox\n"
    );
    let (file, index) = (folder.file("a.jsonl", lines), folder.path("index"));
    let small = ["--dram", "8MiB", "--segment", "128KiB", "--nvm", "32MiB", "--store", "yes"];
    let rejects = folder.path("rejects");
    let schema = ["--schema", "tag:keyword", "--ack", "--rejects", &rejects];
    let added = spirit(&[&["ingest", "-d", &index, &file], &small[..], &schema].concat());
    assert_eq!(added.code, 3);
    let key = "k\u{1b}[31mred\u{7} \u{9b}2J\u{202e}\u{2066}\u{200f}\u{2028}\u{7f}";
    let d = ["-d", &index];
    let mut runs = vec![added];
    for args in [
        &["search", "fox"][..],
        &["search", "fox", "--json"],
        &["search", "fox", "--fields", "tag"],
        &["search", "fox", "--facet", "terms:tag"],
        &["search", "fox", "--facet", "terms:tag", "--json"],
        &["search", "fox", "--highlight"],
        &["search", "fox", "--highlight", "--json"],
        &["search", "fox", "--order", "best", "--explain"],
        &["search", "fox", "--order", "tag:asc"],
        &["get", key],
        &["get", key, "--json"],
        &["fields"],
        &["fields", "--json"],
    ] {
        let run = spirit(&[&args[..1], &d, &args[1..]].concat());
        assert_eq!(run.code, 0, "{args:?} {}", run.err);
        runs.push(run);
    }
    for args in [&["get", "\u{1b}[2J\u{202e}"][..], &["search", "tag:\u{1b}\u{202e}:("]] {
        runs.push(spirit(&[&args[..1], &d, &args[1..]].concat()));
    }
    runs.push(spirit(&["delete", "-d", &index, "\u{1b}[2J\u{202e}"]));
    for run in runs {
        let found = [&run.out, &run.err].into_iter().find(|text| text.contains(acts));
        assert_eq!(found, None);
    }
    let reasons = std::fs::read_to_string(format!("{rejects}.reasons")).unwrap();
    assert!(!reasons.contains(acts), "{reasons:?}");
}

/// A record of a web archive, in a gzip member of its own.
fn page(number: u32, answer: &str) -> Vec<u8> {
    let length = answer.len();
    let head = format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n\
         WARC-Target-URI: http://birds.org/{number}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {length}\r\n\r\n"
    );
    packed(format!("{head}{answer}\r\n\r\n").as_bytes())[0].1.clone()
}

#[test]
fn a_web_archive_gives_pages_and_damage_costs_one_of_them() {
    let folder = Folder::new();
    let html = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n";
    let picture = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nheron";
    let pages = [
        page(1, &format!("{html}<title>Birds</title><script>heron</script><p>A grey hero<b>n</b>")),
        page(2, picture),
        page(3, &format!("{html}<p>A heron that is lost")),
        page(4, "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n<p>no heron"),
        page(5, &format!("{html}<p>One more heron")),
    ];
    let mut archive = pages.concat();
    let start = pages[0].len() + pages[1].len();
    archive[start + 60] ^= 0xff;
    let (file, index) = (folder.file("crawl.warc.gz", &archive), folder.path("index"));
    let run = spirit(&["ingest", "-d", &index, "--store", "yes", &file]);
    let summary: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    let numbers = ["documents", "refused", "without_text"].map(|name| summary[name].as_u64());
    assert_eq!(numbers, [Some(2), Some(1), Some(2)], "{summary}");
    let place = format!("{file}:3: a damaged record was passed over");
    let byte = format!("at byte {start}");
    assert_eq!((run.code, run.err.lines().count()), (3, 1), "{}", run.err);
    assert!(run.err.contains(&place) && run.err.contains(&byte), "{}", run.err);
    let run = spirit(&["search", "-d", &index, "--json", "--fields", "url", "grey"]);
    let hit = &run.json()[0]["hits"][0];
    let (key, url) = (&hit["key"], &hit["fields"]["url"]);
    assert_eq!((key, url), (&"1".into(), &"http://birds.org/1".into()), "{hit}");
    let text = spirit(&["get", "-d", &index, "1"]).done();
    assert!(text.contains("Birds") && text.contains("A grey heron"), "{text}");
    assert_eq!(spirit(&["count", "-d", &index, "heron"]).done(), "2\n");
    let line = spirit(&["ingest", "-d", &index, "--resume", &file]).failed(2);
    assert!(line.contains("--resume") && line.contains("crawl.warc.gz"), "{line}");
}

#[test]
fn collections_are_read_whatever_their_name() {
    let folder = Folder::new();
    let trec = "<DOC>\n<DOCNO> FT-1 </DOCNO>\n<TEXT>\nA heron &amp; a wren\n</TEXT>\n</DOC>\n\
                <DOC>\n<TEXT>no number</TEXT>\n</DOC>\n<DOC>\n<DOCNO>FT-2</DOCNO>\nA wren\n</DOC>\n";
    let file = folder.file("ft", trec);
    assert_eq!(spirit(&["count", "--in", &file, "wren"]).out, "2\n");
    let run = spirit(&["ingest", "-d", &folder.path("trec"), &file]);
    assert_eq!(counts(&run.out), (2, 1));
    assert!(run.code == 3 && run.err.contains("ft:7: a document without a DOCNO"), "{}", run.err);
    let lines = "FIELDS_HEADER_INDICATOR###\tdoctitle\tdocdate\tbody\n\
                 Herons\t30-APR-2012 03:25:17.000\tA heron\tis grey\nno tab\n";
    let file = folder.file("wiki", lines);
    let run = spirit(&["ingest", "-d", &folder.path("lines"), &file]);
    assert_eq!(counts(&run.out), (1, 1));
    assert!(run.code == 3 && run.err.contains("wiki:3: expected TITLE<TAB>DATE"), "{}", run.err);
    let found = spirit(&["count", "-d", &folder.path("lines"), "grey AND title:Herons"]).done();
    assert_eq!(found, "1\n");
}
