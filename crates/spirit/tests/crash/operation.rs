//! What is done to an index, and histories of it.

use spirit::{AddError, Index};

use crate::support::Chance;

/// One call, or something that goes on beside the calls that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A document under an automatic key.
    Add(String),
    /// A document under a key of its own.
    Put(String, String),
    /// The document with this key goes.
    Delete(String),
    /// Documents of one call: records of several operations.
    AddAll(Vec<(Option<String>, String)>),
    /// The same as one group with an offset.
    Group(Vec<(Option<String>, String)>, u64),
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
    /// How many documents or deletions it consists of: each takes a sequence number.
    pub(crate) fn parts(&self) -> usize {
        match self {
            Operation::Add(_) | Operation::Put(..) | Operation::Delete(_) => 1,
            Operation::AddAll(documents) | Operation::Group(documents, _) => documents.len(),
            _ => 0,
        }
    }

    /// Does it, if it is one call on the index.
    pub(crate) fn call(&self, index: &Index) -> Result<(), AddError> {
        match self {
            Operation::Add(text) if is_referenced(text) => {
                index.add_from(None, text, text.as_bytes()).map(drop)
            }
            Operation::Put(key, text) if is_referenced(text) => {
                index.add_from(Some(key), text, text.as_bytes()).map(drop)
            }
            Operation::Add(text) => index.add(text).map(drop),
            Operation::Put(key, text) => index.put(key, text),
            // Whether there was one is retention's matter too.
            Operation::Delete(key) => index.delete(key).map(drop),
            Operation::Group(_, offset) => {
                let added = index.add_group(self.documents(), &offset.to_le_bytes());
                added.map(drop).map_err(|failed| failed.error)
            }
            Operation::AddAll(_) => {
                index.add_all(self.documents()).map(drop).map_err(|failed| failed.error)
            }
            Operation::Flush => index.flush(),
            _ => Ok(()),
        }
    }

    /// The documents that it adds, with their keys.
    pub(crate) fn documents(&self) -> Vec<(Option<&str>, &str)> {
        match self {
            Operation::Add(text) => vec![(None, text)],
            Operation::Put(key, text) => vec![(Some(key), text)],
            Operation::AddAll(all) | Operation::Group(all, _) => {
                all.iter().map(|(k, t)| (k.as_deref(), &**t)).collect()
            }
            _ => Vec::new(),
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
    match chance.below(40) {
        0..14 => Operation::Add(text(kind, chance)),
        14..24 => Operation::Put(key(chance), text(kind, chance)),
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
        _ => Operation::Release,
    }
}

fn document(kind: Kind, chance: &mut Chance) -> (Option<String>, String) {
    let key = (chance.below(2) == 0).then(|| key(chance));
    let kind = if kind == Kind::Long { Kind::Short } else { kind };
    (key, text(kind, chance))
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
    // A long text is few words many times: as heavy in the heap, and as easily looked through.
    let times = if kind == Kind::Long && !words.is_empty() {
        ((4000 + chance.below(1500)) as usize / (words.join(" ").len() + 1)).max(1)
    } else {
        1
    };
    vec![words.join(" "); times].join(" ")
}
