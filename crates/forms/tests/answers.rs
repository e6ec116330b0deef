//! Questions to a small index in memory, and their answers as JSON.

use serde_json::{Value, json};
use spirit::search::Highlight;
use spirit::{Index, Reader};
use spirit_forms::answer::Answer;
use spirit_forms::document::{Document, text_names};
use spirit_forms::escape::json_line;
use spirit_forms::no_answer::NoAnswer;
use spirit_forms::question::{Counting, Question};
use spirit_forms::stored::Stored;

const DOCUMENTS: [&str; 3] = [
    r#"{"id": "a", "text": "a grey heron", "views": 3, "tag": ["bird", "lake"]}"#,
    r#"{"id": "b", "text": "a white heron\u001b", "views": 9}"#,
    r#"{"id": "c", "text": "a grey fox", "views": 5}"#,
];

fn index() -> Index {
    let index = Index::builder().dram_bytes(64 << 20).store(true).open().unwrap();
    for json in DOCUMENTS {
        let texts = text_names(&[], index.schema().fields());
        index.add(Document::of_json(json, &texts).unwrap().to_add()).unwrap();
    }
    index
}

/// The answer as JSON, without its time.
fn ask(index: &Index, reader: &mut Reader, text: &str, question: &Question) -> Value {
    let mut out = Vec::new();
    json_line(&mut out, &Answer::of(index, reader, text, question).unwrap()).unwrap();
    assert!(out.iter().rev().skip(1).all(|byte| *byte >= b' '), "one line");
    let mut value: Value = serde_json::from_slice(&out).unwrap();
    assert!(value["took_us"].is_f64());
    value.as_object_mut().unwrap().remove("took_us");
    value
}

#[test]
fn the_newest_documents_answer_a_question_of_a_query_alone() {
    let index = index();
    let mut reader = index.reader().unwrap();
    let found = ask(&index, &mut reader, "heron", &Question::default());
    let fields = json!({ "tag": ["bird", "lake"], "views": 3 });
    let mut first = json!({ "key": "a", "score": null, "text": "a grey heron", "fields": fields });
    let second = json!({ "key": "b", "score": null, "text": "a white heron\u{1b}", "fields": { "views": 9 } });
    let hits = json!([second, first]);
    let expected = json!({ "query": "heron", "count": 2, "exact": true, "hits": hits });
    assert_eq!(found, expected);

    let settings = index.settings();
    let stored = Stored::find(&mut reader, &settings, "a").unwrap();
    first.as_object_mut().unwrap().remove("score");
    assert_eq!(serde_json::to_value(stored).unwrap(), first);
    assert!(Stored::find(&mut reader, &settings, "d").unwrap().is_none());
}

#[test]
fn all_that_is_asked_for_is_in_the_answer() {
    let index = index();
    let mut reader = index.reader().unwrap();
    let question = Question {
        lenient: true,
        order: "views".parse().unwrap(),
        k: 1,
        counting: Counting::No,
        fields: vec!["tag".into()],
        highlight: Some(Highlight::default()),
        facets: vec!["max:views".parse().unwrap()],
        explain: true,
        ..Question::default()
    };
    let mut found = ask(&index, &mut reader, "(grey", &question);
    let plan = found.as_object_mut().unwrap().remove("plan").unwrap();
    assert!(plan.as_array().is_some_and(|executors| executors.len() == 1));
    let cursor = found["cursor"].as_str().unwrap().parse().unwrap();
    let snippets = ["a <em>grey</em> fox"];
    let hit =
        json!({ "key": "c", "score": null, "sort": 5, "text": "a grey fox", "snippets": snippets });
    assert_eq!(found["hits"], json!([hit]));
    assert_eq!(found["facets"], json!([{ "facet": "max:views", "value": 5.0 }]));
    assert_eq!((&found["count"], &found["exact"]), (&json!(1), &json!(false)));
    assert_eq!(found["warnings"].as_array().map(Vec::len), Some(1));

    let next = Question { after: Some(cursor), ..question };
    let found = ask(&index, &mut reader, "(grey", &next);
    assert_eq!(found["hits"][0]["key"], "a");
    assert_eq!(found["hits"][0]["fields"], json!({ "tag": ["bird", "lake"] }));
}

#[test]
fn a_question_that_cannot_be_answered_has_a_reason() {
    let index = index();
    let mut reader = index.reader().unwrap();
    let by_text = Question { order: "none".parse().unwrap(), ..Question::default() };
    for (text, question) in [("(fox", &Question::default()), ("fox", &by_text)] {
        let error = Answer::of(&index, &mut reader, text, question).err();
        assert!(matches!(&error, Some(NoAnswer::Search(_))), "{error:?}");
        assert!(!error.unwrap().to_string().is_empty());
    }
    assert_eq!(reader.count("fox"), Ok(1));
}
