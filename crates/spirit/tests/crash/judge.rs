//! Whether what a start has found is what the index may hold.

use std::collections::BTreeSet;

use spirit::lab::{StoredDocument, StoredValue};
use spirit::{HitError, Index, Query, Reader, Search};
use spirit_index::column::Column;
use spirit_index::ground::ValueKind;
use spirit_index::ground::rank_of;
use spirit_index::snapshot::{Segment, Snapshot};

use crate::model::{Document, Model};
use crate::operation::{Operation, TAG, TAGS, WEIGHT, WORDS};
use crate::patient::Expected;
use crate::retention::Floor;
use crate::support::columns::check_columns;

/// The numbers that are asked for at most.
const ASKED: usize = 4;

/// A field's name and its value.
type Field = (String, StoredValue);

/// What is asked for besides everything: words, and keys that were ever given.
pub(crate) struct Questions {
    words: BTreeSet<String>,
    keys: BTreeSet<String>,
}

impl Questions {
    /// Those that `history` may have answers to.
    pub(crate) fn of(history: &[Operation]) -> Questions {
        let mut questions = Questions {
            words: WORDS.iter().chain(&["afterwards"]).map(|word| (*word).to_owned()).collect(),
            keys: BTreeSet::new(),
        };
        for operation in history {
            if let Operation::Delete(key) = operation {
                questions.keys.insert(key.clone());
            }
            for (key, text, _) in operation.documents() {
                questions.keys.extend(key.map(str::to_owned));
                let asked = text.split_whitespace().filter(|word| !word.starts_with(WEIGHT));
                questions.words.extend(asked.map(str::to_owned));
            }
        }
        questions
    }

    /// Which of the models, with what retention has taken of it, `index` holds; or what is wrong. Those that it may hold
    /// differ in the next sequence number alone: a deletion of nothing may have arrived.
    pub(crate) fn judge(&self, index: &Index, expected: &Expected) -> Result<Vec<Model>, String> {
        let reader = &mut index.reader().unwrap();
        let found = ask(reader, "*");
        let floors = &expected.floors;
        let held = |model| held(model, floors, &found);
        let mut models: Vec<Model> = expected.models.iter().filter_map(held).collect();
        let Some(Model { documents, .. }) = models.first() else {
            let models: Vec<String> = expected.models.iter().map(Model::describe).collect();
            let models = models.join("\n");
            return Err(format!(
                "it holds {found:?}, which is not one of\n{models}\nwith {floors:?}"
            ));
        };
        self.ask_all(reader, documents)?;
        ask_fields(index, reader, documents)?;
        ask_numbers(reader, documents)?;
        expect_columns(index, documents)?;
        if index.settings().store {
            expect_contents(reader, documents)?;
            check_columns(index)?;
        }
        // After a start dead rows are counted anew in the background.
        index.settle();
        let counted = index.stats().unwrap().documents;
        if counted != documents.len() as u64 {
            return Err(format!("it counts {counted} documents, not {}", documents.len()));
        }
        let accepted = index.accepted();
        models.retain(|model| model.accepted == accepted);
        if models.is_empty() {
            return Err(format!("it has accepted {accepted} documents: {:?}", expected.models));
        }
        let offset = index.offset().map_err(|error| error.to_string())?;
        models.retain(|model| model.offset.map(|offset| offset.to_le_bytes().to_vec()) == offset);
        if models.is_empty() {
            return Err(format!("its offset is {offset:?}: {:?}", expected.models));
        }
        Ok(models)
    }

    fn ask_all(&self, reader: &mut Reader, documents: &[Document]) -> Result<(), String> {
        for word in &self.words {
            expect(reader, word, documents.iter().filter(|d| d.words.contains(word)))?;
        }
        let living = documents.iter().map(|document| &document.key);
        for key in self.keys.iter().chain(living) {
            let of_key = documents.iter().filter(|d| d.key == *key);
            expect(reader, &format!("key:{key}"), of_key)?;
        }
        Ok(())
    }
}

/// What is left of a model if that is what was `found`: of an executor's documents that may be gone, the oldest went.
fn held(model: &Model, floors: &[Floor], found: &[(u64, String)]) -> Option<Model> {
    let was_found = |d: &Document| found.iter().any(|(sequence, _)| *sequence == d.sequence);
    let is_left = |d: &Document| match floors[d.executor] {
        Floor { gone, .. } if d.sequence < gone => false,
        Floor { going, .. } => d.sequence >= going || was_found(d),
    };
    let documents: Vec<Document> = model.documents.iter().filter(|d| is_left(d)).cloned().collect();
    let newest_first = documents.iter().rev().map(|d| (d.sequence, &d.key));
    if !newest_first.eq(found.iter().map(|(sequence, key)| (*sequence, key))) {
        return None;
    }
    let oldest_went = floors.iter().enumerate().all(|(executor, floor)| {
        let of_executor = model.documents.iter().filter(|d| d.executor == executor);
        of_executor.filter(|d| d.sequence >= floor.gone).map(was_found).is_sorted()
    });
    oldest_went.then(|| Model { documents, ..model.clone() })
}

/// Words of a field are found in it, if any document ever brought the field along.
fn ask_fields(index: &Index, reader: &mut Reader, documents: &[Document]) -> Result<(), String> {
    let schema = index.schema();
    let has = |document: &Document, tag: &str| {
        document.fields.iter().any(|(_, value)| *value == StoredValue::Text(tag.to_owned()))
    };
    for tag in TAGS {
        let expected = documents.iter().rev().filter(|document| has(document, tag));
        let expected: Vec<&str> = expected.map(|document| &*document.key).collect();
        let Some(field) = schema.by_name(TAG) else {
            if expected.is_empty() {
                continue;
            }
            return Err(format!("there is no field for {expected:?}"));
        };
        let query = Query::of_term(field.id, tag.as_bytes()).unwrap();
        let found = loop {
            // Anyone who was stopped for longer than the lease asks again.
            if let Ok(found) = reader.search(&query, Search::newest(1000)).unwrap().keys() {
                break found;
            }
        };
        if found != expected {
            return Err(format!("{TAG}:{tag} finds {found:?}, not {expected:?}"));
        }
    }
    Ok(())
}

/// A number, which a widened field gives back as one with a fraction.
fn as_float(value: &StoredValue) -> Option<f64> {
    match value {
        StoredValue::Integer(number) => Some(*number as f64),
        StoredValue::Float(number) => Some(*number),
        _ => None,
    }
}

/// Numbers are found by their ranges, whatever their field was when they came: those of the newest documents.
fn ask_numbers(reader: &mut Reader, documents: &[Document]) -> Result<(), String> {
    let fields = documents.iter().rev().flat_map(|document| &document.fields);
    let numbers = fields.filter_map(|(name, value)| Some((name, as_float(value)?)));
    for (name, value) in numbers.take(ASKED) {
        let is_as_high = |document: &&Document| {
            let mut own = document.fields.iter().filter(|(other, _)| other == name);
            own.any(|(_, other)| as_float(other).is_some_and(|other| other >= value))
        };
        let query = format!("{name}:>={value}");
        expect(reader, &query, documents.iter().filter(is_as_high))?;
    }
    Ok(())
}

/// The numbers of fields are in the columns of flushed segments.
fn expect_columns(index: &Index, documents: &[Document]) -> Result<(), String> {
    let schema = index.schema();
    let number_in = |segment: &Segment<'_>, local: u32| {
        let of_column = |column: Column<'_>| {
            let bits = column.kind().from_sortable(column.first(rank_of(local))?);
            let name = schema.get(column.field())?.name.clone();
            match column.kind() {
                ValueKind::Integer => Some((name, bits.cast_signed() as f64)),
                ValueKind::Float => Some((name, f64::from_bits(bits))),
                // Texts have one of their lengths.
                _ => None,
            }
        };
        segment.columns().filter_map(of_column).collect::<Vec<_>>()
    };
    for memory in index.memories() {
        let pin = memory.pins().acquire().ok_or("no pin is free")?;
        memory.pins().pin(&pin);
        for segment in Snapshot::take(memory).registered() {
            for local in (0..segment.rows()).filter(|local| !segment.is_dead(*local)) {
                let sequence = segment.sequence(local);
                let document = documents.iter().find(|document| document.sequence == sequence);
                let fields = document.into_iter().flat_map(|document| &document.fields);
                let number = |(name, value): &Field| Some((name.clone(), as_float(value)?));
                let expected: Vec<(String, f64)> = fields.filter_map(number).collect();
                let found = number_in(&segment, local);
                if found != expected {
                    return Err(format!("columns have {found:?} of {document:?}"));
                }
            }
        }
        memory.pins().unpin(&pin);
        memory.pins().release(pin);
    }
    Ok(())
}

/// True if a document has the text and the fields that it came with.
fn is_as_given(found: &StoredDocument, document: &Document) -> bool {
    let is_value = |(found, given): (&Field, &Field)| {
        let numbers = as_float(&found.1).zip(as_float(&given.1));
        found.0 == given.0 && numbers.map_or(found.1 == given.1, |(found, given)| found == given)
    };
    found.text == document.text
        && found.fields.len() == document.fields.len()
        && found.fields.iter().zip(&document.fields).all(is_value)
}

fn expect_contents(reader: &mut Reader, documents: &[Document]) -> Result<(), String> {
    let newest_first: Vec<&Document> = documents.iter().rev().collect();
    let mut at = 0;
    while at < newest_first.len() {
        let hits = reader.search("*", Search::newest(1000)).unwrap();
        if hits.len() != documents.len() {
            return Err(format!("* finds {} documents, not {}", hits.len(), documents.len()));
        }
        while let Some(document) = newest_first.get(at) {
            match hits.get(at).unwrap().stored().cloned() {
                // Anyone who was stopped for longer than the lease asks again.
                Err(HitError::Lease { .. }) => break,
                Err(error) => return Err(error.to_string()),
                Ok(found) if !is_as_given(&found, document) => {
                    return Err(format!("{document:?} is given back as {found:?}"));
                }
                Ok(_) => at += 1,
            }
        }
    }
    Ok(())
}

fn expect<'d>(
    reader: &mut Reader,
    query: &str,
    expected: impl DoubleEndedIterator<Item = &'d Document>,
) -> Result<(), String> {
    let expected: Vec<_> = expected.rev().map(|d| (d.sequence, d.key.clone())).collect();
    let found = ask(reader, query);
    if found != expected {
        return Err(format!("{query} finds {found:?}, not {expected:?}"));
    }
    let count = reader.count(query).unwrap();
    if count != expected.len() as u64 {
        return Err(format!("{query} counts {count}, not {}", expected.len()));
    }
    Ok(())
}

/// Sequence numbers and keys of what `query` finds, newest first.
fn ask(reader: &mut Reader, query: &str) -> Vec<(u64, String)> {
    loop {
        let hits = reader.search(query, Search::newest(1000)).unwrap();
        // A reader that was stopped for longer than the lease asks again.
        if let (Ok(sequences), Ok(keys)) =
            (hits.iter().map(|hit| hit.sequence()).collect::<Result<Vec<_>, _>>(), hits.keys())
        {
            return sequences.into_iter().zip(keys).collect();
        }
    }
}
