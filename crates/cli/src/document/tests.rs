//! Records of each format, and the documents that they become.

use super::*;

use std::borrow::Cow;

use spirit::Analyzer;
use spirit::schema::Schema;
use spirit_forms::document::TEXTS;

fn rules(asked: &[&str], schema: &Schema) -> Arc<Rules> {
    let asked: Vec<String> = asked.iter().map(|name| (*name).to_owned()).collect();
    Arc::new(Rules::new(&asked, b',', schema.fields()))
}

fn schema() -> Schema {
    Schema::new(Analyzer::Standard, true)
}

/// Parses a record by rules of its own.
fn parse<'a>(format: Format, names: &str, record: &'a str) -> Result<Document<'a>, Malformed> {
    let rules = rules(&[], &schema());
    let document =
        Parser::new(format, names.as_bytes(), rules)?.parse(&Line::Bytes(record.as_bytes()))?;
    Ok(document.expect("it holds one"))
}

fn document<'a>(key: Option<&'a str>, text: &'a str) -> Result<Document<'a>, Malformed> {
    Ok(Document { key: key.map(Cow::from), text: text.into(), fields: Vec::new() })
}

/// Text and fields.
fn read(rules: &Arc<Rules>, record: &str) -> (String, Vec<String>) {
    let parser = Parser::new(Format::Jsonl, b"", rules.clone()).unwrap();
    let document = parser.parse(&Line::Bytes(record.as_bytes())).unwrap().unwrap();
    (
        document.text.into_owned(),
        document.fields.into_iter().map(|(name, _)| name.into_owned()).collect(),
    )
}

#[test]
fn tabs_part_key_and_text() {
    let parse = |record| parse(Format::Tsv, "", record);
    assert_eq!(parse("k\ta\tb"), document(Some("k"), "a\tb"));
    assert_eq!(parse("k\t"), document(Some("k"), ""));
    assert_eq!(parse("k a b"), Err(Malformed::NoTab));
}

#[test]
fn objects_have_a_text_and_maybe_a_key() {
    let parse = |record| parse(Format::Jsonl, "", record);
    assert_eq!(parse(r#"{"text": "a"}"#), document(None, "a"));
    assert_eq!(parse(r#"{"key": null, "text": "a"}"#), document(None, "a"));
    assert_eq!(parse(r#"{"id": 17, "text": "a\nb", "n": []}"#), document(Some("17"), "a\nb"));
    let with_field = parse(r#"{"n": 3}"#).unwrap();
    assert_eq!((&*with_field.text, with_field.fields), ("", vec![("n".into(), Given::Integer(3))]));
    assert_eq!(parse(r#"{"id": "k", "key": "k", "text": ""}"#), document(Some("k"), ""));
    let contradiction = parse(r#"{"id": "i", "key": "k", "text": ""}"#);
    assert!(
        matches!(contradiction, Err(Malformed::Object(NoDocument::KeyTwice(_)))),
        "{contradiction:?}"
    );
    assert_eq!(parse(r#"{"key": true, "text": "a"}"#), Err(Malformed::Object(NoDocument::Key)));
    assert_eq!(parse(r#"{"text": null}"#), document(None, ""));
    assert_eq!(parse(r#"{"text": 3.5}"#), document(None, "3.5"));
    for line in ["", "[null, null, \"a\"]", "{", r#"{"key": "k"}"#, r#"{"text": "a"} b"#] {
        assert!(matches!(parse(line), Err(Malformed::Object(NoDocument::Json(_)))), "{line}");
    }
}

#[test]
fn the_text_is_the_first_of_the_names_that_a_document_has() {
    let usual = rules(&[], &schema());
    for at in 0..TEXTS.len() {
        // In the order of the names, whatever the order of members is.
        let members: Vec<_> =
            TEXTS[at..].iter().map(|name| format!("\"{name}\":\"{name}\"")).rev().collect();
        let others: Vec<_> = TEXTS[at + 1..].iter().rev().map(|name| (*name).to_owned()).collect();
        let record = format!("{{{}}}", members.join(","));
        assert_eq!(read(&usual, &record), (TEXTS[at].to_owned(), others.clone()));
        let record = record.replacen('{', "{\"text\":null,", 1);
        assert_eq!(read(&usual, &record), (TEXTS[at].to_owned(), others));
    }
    let both = r#"{"message":"m","text":"t","n":1}"#;
    assert_eq!(read(&usual, both), ("t".into(), vec!["message".into(), "n".into()]));
    assert_eq!(read(&usual, r#"{"msg":["a",2],"n":1}"#), ("a\n2".into(), vec!["n".into()]));
    assert_eq!(read(&usual, r#"{"msg":{"a":1}}"#), (String::new(), vec!["msg.a".into()]));
    let asked = rules(&["log.line"], &schema());
    assert_eq!(read(&asked, r#"{"log":{"line":"a"},"msg":"b"}"#), ("a".into(), vec!["msg".into()]));
    assert_eq!(read(&asked, r#"{"text":"a","msg":"b"}"#), ("a".into(), vec!["msg".into()]));
    assert_eq!(read(&asked, r#"{"msg":"b"}"#), (String::new(), vec!["msg".into()]));
    let mut known = schema();
    known.add("title", FieldKind::Keyword).unwrap();
    let known = rules(&[], &known);
    assert_eq!(read(&known, r#"{"title":"b"}"#), (String::new(), vec!["title".into()]));
}

#[test]
fn rows_have_the_names_of_the_first() {
    let row = |record| parse(Format::Csv, " id ,message,n,code,ok", record);
    let document = row("7,\"a, b\",5,007,true").unwrap();
    assert_eq!((document.key.as_deref(), &*document.text), (Some("7"), "a, b"));
    let text = |text: &str| Given::Text(text.to_owned().into());
    let field = |name: &str, given| (name.to_owned().into(), given);
    let expected = vec![
        field("n", Given::Integer(5)),
        field("code", text("007")),
        field("ok", Given::Boolean(true)),
    ];
    assert_eq!(document.fields, expected);
    assert_eq!(row(",,,,").unwrap().fields, []);
    assert_eq!(row("1,2,3"), Err(Malformed::Row { values: 3, columns: 5 }));
    assert_eq!(row("1,\"2"), Err(Malformed::Quote));
    assert!(matches!(
        parse(Format::Csv, "id,id", "1,2"),
        Err(Malformed::Object(NoDocument::KeyTwice(_)))
    ));
}

#[test]
fn a_column_is_what_the_index_says_or_what_it_had() {
    let mut schema = schema();
    schema.add("zip", FieldKind::Keyword).unwrap();
    schema.add("price", FieldKind::Float).unwrap();
    let rules = rules(&[], &schema);
    let parser = Parser::new(Format::Csv, b"n,zip,price", rules).unwrap();
    let first = |record: &'static str| {
        parser
            .parse(&Line::Bytes(record.as_bytes()))
            .unwrap()
            .unwrap()
            .fields
            .into_iter()
            .map(|f| f.1)
            .collect::<Vec<_>>()
    };
    let text = |text: &str| Given::Text(text.to_owned().into());
    assert_eq!(first("1,12345,3.50"), [Given::Integer(1), text("12345"), Given::Float(3.5)]);
    assert_eq!(first("a1,1,7"), [text("a1"), text("1"), Given::Float(7.0)]);
    assert_eq!(first("1,1,x"), [text("1"), text("1"), text("x")]);
}

#[test]
fn only_what_is_written_as_numbers_are_is_one() {
    for number in ["0", "-17", "9223372036854775807", "1.5", "-0.25"] {
        assert!(matches!(guessed(number), Some(Given::Integer(_) | Given::Float(_))), "{number}");
    }
    for word in [
        "",
        "-",
        "007",
        "1.10",
        "+1",
        "1e5",
        "-0",
        "NaN",
        "inf",
        "1_000",
        "9223372036854775808",
        "0x1f",
    ] {
        assert!(!matches!(guessed(word), Some(Given::Integer(_))), "{word}");
        assert!(
            guessed(word)
                .is_none_or(|given| matches!(given, Given::Float(n) if n.to_string() == word)),
            "{word}"
        );
    }
}

#[test]
fn logfmt_is_read() {
    let record = r#"ts=1 level=warn msg="disk \"sda\" full" dry n=2.5 n=3 empty="#;
    let document = parse(Format::Logfmt, "", record).unwrap();
    assert_eq!(&*document.text, "disk \"sda\" full");
    let names: Vec<_> = document.fields.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["ts", "level", "dry", "n", "n"]);
    assert!(matches!(parse(Format::Logfmt, "", "words"), Err(Malformed::Logfmt(_))));
}

#[test]
fn what_is_not_utf8_is_placed() {
    let rules = rules(&[], &schema());
    let parser = Parser::new(Format::Lines, b"", rules).unwrap();
    assert_eq!(parser.parse(&Line::Bytes(b"ab\xffc")), Err(Malformed::Utf8 { byte: 3 }));
}
