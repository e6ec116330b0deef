//! Tests of the schema.

use super::*;
use crate::ARRAYS_MAX;
use crate::kind::TimeUnit;

fn schema() -> Schema {
    Schema::new(Analyzer::Simple, true)
}

#[test]
fn texts_that_documents_add_are_keywords_too() {
    let mut schema = schema();
    let declared = schema.add("declared", FieldKind::Text(Analyzer::English)).unwrap();
    schema.grow([("level", "Warn".into()), ("views", 1.into())]).unwrap();
    let more = schema.add_more();
    let level = schema.by_name("level").unwrap();
    let (words, keywords) = ((level.id, level.kind), level.keywords().unwrap());
    let keywords_of_level = Some((keywords, FieldKind::Keyword));
    assert_eq!(schema.asked("level"), Some(words));
    assert_eq!(schema.asked("level.keyword"), keywords_of_level);
    assert_eq!(schema.asked_whole("level"), keywords_of_level);
    assert_eq!(schema.asked_whole("level.keyword"), keywords_of_level);
    assert_eq!(schema.name_of(level.id).as_deref(), Some("level"));
    assert_eq!(schema.name_of(keywords).as_deref(), Some("level.keyword"));
    assert!(schema.may_hold(keywords, ValueKind::Keyword));
    assert!(!schema.may_hold(keywords, ValueKind::Text));
    let views = schema.by_name("views").unwrap().id;
    for alone in [TEXT, declared, more, views] {
        let field = schema.get(alone).unwrap();
        assert_eq!(
            (field.keywords(), schema.asked(&field.name)),
            (None, Some((alone, field.kind)))
        );
        assert_eq!(schema.asked_whole(&field.name), schema.asked(&field.name));
        assert_eq!(schema.asked(&format!("{}.keyword", field.name)), None);
        assert_eq!(schema.name_of(FieldId(alone.0 | KEYWORDS)), None);
    }
}

#[test]
fn a_field_that_is_called_like_keywords_is_itself() {
    let mut schema = schema();
    schema.grow([("level", "Warn".into()), ("level.keyword", 5.into())]).unwrap();
    let own = schema.by_name("level.keyword").unwrap().id;
    let keywords = schema.by_name("level").unwrap().keywords().unwrap();
    assert_eq!(schema.asked("level.keyword"), Some((own, FieldKind::Integer)));
    assert_eq!(schema.asked_whole("level"), Some((keywords, FieldKind::Keyword)));
}

#[test]
fn a_schema_grows_by_what_documents_bring() {
    let mut schema = schema();
    let document: [(&str, Value<'_>); 5] = [
        ("title", "The sea".into()),
        ("views", 17.into()),
        ("at", "2026-11-22T19:00:00Z".into()),
        ("tags", true.into()),
        ("views", 18.into()),
    ];
    let mut out = Vec::new();
    let refused = schema.encode(document, &mut out).unwrap_err();
    let unknown = FieldError::Unknown { field: "title".into(), value: "\"The sea\"".into() };
    assert_eq!(refused, unknown);
    schema.grow(document).unwrap();
    let kinds: Vec<_> = schema.fields().iter().map(|f| (f.id.0, &*f.name, f.kind)).collect();
    assert_eq!(
        kinds,
        [
            (0, "text", FieldKind::Text(Analyzer::Simple)),
            (1, "title", FieldKind::Text(Analyzer::Simple)),
            (2, "views", FieldKind::Integer),
            (3, "at", FieldKind::Time(TimeUnit::Milliseconds)),
            (4, "tags", FieldKind::Boolean),
        ]
    );
    out.clear();
    schema.encode(document, &mut out).unwrap();
    assert!(schema.admits(&out));
    assert!(!self::schema().admits(&out), "another schema has no such fields");
    let misfit = schema.encode([("views", "17".into())], &mut out).unwrap_err();
    assert_eq!(
        misfit.to_string(),
        "field \"views\" holds values of kind integer; \"17\" is not one"
    );
}

#[test]
fn a_field_of_integers_that_a_document_added_widens() {
    let mut schema = schema();
    schema.add("declared", FieldKind::Integer).unwrap();
    let mut integer = Vec::new();
    assert_eq!(schema.grow([("n", 20.into())]), Ok(true));
    schema.encode([("n", 20.into())], &mut integer).unwrap();
    for kept in [21.into(), 21.0.into(), "20.5".into(), true.into()] {
        assert!(!schema.grows_by([("n", kept)]));
        assert_eq!(schema.grow([("n", kept)]), Ok(false));
    }
    for (name, number) in [("declared", 20.5), ("declared", 1e300)] {
        assert!(!schema.grows_by([(name, number.into())]));
        assert!(schema.check(name, number.into()).is_err());
    }
    let before = schema.by_name("n").unwrap().clone();
    assert!(before.may_widen() && !before.is_widened());
    for number in [20.5, 1e16, -1e300] {
        let mut schema = schema.clone();
        assert!(schema.grows_by([("n", number.into())]));
        assert_eq!(schema.check("n", number.into()), Ok(()));
        assert_eq!(schema.grow([("n", number.into())]), Ok(true));
        assert_eq!(schema.grow([("n", number.into())]), Ok(false));
        let after = schema.by_name("n").unwrap();
        assert_eq!((after.id, after.kind), (before.id, FieldKind::Float));
        assert!(after.is_widened() && !after.may_widen());
        assert_eq!(after.current(FieldValue::Integer(20)), FieldValue::Float(20.0));
        assert!(after.may_hold(ValueKind::Integer) && after.may_hold(ValueKind::Float));
        assert!(schema.admits(&integer), "values from before stay");
        let mut zero = Vec::new();
        schema.encode([("n", (-0.0).into())], &mut zero).unwrap();
        let value = encoded::values(&zero).next().map(|(_, value)| value);
        let Some(FieldValue::Float(zero)) = value else { panic!("{value:?}") };
        assert!(zero.is_sign_positive());
        let read = Schema::new(Analyzer::Simple, true).with_list(&schema.list()).unwrap();
        assert_eq!(read.fields(), schema.fields());
    }
    let read = Schema::new(Analyzer::Simple, true).with_list(&schema.list()).unwrap();
    assert_eq!(read.fields(), schema.fields());
    let strict = Schema::new(Analyzer::Simple, false).with_list(&schema.list()).unwrap();
    assert!(!strict.grows_by([("n", 20.5.into())]));
    assert!(strict.check("n", 20.5.into()).is_err());
    // One document may do both.
    let both = [("m", 1.into()), ("m", 1.5.into())];
    assert_eq!(schema.grow(both), Ok(true));
    assert_eq!(schema.by_name("m").unwrap().kind, FieldKind::Float);
    schema.encode(both, &mut Vec::new()).unwrap();
}

/// Returns the values of [`MORE`].
fn more(schema: &Schema, encoded: &[u8]) -> Vec<String> {
    let more = schema.by_name(MORE).map(|field| field.id);
    let of_more = encoded::values(encoded).filter(|(id, _)| Some(*id) == more);
    let text = |value| match value {
        FieldValue::Text(text) => text.to_owned(),
        other => panic!("{other:?}"),
    };
    of_more.map(|(_, value)| text(value)).collect()
}

#[test]
fn texts_beyond_the_last_text_field_are_in_the_field_of_more() {
    let mut schema = Schema::new(Analyzer::Simple, true);
    let names: Vec<String> = (1..TEXT_FIELDS_MAX + 2).map(|n| format!("t{n}")).collect();
    let values = || names.iter().map(|name| (name.as_str(), Value::from("red fox")));
    assert!(schema.grows_by(values()));
    assert_eq!(schema.grow(values()), Ok(true));
    assert!(!schema.grows_by(values()));
    let texts = schema.fields().iter().filter(|field| field.kind.is_text());
    assert_eq!(texts.count(), TEXT_FIELDS_MAX + 1);
    let mut out = Vec::new();
    schema.encode(values(), &mut out).unwrap();
    assert_eq!(more(&schema, &out), ["t128: red fox", "t129: red fox"]);
    assert!(schema.admits(&out));
    // Other fields have room.
    assert_eq!(schema.grow([("n", 1.into()), ("u", "red".into())]), Ok(true));
    assert_eq!(schema.by_name("n").unwrap().kind, FieldKind::Integer);
    let read = Schema::new(Analyzer::Simple, true).with_list(&schema.list()).unwrap();
    assert_eq!(read.fields(), schema.fields());
    assert!(!read.grows_by([("u", "red".into())]));
}

#[test]
fn values_beyond_the_last_field_are_in_the_field_of_more() {
    let mut schema = schema();
    let names: Vec<String> = (1..FIELDS_MAX + 2).map(|n| format!("n{n}")).collect();
    for name in &names {
        schema.grow([(name.as_str(), 1.into())]).unwrap();
    }
    assert_eq!(schema.fields().len(), FIELDS_MAX + 1);
    let last = [names.last().unwrap().as_str(), "seen"];
    let mut out = Vec::new();
    let values: [(&str, Value<'_>); 4] =
        [(last[0], (-7).into()), ("n1", 5.into()), (last[1], Value::Time(0)), ("x.y", 2.5.into())];
    assert!(!schema.grows_by(values));
    schema.encode(values, &mut out).unwrap();
    let expected = ["n1025: -7", "seen: 1970-01-01T00:00:00Z", "x.y: 2.5"];
    assert_eq!(more(&schema, &out), expected);
    assert!(schema.admits(&out));
    // Not what can be no field, and not in a schema that is strict.
    for name in ["_x", "", "a\n"] {
        assert!(schema.encode([(name, 1.into())], &mut out).is_err(), "{name:?}");
    }
    let strict = Schema::new(Analyzer::Simple, false).with_list(&schema.list()).unwrap();
    assert!(strict.encode([("x.y", 2.5.into())], &mut out).is_err());
}

/// A list with names as long as they may be still has room for the field of more.
#[test]
fn a_list_of_long_names_is_full_before_it_is_too_long() {
    let mut schema = schema();
    let mut added = 0;
    while schema.by_name(MORE).is_none() {
        let name = format!("{added:0>200}");
        schema.grow([(name.as_str(), 1.into())]).unwrap();
        added += 1;
    }
    assert!((480..FIELDS_MAX).contains(&added), "{added}");
    let list = schema.list();
    assert!(list.len() <= LIST_BYTES_MAX && list.len() > LIST_BYTES_MAX - 300);
    assert_eq!(Schema::new(Analyzer::Simple, true).with_list(&list).unwrap().list(), list);
}

#[test]
fn a_strict_schema_does_not() {
    let mut schema = Schema::new(Analyzer::Simple, false);
    schema.add("channel", FieldKind::Keyword).unwrap();
    schema.grow([("views", 1.into())]).unwrap();
    assert_eq!(schema.fields().len(), 2);
    let refused = schema.encode([("views", 1.into())], &mut Vec::new());
    assert!(matches!(refused, Err(FieldError::Unknown { .. })));
}

#[test]
fn names_and_numbers_are_bounded() {
    let mut schema = schema();
    let add = |schema: &mut Schema, name: &str, kind| schema.add(name, kind);
    for name in ["text", "key", "id", "_x"] {
        let refused = add(&mut schema, name, FieldKind::Keyword);
        assert!(matches!(refused, Err(FieldError::Reserved { .. })), "{name}");
    }
    let refused = schema.encode([("text", "a".into())], &mut Vec::new());
    assert!(matches!(refused, Err(FieldError::Reserved { .. })));
    for n in 1..TEXT_FIELDS_MAX {
        add(&mut schema, &format!("t{n}"), FieldKind::Text(Analyzer::Simple)).unwrap();
    }
    let refused = add(&mut schema, "t", FieldKind::Text(Analyzer::English));
    assert!(matches!(refused, Err(FieldError::TooManyTextFields { .. })));
    for n in schema.fields().len()..FIELDS_MAX {
        add(&mut schema, &format!("n{n}"), FieldKind::Integer).unwrap();
    }
    let refused = add(&mut schema, "n", FieldKind::Integer);
    assert!(matches!(refused, Err(FieldError::TooManyFields { .. })));
    let refused = add(&mut schema, "t1", FieldKind::Integer);
    assert!(matches!(refused, Err(FieldError::Known { .. })));
}

#[test]
fn values_are_bounded() {
    let mut schema = schema();
    schema.add("k", FieldKind::Keyword).unwrap();
    let long = "x".repeat(KEYWORD_BYTES_MAX + 1);
    let encode =
        |values: &[(&str, Value<'_>)]| schema.encode(values.iter().copied(), &mut Vec::new());
    assert_eq!(encode(&[("k", long[1..].into())]), Ok(()));
    let too_long = FieldError::KeywordTooLong { field: "k".into(), bytes: long.len() };
    assert_eq!(encode(&[("k", (&long).into())]), Err(too_long));
    assert_eq!(encode(&[("k", "v".into()); VALUES_MAX]), Ok(()));
    let too_many = FieldError::TooManyValues { values: VALUES_MAX + 1 };
    assert_eq!(encode(&[("k", "v".into()); VALUES_MAX + 1]), Err(too_many));
}

#[test]
fn an_array_of_objects_is_no_field() {
    for dynamic in [false, true] {
        let mut schema = Schema::new(Analyzer::Simple, dynamic);
        schema.add("users.name", FieldKind::Keyword).unwrap();
        let values =
            || [("users", Value::Object), ("users.name", "ann".into()), ("users", Value::Object)];
        assert!(schema.grows_by(values()) && schema.check("users", Value::Object).is_ok());
        let mut bytes = Vec::new();
        assert!(schema.encode(values(), &mut bytes).is_err());
        assert_eq!(schema.grow(values()), Ok(true));
        assert!(!schema.grows_by(values()));
        bytes.clear();
        schema.encode(values(), &mut bytes).unwrap();
        assert!(schema.admits(&bytes));
        let (array, _) = schema.arrays().next().unwrap();
        let name = FieldValue::Keyword("ann");
        let expected =
            [(array, FieldValue::Object), (FieldId(1), name), (array, FieldValue::Object)];
        assert!(encoded::values(&bytes).eq(expected));
        // It is asked for only by its members.
        assert!(schema.by_name("users").is_none() && schema.asked("users").is_none());
        assert_eq!(schema.name_of(array).as_deref(), Some("users"));
        assert!(schema.get(array).is_none() && !schema.may_hold(array, ValueKind::Keyword));
        // Another schema has no such array.
        assert!(!Schema::new(Analyzer::Simple, dynamic).admits(&bytes));
        // A field of the same name is another thing.
        if dynamic {
            assert_eq!(schema.grow([("users", Value::Integer(1))]), Ok(true));
            assert_eq!(schema.by_name("users").unwrap().kind, FieldKind::Integer);
        }
        let read = Schema::new(Analyzer::Simple, dynamic).with_list(&schema.list()).unwrap();
        assert_eq!((read.fields(), read.arrays().count()), (schema.fields(), 1));
    }
}

#[test]
fn objects_are_no_values_and_there_is_an_end_to_arrays() {
    let mut schema = Schema::new(Analyzer::Simple, true);
    let names: Vec<String> = (0..=ARRAYS_MAX).map(|n| format!("a{n}")).collect();
    for name in &names[..ARRAYS_MAX] {
        assert_eq!(schema.grow([(&**name, Value::Object)]), Ok(true));
    }
    let beyond = [(&*names[ARRAYS_MAX], Value::Object)];
    let mut bytes = Vec::new();
    assert!(!schema.grows_by(beyond) && schema.encode(beyond, &mut bytes) == Ok(()));
    assert!(bytes.is_empty());
    schema.encode((0..=VALUES_MAX).map(|_| ("a0", Value::Object)), &mut bytes).unwrap();
    assert!(schema.admits(&bytes));
}

#[test]
fn fields_of_sources_may_be_called_as_members_are() {
    let mut schema = Schema::of_sources(Analyzer::Simple, true);
    for name in ["text", "key", "id", "_p", "_PID"] {
        schema.add(name, FieldKind::Keyword).unwrap();
    }
    for name in ["_id", "_source", "_more"] {
        let refused = schema.add(name, FieldKind::Keyword);
        assert!(matches!(refused, Err(FieldError::Reserved { .. })), "{name}");
    }
    let read = schema.emptied().with_list(&schema.list()).unwrap();
    assert_eq!(read.fields(), schema.fields());
    assert_eq!((read.by_name(SOURCE).unwrap().id, read.by_name("text").unwrap().id.0), (TEXT, 1));
    let mut values = Vec::new();
    schema.encode([("text", "a".into()), ("key", "b".into())], &mut values).unwrap();
    assert!(schema.admits(&values));
    let refused = schema.encode([(SOURCE, "a".into())], &mut values);
    assert!(matches!(refused, Err(FieldError::Reserved { .. })));
}
