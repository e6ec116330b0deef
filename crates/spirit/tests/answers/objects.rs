//! Arrays of objects: clauses about members that are required together match in one object, in every form that segments have.

use proptest::prelude::*;
use spirit::lab::Postings;
use spirit::{Clause, Document, FieldKind, Index, Value};

use crate::support::directory::Directory;
use crate::support::{in_each_form, tiny};

/// A value of a member.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Is {
    Text(&'static str),
    Number(i64),
    Yes(bool),
}

/// An object: its members, and the objects of its own array `near`.
#[derive(Clone, Debug, Default)]
struct Object {
    members: Vec<(&'static str, Is)>,
    near: Vec<Vec<(&'static str, Is)>>,
}

/// A document with objects in the array `o`, or one that is in no array.
#[derive(Clone, Debug)]
struct Given {
    is_array: bool,
    objects: Vec<Object>,
}

const NAMES: [&str; 4] = ["ann", "bob", "ann lee", "Bob Lee"];
const PLACES: [&str; 2] = ["sea", "hill"];

fn members() -> impl Strategy<Value = Vec<(&'static str, Is)>> {
    let member = prop_oneof![
        prop::sample::select(&NAMES).prop_map(|name| ("name", Is::Text(name))),
        prop::sample::select(&["x", "y"]).prop_map(|tag| ("tag", Is::Text(tag))),
        (0i64..3).prop_map(|n| ("n", Is::Number(n))),
        any::<bool>().prop_map(|yes| ("ok", Is::Yes(yes))),
    ];
    prop::collection::vec(member, 0..4)
}

fn near() -> impl Strategy<Value = Vec<(&'static str, Is)>> {
    let member = prop_oneof![
        prop::sample::select(&PLACES).prop_map(|place| ("place", Is::Text(place))),
        (0i64..2).prop_map(|far| ("far", Is::Number(far))),
    ];
    prop::collection::vec(member, 0..3)
}

fn given() -> impl Strategy<Value = Given> {
    let near = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(near(), 1..3)];
    let object = (members(), near).prop_map(|(members, near)| Object { members, near });
    let objects = prop::collection::vec(object, 1..4);
    (any::<bool>(), objects).prop_map(|(is_array, mut objects)| {
        if !is_array {
            objects.truncate(1);
        }
        Given { is_array, objects }
    })
}

fn add(index: &Index, number: usize, given: &Given) {
    let value = |is: Is| match is {
        Is::Text(text) => Value::Text(text),
        Is::Number(number) => Value::Integer(number),
        Is::Yes(yes) => Value::Boolean(yes),
    };
    let key = format!("k{number}");
    let mut names: Vec<String> = Vec::new();
    let mut fields: Vec<Value<'_>> = Vec::new();
    let mut push = |name: String, value| {
        names.push(name);
        fields.push(value);
    };
    for Object { members, near } in &given.objects {
        if given.is_array {
            push("o".into(), Value::Object);
        }
        members.iter().for_each(|(name, is)| push(format!("o.{name}"), value(*is)));
        for members in near {
            push("o.near".into(), Value::Object);
            members.iter().for_each(|(name, is)| push(format!("o.near.{name}"), value(*is)));
        }
    }
    let document = Document::new().key(&key).text("all").field("plain", "sea");
    let fields = names.iter().zip(fields);
    let document = fields.fold(document, |all, (name, value)| all.field(name, value));
    index.add(document).unwrap();
}

/// A clause: a member, and the values of which one suffices.
#[derive(Clone, Debug)]
struct Asks {
    member: &'static str,
    any: Vec<Is>,
    /// Whole values instead of words.
    is_keyword: bool,
}

fn asks() -> impl Strategy<Value = Asks> {
    let plain = |(member, any)| Asks { member, any, is_keyword: false };
    let words = prop::sample::subsequence(vec!["ann", "bob", "lee"], 1..3);
    let names = prop::sample::subsequence(NAMES.to_vec(), 1..3);
    let texts = |all: Vec<&'static str>| all.into_iter().map(Is::Text).collect::<Vec<_>>();
    prop_oneof![
        words.prop_map(move |any| plain(("o.name", texts(any)))),
        names.prop_map(move |any| Asks { member: "o.name", any: texts(any), is_keyword: true }),
        prop::sample::select(&["x", "y"])
            .prop_map(move |tag| plain(("o.tag", vec![Is::Text(tag)]))),
        (0i64..3).prop_map(move |n| plain(("o.n", vec![Is::Number(n)]))),
        any::<bool>().prop_map(move |yes| plain(("o.ok", vec![Is::Yes(yes)]))),
        prop::sample::select(&PLACES).prop_map(move |p| plain(("o.near.place", vec![Is::Text(p)]))),
        (0i64..2).prop_map(move |far| plain(("o.near.far", vec![Is::Number(far)]))),
    ]
}

impl Asks {
    fn is_met_by(&self, is: Is) -> bool {
        self.any.iter().any(|asked| match (*asked, is) {
            (Is::Text(word), Is::Text(text)) if !self.is_keyword => {
                text.to_lowercase().split(' ').any(|other| other == word)
            }
            (asked, is) => asked == is,
        })
    }

    /// True if one of these members meets it. `path` is what their names have in front.
    fn is_met(&self, path: &str, members: &[(&str, Is)]) -> bool {
        let of_path = self.member.strip_prefix(path);
        members.iter().any(|(name, is)| of_path == Some(name) && self.is_met_by(*is))
    }

    fn is_met_in(&self, object: &Object) -> bool {
        self.is_met("o.", &object.members)
            || object.near.iter().any(|near| self.is_met("o.near.", near))
    }

    fn written(&self) -> String {
        let member = format!("{}{}", self.member, if self.is_keyword { ".keyword" } else { "" });
        let one = |is: &Is| match is {
            Is::Text(text) => format!("{member}:\"{text}\""),
            Is::Number(number) => format!("{member}:{number}"),
            Is::Yes(yes) => format!("{member}:{yes}"),
        };
        let all: Vec<_> = self.any.iter().map(one).collect();
        format!("({})", all.join(" OR "))
    }

    fn clause(&self) -> Clause {
        let member = format!("{}{}", self.member, if self.is_keyword { ".keyword" } else { "" });
        Clause::any(self.any.iter().map(|is| match is {
            Is::Text(text) => Clause::value(&member, text),
            Is::Number(number) => Clause::value(&member, number),
            Is::Yes(yes) => Clause::value(&member, yes),
        }))
    }
}

/// True if one of the objects meets, of each member that is asked, one of the clauses.
fn one_has_all<'a>(asked: &[&'a Asks], mut met: impl FnMut(&'a Asks) -> bool) -> bool {
    asked.iter().all(|asks| {
        let same = asked.iter().filter(|other| other.member == asks.member);
        same.into_iter().any(|other| met(other))
    })
}

impl Given {
    fn matches(&self, all: &[Asks]) -> bool {
        let all: Vec<&Asks> = all.iter().collect();
        let found = |asks: &&Asks| self.objects.iter().any(|object| asks.is_met_in(object));
        let near: Vec<_> = self.objects.iter().flat_map(|object| &object.near).collect();
        let of_near: Vec<_> =
            all.iter().copied().filter(|asks| asks.member.starts_with("o.near.")).collect();
        all.iter().all(found)
            && (self.objects.len() < 2
                || self.objects.iter().any(|o| one_has_all(&all, |asks| asks.is_met_in(o))))
            && (near.len() < 2
                || near.iter().any(|near| one_has_all(&of_near, |a| a.is_met("o.near.", near))))
    }
}

fn check(index: &Index, documents: &[Given], queries: &[Vec<Asks>]) {
    let mut reader = index.reader().unwrap();
    for asked in queries {
        let expected: Vec<String> = (0..documents.len())
            .rev()
            .filter(|number| documents[*number].matches(asked))
            .map(|number| format!("k{number}"))
            .collect();
        let written: Vec<_> = asked.iter().map(Asks::written).collect();
        let text = written.join(" AND ");
        let clause = Clause::all(asked.iter().map(Asks::clause));
        let newest = spirit::Search::newest(documents.len().max(1));
        let found = reader.search(text.as_str(), newest.clone()).unwrap().keys().unwrap();
        assert_eq!(found, expected, "{text}");
        assert_eq!(reader.count(text.as_str()).unwrap(), expected.len() as u64, "{text}");
        let built = reader.search(&clause, newest).unwrap().keys().unwrap();
        assert_eq!(built, expected, "{clause}");
        // Other clauses and scores change nothing.
        let best = spirit::Search::best(documents.len().max(1));
        let with_plain =
            format!("plain:sea {}", written.iter().map(|w| format!("+{w} ")).collect::<String>());
        let mut best = reader.search(with_plain.as_str(), best).unwrap().keys().unwrap();
        best.sort();
        let mut sorted = expected;
        sorted.sort();
        assert_eq!(best, sorted, "{with_plain}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn members_are_of_one_object(
        documents in prop::collection::vec(given(), 1..30),
        queries in prop::collection::vec(prop::collection::vec(asks(), 1..4), 1..8),
        packed: bool,
        strict: bool,
    ) {
        let directory = Directory::new();
        let options = || {
            let postings = if packed { Postings::Packed } else { Postings::Raw };
            let options = tiny(1, 16 << 20).directory(directory.path()).postings(postings);
            let options = options.nvm_bytes(16 << 20).store(true);
            if !strict {
                return options;
            }
            let text = FieldKind::Text(spirit::Analyzer::Simple);
            let fields = [
                ("plain", text),
                ("o.name", text),
                ("o.tag", FieldKind::Keyword),
                ("o.n", FieldKind::Integer),
                ("o.ok", FieldKind::Boolean),
                ("o.near.place", FieldKind::Keyword),
                ("o.near.far", FieldKind::Float),
            ];
            fields.into_iter().fold(options.strict(true), |all, (name, kind)| all.field(name, kind))
        };
        let queries: Vec<Vec<Asks>> = queries
            .into_iter()
            .map(|asked| {
                // A field of text that was declared has no keywords.
                asked.into_iter().filter(|asks| !(strict && asks.is_keyword)).collect()
            })
            .filter(|asked: &Vec<Asks>| !asked.is_empty())
            .collect();
        let index = options().open().unwrap();
        if !strict {
            // Fields that no document brings cannot be asked.
            let all = [
                ("o.name", Is::Text("none")),
                ("o.tag", Is::Text("none")),
                ("o.n", Is::Number(-1)),
                ("o.ok", Is::Yes(true)),
            ];
            let members = all.map(|(name, is)| (&name[2..], is)).to_vec();
            let near = vec![("place", Is::Text("none")), ("far", Is::Number(-1))];
            let first = Given { is_array: true, objects: vec![Object { members, near: vec![near] }] };
            add(&index, usize::MAX, &first);
            index.delete(&format!("k{}", usize::MAX)).unwrap();
        }
        documents.iter().enumerate().for_each(|(number, given)| add(&index, number, given));
        let index = in_each_form(index, options, |index| check(index, &documents, &queries));
        index.close().unwrap();
        let report = Index::check(directory.path()).unwrap();
        prop_assert!(report.is_sound(), "{report}");
    }
}

/// An object of many words, between others: the gap is longer.
#[test]
fn long_objects_are_told_apart() {
    let words: String = (0..30_000).map(|n| format!("w{n} ")).collect();
    let index = tiny(1, 256 << 20).segment_bytes(16 << 20).open().unwrap();
    let document = Document::new().text("all");
    let document = document.field("o", Value::Object).field("o.a", words.as_str());
    let document = document.field("o.b", "first").field("o", Value::Object);
    index.add(document.field("o.a", "short").field("o.b", "second")).unwrap();
    let mut reader = index.reader().unwrap();
    for flushed in [false, true] {
        for (query, count) in [
            ("o.a:w0 AND o.b:first", 1),
            ("o.a:w29999 AND o.b:first", 1),
            ("o.a:w29999 AND o.b:second", 0),
            ("o.a:w0 AND o.b:second", 0),
            ("o.a:short AND o.b:second", 1),
            ("o.a:short AND o.b:first", 0),
        ] {
            assert_eq!(reader.count(query).unwrap(), count, "{query}, flushed: {flushed}");
        }
        index.flush().unwrap();
    }
}

/// As many objects as a document may have values, and members of many names.
#[test]
fn many_objects_are_told_apart() {
    let index = tiny(1, 64 << 20).segment_bytes(4 << 20).open().unwrap();
    let numbers: Vec<String> = (0..2000).map(|n| format!("n{n}")).collect();
    let document = numbers.iter().fold(Document::new().text("all"), |all, number| {
        all.field("o", Value::Object).field("o.a", number.as_str()).field("o.b", number.as_str())
    });
    index.add(document).unwrap();
    let mut reader = index.reader().unwrap();
    for n in [0, 1, 1000, 1999] {
        assert_eq!(reader.count(&*format!("o.a:n{n} AND o.b:n{n}")).unwrap(), 1);
        assert_eq!(reader.count(&*format!("o.a:n{n} AND o.b:n{}", (n + 1) % 2000)).unwrap(), 0);
    }
}

/// Without positions, and beyond the number of arrays, clauses are about the document.
#[test]
fn other_documents_are_found_as_a_whole() {
    let two = |array: &str, index: &Index| {
        let [a, b] = ["a", "b"].map(|member| format!("{array}.{member}"));
        let document = Document::new().text("all").field(array, Value::Object).field(&a, "x");
        index.add(document.field(array, Value::Object).field(&b, "y")).unwrap();
    };
    let index = tiny(1, 16 << 20).positions(false).open().unwrap();
    two("o", &index);
    assert_eq!(index.reader().unwrap().count("o.a:x AND o.b:y").unwrap(), 1);
    let index = tiny(1, 16 << 20).open().unwrap();
    for n in 0..256 {
        index.add(Document::new().text("all").field(&format!("p{n}"), Value::Object)).unwrap();
    }
    two("o", &index);
    assert_eq!(index.reader().unwrap().count("o.a:x AND o.b:y").unwrap(), 1);
    assert_eq!(index.schema().arrays().count(), 256);
}

/// Objects without values, and arrays within arrays without end, cost no positions and no memory.
#[test]
fn hostile_objects_are_values_of_the_document() {
    let index = tiny(1, 64 << 20).segment_bytes(4 << 20).open().unwrap();
    let document = Document::new().text("empty").field("o.a", "x");
    let document = (0..200_000).fold(document, |all, _| all.field("o", Value::Object));
    index.add(document.field("o.b", "y")).unwrap();
    // Each array has two objects, of which the first has all that follow.
    let arrays: Vec<String> = (1..97).map(|depth| vec!["d"; depth].join(".")).collect();
    let (deepest, text) = (format!("{}.text", arrays.last().unwrap()), "sea hill ".repeat(2000));
    let mut document = Document::new().text("deep");
    let members: Vec<String> = arrays.iter().map(|array| format!("{array}.m")).collect();
    document = arrays.iter().fold(document, |all, array| all.field(array, Value::Object));
    document = document.field(&deepest, text.as_str());
    let inner_first = arrays.iter().zip(&members).rev();
    document = inner_first
        .fold(document, |all, (array, member)| all.field(array, Value::Object).field(member, 1));
    index.add(document).unwrap();
    let mut reader = index.reader().unwrap();
    for flushed in [false, true] {
        assert_eq!(reader.count("o.a:x AND o.b:y").unwrap(), 1, "flushed: {flushed}");
        let both = format!("{deepest}:sea AND {}:1", members.last().unwrap());
        assert_eq!(reader.count(both.as_str()).unwrap(), 1, "flushed: {flushed}");
        // Of the outermost array: the text is in the first object, and the number in the second.
        let apart = format!("{deepest}:sea AND d.m:1");
        assert_eq!(reader.count(apart.as_str()).unwrap(), 0, "flushed: {flushed}");
        index.flush().unwrap();
    }
}
