//! What is done to an index, and histories of it.

use spirit::lab::StoredValue;
use spirit::{Batch, Clause, Document, Index, Search, WriteError};

use crate::support::Chance;

/// A document: its key, its text, and the number that its fields follow from; 0: it has none.
pub(crate) type Given = (Option<String>, String, u64);

/// The words that are in a field.
pub(crate) const TAGS: [&str; 4] = ["t0", "t1", "t2", "atagthatdoesnotfitinakey"];
/// The field that they are in.
pub(crate) const TAG: &str = "tag";

/// The fields of that number: one with a word that may be asked for, and one of many that are new at some time. Of four
/// numbers one has a fraction, so that a field of whole numbers is widened.
pub(crate) fn fields_of(number: u64) -> Vec<(String, StoredValue)> {
    if number == 0 {
        return Vec::new();
    }
    let tag = TAGS[(number % 4) as usize].to_owned();
    let value = match number % 4 {
        3 => StoredValue::Float(number as f64 + 0.5),
        _ => StoredValue::Integer(number as i64),
    };
    vec![(TAG.to_owned(), StoredValue::Text(tag)), (format!("n{}", number % 11), value)]
}

/// Does something with documents as they are given to the index.
fn with_documents<R>(
    all: &[(Option<&str>, &str, u64)],
    work: impl FnOnce(&[Document<'_>]) -> R,
) -> R {
    let fields: Vec<_> = all.iter().map(|(.., number)| fields_of(*number)).collect();
    let documents = all.iter().zip(&fields);
    let documents = documents.map(|((key, text, _), fields)| given(*key, text, fields));
    work(&documents.collect::<Vec<_>>())
}

fn given<'a>(
    key: Option<&'a str>,
    text: &'a str,
    fields: &'a [(String, StoredValue)],
) -> Document<'a> {
    let document = key.map_or(Document::new(), |key| Document::new().key(key)).text(text);
    fields.iter().fold(document, |document, (name, value)| match value {
        StoredValue::Text(text) => document.field(name, text),
        StoredValue::Integer(number) => document.field(name, *number),
        StoredValue::Float(number) => document.field(name, *number),
        other => unreachable!("no field has {other:?}"),
    })
}

/// One call, or something that goes on beside the calls that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A document under an automatic key.
    Add(String),
    /// A document under a key of its own.
    Put(String, String),
    /// The document with this key goes.
    Delete(String),
    /// A document with fields, which its number says, under a key of its own or none.
    Fielded(Option<String>, String, u64),
    /// Documents of one call, some with fields: records of several operations.
    AddAll(Vec<Given>),
    /// The same as one group with an offset.
    Group(Vec<Given>, u64),
    /// Operations of one call, each under its condition.
    Apply(Vec<Conditioned>),
    /// The segment being filled is flushed and engraved.
    Flush,
    /// The same on another thread: what follows does not wait for it.
    FlushAside,
    /// A reader keeps what it finds.
    Hold,
    /// It lets go.
    Release,
    /// The index is closed and opened.
    Reopen,
}

impl Operation {
    /// How many documents or deletions it consists of. Each takes a sequence number, if its condition
    /// holds.
    pub(crate) fn parts(&self) -> usize {
        match self {
            Operation::Add(_) | Operation::Put(..) | Operation::Fielded(..) => 1,
            Operation::Delete(_) => 1,
            Operation::AddAll(documents) | Operation::Group(documents, _) => documents.len(),
            Operation::Apply(all) => all.len(),
            _ => 0,
        }
    }

    /// Does it, if it is one call on the index.
    pub(crate) fn call(&self, index: &Index) -> Result<(), WriteError> {
        match self {
            Operation::Add(text) if is_referenced(text) => {
                index.add(Document::from(text).place(text.as_bytes())).map(drop)
            }
            Operation::Put(key, text) if is_referenced(text) => {
                index.put(key, Document::from(text).place(text.as_bytes()))
            }
            Operation::Add(text) => index.add(text).map(drop),
            Operation::Put(key, text) => index.put(key, text),
            // Whether there was one is retention's matter too.
            Operation::Delete(key) => index.delete(key).map(drop),
            Operation::Fielded(_, text, _) => with_documents(&self.documents(), |documents| {
                let document = documents[0].clone();
                let document = match is_referenced(text) {
                    true => document.place(text.as_bytes()),
                    false => document,
                };
                index.add(document).map(drop)
            }),
            Operation::Group(_, offset) => with_documents(&self.documents(), |documents| {
                index.write(Batch::from_iter(documents).offset(&offset.to_le_bytes()))
            }),
            Operation::AddAll(_) => {
                with_documents(&self.documents(), |documents| match index.add_all(documents) {
                    Err(WriteError::AfterSome { error, .. }) => Err(*error),
                    other => other.map(drop),
                })
            }
            Operation::Flush => index.flush(),
            _ => Ok(()),
        }
    }

    /// The documents that it adds, with their keys, and the numbers that their fields follow from.
    pub(crate) fn documents(&self) -> Vec<(Option<&str>, &str, u64)> {
        match self {
            Operation::Add(text) => vec![(None, text, 0)],
            Operation::Put(key, text) => vec![(Some(key), text, 0)],
            Operation::Fielded(key, text, fields) => vec![(key.as_deref(), text, *fields)],
            Operation::AddAll(all) | Operation::Group(all, _) => {
                all.iter().map(|(k, t, fields)| (k.as_deref(), &**t, *fields)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A document that is put under a key, or a key that is deleted, under a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conditioned {
    pub(crate) key: String,
    /// None: the key's document goes.
    pub(crate) text: Option<String>,
    pub(crate) condition: Condition,
    /// True if the condition held. That is retention's matter too, so the index says it.
    pub(crate) was_applied: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Always,
    Absent,
    /// The key has the document that it had before the call.
    Known,
}

/// Applies operations, and returns them with what became of them.
pub(crate) fn apply(index: &Index, all: &[Conditioned]) -> Vec<Conditioned> {
    let searcher = index.searcher();
    let known = |key: &str| {
        let hits = searcher.search(Clause::key(key), Search::newest(1)).unwrap();
        hits.get(0).map(|hit| hit.sequence().unwrap())
    };
    let operations = all.iter().map(|one| match one.condition {
        Condition::Always => one.operation(),
        Condition::Absent => one.operation().if_absent(),
        Condition::Known => one.operation().if_sequence(known(&one.key).unwrap_or(u64::MAX)),
    });
    let operations: Vec<_> = operations.collect();
    let was_applied = |result| match result {
        Ok(_) => true,
        Err(WriteError::Conflict { .. }) => false,
        Err(error) => panic!("{error}"),
    };
    let results = index.apply(&operations).into_iter().map(was_applied);
    let applied = |(one, was_applied): (&Conditioned, bool)| one.clone().with(was_applied);
    all.iter().zip(results).map(applied).collect()
}

impl Conditioned {
    pub(crate) fn new(key: &str, text: Option<&str>, condition: Condition) -> Conditioned {
        let text = text.map(str::to_owned);
        Conditioned { key: key.to_owned(), text, condition, was_applied: false }
    }

    fn with(self, was_applied: bool) -> Conditioned {
        Conditioned { was_applied, ..self }
    }

    fn operation(&self) -> spirit::Operation<'_> {
        match &self.text {
            Some(text) => spirit::Operation::put(&self.key, text),
            None => spirit::Operation::delete(&self.key),
        }
    }
}

/// Whether the log only refers to a text: then the place where it can be read again is the text itself.
fn is_referenced(text: &str) -> bool {
    text.len() <= 64 && text.len().is_multiple_of(3)
}

/// Words of a text that are shown.
const SHOWN: usize = 8;

/// A history in one line, long texts by their beginning.
pub(crate) fn describe(history: &[Operation]) -> String {
    let short = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.as_slice() {
            [first @ .., _] if words.len() > SHOWN => {
                format!("{} .. {} words", first[..SHOWN].join(" "), words.len())
            }
            _ => text.to_owned(),
        }
    };
    let one = |operation: &Operation| match operation {
        Operation::Add(text) => format!("Add({})", short(text)),
        Operation::Put(key, text) => format!("Put({key}, {})", short(text)),
        Operation::Fielded(key, text, fields) => {
            format!("Fielded({key:?}, {}, {fields})", short(text))
        }
        other => format!("{other:?}"),
    };
    let all: Vec<String> =
        history.iter().enumerate().map(|(n, o)| format!("{n} {}", one(o))).collect();
    all.join(", ")
}

/// What a random history is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Short documents, many replaced and deleted.
    Short,
    /// Documents that fill the log and the heap: laps and retention.
    Long,
    /// A flush after nearly every document: more segments than there are slots.
    Flushing,
}

/// Keys that are given: inline, stored, and numbers that an automatic key will meet.
const KEYS: [&str; 6] = ["k0", "k1", "k2", "akeythatisstored", "7", "12"];
/// Words, one of which is longer than a dictionary record holds.
pub(crate) const WORDS: [&str; 8] =
    ["w0", "w1", "w2", "w3", "w4", "w5", "averylongwordthatdoesnotfitinakey", "longwordsagain"];

/// Words of a long text that no other has,
const WORDS_OF_ITS_OWN: usize = 24;
/// which begin with this, and which nobody asks for.
pub(crate) const WEIGHT: &str = "weight";

/// A random history.
pub(crate) fn history(kind: Kind, seed: u64) -> Vec<Operation> {
    let chance = &mut Chance::new(seed);
    let (length, flushes) = match kind {
        Kind::Short => (12 + chance.below(30), 12),
        Kind::Long => (110 + chance.below(60), 3),
        Kind::Flushing => (140 + chance.below(40), 50),
    };
    (0..length).map(|_| operation(kind, flushes, chance)).collect()
}

fn operation(kind: Kind, flushes: u64, chance: &mut Chance) -> Operation {
    let roll = chance.below(100);
    if roll < flushes {
        return if chance.below(3) == 0 { Operation::FlushAside } else { Operation::Flush };
    }
    match chance.below(43) {
        0..11 => Operation::Add(text(kind, chance)),
        11..19 => Operation::Put(key(chance), text(kind, chance)),
        19..24 => {
            let (key, text, fields) = document(kind, chance);
            Operation::Fielded(key, text, fields.max(1))
        }
        24..32 => Operation::Delete(any_key(chance)),
        32..36 => {
            let documents: Vec<_> =
                (0..2 + chance.below(4)).map(|_| document(kind, chance)).collect();
            match chance.below(2) {
                0 => Operation::AddAll(documents),
                _ => Operation::Group(documents, chance.below(u64::MAX)),
            }
        }
        36 => Operation::Reopen,
        37 => Operation::Hold,
        38..41 => {
            Operation::Apply((0..1 + chance.below(6)).map(|_| conditioned(kind, chance)).collect())
        }
        _ => Operation::Release,
    }
}

fn conditioned(kind: Kind, chance: &mut Chance) -> Conditioned {
    let condition = match chance.below(4) {
        0 => Condition::Always,
        1 => Condition::Absent,
        _ => Condition::Known,
    };
    let kind = if kind == Kind::Long { Kind::Short } else { kind };
    let text = (chance.below(3) > 0).then(|| text(kind, chance));
    Conditioned::new(&any_key(chance), text.as_deref(), condition)
}

fn document(kind: Kind, chance: &mut Chance) -> Given {
    let key = (chance.below(2) == 0).then(|| key(chance));
    let kind = if kind == Kind::Long { Kind::Short } else { kind };
    let fields = if chance.below(3) == 0 { chance.below(1000) } else { 0 };
    (key, text(kind, chance), fields)
}

fn key(chance: &mut Chance) -> String {
    KEYS[chance.below(KEYS.len() as u64) as usize].to_owned()
}

/// A key that was given, or an automatic one.
fn any_key(chance: &mut Chance) -> String {
    if chance.below(2) == 0 { key(chance) } else { chance.below(20).to_string() }
}

fn text(kind: Kind, chance: &mut Chance) -> String {
    let word = |chance: &mut Chance| WORDS[chance.below(WORDS.len() as u64) as usize];
    let words: Vec<&str> = (0..chance.below(5)).map(|_| word(chance)).collect();
    if kind != Kind::Long || words.is_empty() {
        return words.join(" ");
    }
    // A long text is few words many times, as easily looked through, and some that no other text has: these are heavy.
    let times = (3000 + chance.below(1500)) as usize / (words.join(" ").len() + 1);
    let own = chance.below(u64::MAX);
    let own = (0..WORDS_OF_ITS_OWN).map(|word| format!("{WEIGHT}{own:x}w{word}"));
    vec![words.join(" "); times].into_iter().chain(own).collect::<Vec<_>>().join(" ")
}
