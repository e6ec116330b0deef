//! Documents of all kinds of fields, drawn by a seed.

use serde_json::{Value, json};

use super::chance::Chance;

pub(crate) const LEVELS: [&str; 4] = ["info", "warn", "Error", "debug"];
pub(crate) const ZONES: [&str; 4] = ["UTC", "+01:00", "Europe/Berlin", "America/New_York"];

/// How many words the texts are made of.
const WORDS: u64 = 300;
/// OpenSearch rounds longer lengths: see the table of differences.
const LENGTH_MAX: i64 = 38;
/// 2026-10-01, in seconds.
const START: i64 = 1_790_812_800;
/// Three months, in seconds.
const SPAN: i64 = 92 * 86_400;

/// Returns a word of the vocabulary; those near 0 are frequent.
pub(crate) fn word(number: u64) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu",
        "va",
    ];
    let mut chance = Chance::named(number, "word");
    match number % 40 {
        7 => format!("{}", 10 + number),
        11 => format!("{}'t", SYLLABLES[number as usize % 16]),
        _ => (0..chance.between(1, 3)).map(|_| chance.one(&SYLLABLES)).collect::<String>() + "n",
    }
}

pub(crate) fn any_word(chance: &mut Chance) -> String {
    word(chance.early(WORDS))
}

pub(crate) fn words(chance: &mut Chance, count: i64) -> String {
    let words: Vec<_> = (0..count).map(|_| any_word(chance)).collect();
    words.join(" ")
}

fn text(chance: &mut Chance, least: i64, most: i64) -> String {
    let count = chance.between(least, most);
    let mut text = String::new();
    for _ in 0..count {
        let mut word = any_word(chance);
        if chance.percent(10) {
            word = word.to_uppercase();
        }
        text += &word;
        text += chance.one(&[" ", " ", " ", " ", ", ", ". ", "-", " (", "/"]);
    }
    text
}

pub(crate) fn tag(chance: &mut Chance) -> String {
    format!("t{}", chance.early(30))
}

pub(crate) fn user(chance: &mut Chance) -> String {
    format!("user{:02}", chance.early(60))
}

/// A moment as the documents have it, or a day.
pub(crate) fn moment(chance: &mut Chance) -> String {
    let seconds = START + chance.between(0, SPAN - 1);
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let day = day((seconds - START) / 86_400);
    format!("{day}T{hour:02}:{minute:02}:{second:02}.{:03}Z", chance.below(1000))
}

/// The date that many days behind 2026-10-01, within the three months that documents have.
pub(crate) fn day(days: i64) -> String {
    match days {
        0..31 => format!("2026-10-{:02}", days + 1),
        31..61 => format!("2026-11-{:02}", days - 30),
        _ => format!("2026-12-{:02}", days - 60),
    }
}

/// What both indexes are made with. Other fields are found by themselves.
pub(crate) fn settings() -> Value {
    json!({
        "settings": {"number_of_shards": 1, "number_of_replicas": 0},
        "mappings": {"properties": {
            "tag": {"type": "keyword"},
            "level": {"type": "keyword"},
            "user": {"properties": {"name": {"type": "keyword"}}},
            "price": {"type": "double"},
            "parts": {"type": "nested", "properties": {"kind": {"type": "keyword"}}},
        }},
    })
}

/// The document of that number: its id is its number.
pub(crate) fn document(chance: &mut Chance, number: u64) -> Value {
    let mut document = json!({
        "n": number,
        "title": text(chance, 1, 8),
        "level": chance.one(&LEVELS),
        "at": moment(chance),
        "user": {"name": user(chance), "age": chance.between(18, 70)},
    });
    let some = document.as_object_mut().unwrap();
    if chance.percent(90) {
        some.insert("body".to_owned(), json!(text(chance, 5, LENGTH_MAX - 1)));
    }
    if chance.percent(85) {
        let count = chance.below(4);
        some.insert("tag".to_owned(), (0..count).map(|_| tag(chance)).collect());
    }
    if chance.percent(80) {
        some.insert("views".to_owned(), json!(chance.between(-50, 1000)));
    }
    if chance.percent(10) {
        let both = [chance.between(-50, 1000), chance.between(-50, 1000)];
        some.insert("views".to_owned(), json!(both));
    }
    if chance.percent(80) {
        some.insert("price".to_owned(), json!(chance.between(0, 10_000) as f64 / 100.0));
    }
    if chance.percent(80) {
        some.insert("ok".to_owned(), json!(chance.percent(60)));
    }
    if chance.percent(30) {
        let part = |chance: &mut Chance| json!({"kind": chance.one(&["bolt", "nut", "gear"]), "count": chance.between(1, 5)});
        let count = chance.between(1, 3);
        some.insert("parts".to_owned(), (0..count).map(|_| part(chance)).collect());
    }
    document
}

/// A bulk of that number of documents.
pub(crate) fn bulk(chance: &mut Chance, documents: u64) -> String {
    let line = |number| {
        let document = document(chance, number);
        format!("{{\"index\":{{\"_id\":\"{number}\"}}}}\n{document}\n")
    };
    (0..documents).map(line).collect()
}
