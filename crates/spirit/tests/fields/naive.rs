//! What a document has in its fields, by the simplest means.

use spirit::lab::FieldId;
use spirit::lab::StoredValue;
use spirit::schema::{Field, Schema};
use spirit::{Analyzer, FieldKind};
use spirit_index::ground::ValueKind;
use spirit_index::ground::{TERM_BYTES_MAX, Term, TermKey};
use spirit_oracle as oracle;

/// The keyword that a text is too, under its number; none if it is words alone.
fn keyword<'t>(field: &Field, given: &'t oracle::Value) -> Option<(FieldId, &'t str)> {
    match given {
        oracle::Value::Text(text) if text.len() <= TERM_BYTES_MAX => {
            Some((field.keywords()?, text))
        }
        _ => None,
    }
}

/// What a document has in each of its fields, as the engine's own analyzers see it.
pub(crate) fn terms(schema: &Schema, document: &oracle::Document) -> Vec<(FieldId, Vec<Vec<u8>>)> {
    let mut all: Vec<(FieldId, Vec<Vec<u8>>)> = Vec::new();
    let text = ("text".to_owned(), oracle::Value::Text(document.text.clone()));
    for (name, given) in std::iter::once(&text).chain(&document.fields) {
        let field = schema.by_name(name).unwrap();
        let of_value = match (field.kind, given) {
            (FieldKind::Text(analyzer), oracle::Value::Text(text)) => {
                let mut tokens = Vec::new();
                spirit_text::Tokenizer::new(analyzer, 64 << 10)
                    .for_each(text, |token| tokens.push(token.bytes().to_vec()))
                    .unwrap();
                tokens
            }
            (FieldKind::Keyword, oracle::Value::Text(text)) => {
                vec![text.clone().into_bytes()]
            }
            (FieldKind::Boolean, oracle::Value::Boolean(yes)) => vec![yes.to_string().into()],
            _ => continue,
        };
        let keyword = keyword(field, given).map(|(id, text)| (id, vec![text.into()]));
        for (id, of_value) in [(field.id, of_value)].into_iter().chain(keyword) {
            match all.iter_mut().find(|(of, _)| *of == id) {
                Some((_, terms)) => terms.extend(of_value),
                None => all.push((id, of_value)),
            }
        }
    }
    all
}

/// The values that a row has, keywords as their terms, texts as how many terms they have.
pub(crate) fn values(
    schema: &Schema,
    document: &oracle::Document,
) -> Vec<(FieldId, ValueKind, Vec<u8>)> {
    let terms = terms(schema, document);
    let mut all = Vec::new();
    for (field, terms) in terms.iter().filter(|(field, terms)| field.0 > 0 && !terms.is_empty()) {
        if schema.get(*field).is_some_and(|field| field.kind.is_text()) {
            let count = (terms.len() as u64).to_le_bytes().to_vec();
            all.push((*field, ValueKind::Text, count));
        }
    }
    for (name, given) in &document.fields {
        let field = schema.by_name(name).unwrap();
        let bits = |kind, bits: u64| (field.id, kind, bits.to_le_bytes().to_vec());
        if let Some((id, text)) = keyword(field, given) {
            all.push((id, ValueKind::Keyword, text.into()));
        }
        all.push(match (field.kind, given) {
            (FieldKind::Keyword, oracle::Value::Text(text)) => {
                (field.id, ValueKind::Keyword, text.clone().into_bytes())
            }
            (FieldKind::Integer, oracle::Value::Integer(n)) => {
                bits(ValueKind::Integer, n.cast_unsigned())
            }
            (FieldKind::Float, oracle::Value::Integer(n)) => {
                bits(ValueKind::Float, (*n as f64).to_bits())
            }
            (FieldKind::Float, oracle::Value::Float(n)) => bits(ValueKind::Float, n.to_bits()),
            (FieldKind::Time(unit), oracle::Value::Integer(n)) => {
                bits(ValueKind::Time, unit.milliseconds(*n).unwrap().cast_unsigned())
            }
            (FieldKind::Time(_), oracle::Value::Time(t)) => {
                bits(ValueKind::Time, t.cast_unsigned())
            }
            (FieldKind::Boolean, oracle::Value::Boolean(yes)) => {
                bits(ValueKind::Boolean, (*yes).into())
            }
            _ => continue,
        });
    }
    all.sort_by_key(|(field, ..)| *field);
    all
}

/// Appends the positions of one value.
fn cut(all: &mut Vec<Option<TermKey>>, field: FieldId, analyzer: Analyzer, text: &str) {
    let first = all.len();
    let mut tokenizer = spirit_text::Tokenizer::new(analyzer, 64 << 10);
    let summary = tokenizer.for_each(text, |token| {
        all.resize(first + token.position() as usize, None);
        all.push(Term::new(field, token.bytes()).map(|term| term.key));
    });
    all.resize(first + summary.unwrap().tokens as usize, None);
}

/// What is at each position of a document: nothing, or a term of a field.
pub(crate) fn positions(schema: &Schema, document: &oracle::Document) -> Vec<Option<TermKey>> {
    let key = |field, bytes: &[u8]| Term::new(field, bytes).map(|term| term.key);
    let mut all = Vec::new();
    cut(&mut all, FieldId(0), Analyzer::Simple, &document.text);
    let mut texts: Vec<_> = document
        .fields
        .iter()
        .filter_map(|(name, given)| match (schema.by_name(name)?, given) {
            (Field { id, kind: FieldKind::Text(analyzer), .. }, oracle::Value::Text(text)) => {
                Some((*id, *analyzer, text))
            }
            _ => None,
        })
        .collect();
    texts.sort_by_key(|(id, ..)| *id);
    let mut last = FieldId(0);
    for (id, analyzer, text) in texts {
        if id == last {
            let len = all.len();
            all.resize(len + 100, None);
        }
        last = id;
        cut(&mut all, id, analyzer, text);
    }
    for (name, given) in &document.fields {
        let field = schema.by_name(name).unwrap();
        if let Some((id, text)) = keyword(field, given) {
            all.extend(key(id, text.as_bytes()).map(Some));
        }
        all.extend(match (field.kind, given) {
            (FieldKind::Keyword, oracle::Value::Text(text)) => {
                key(field.id, text.as_bytes()).map(Some)
            }
            (FieldKind::Boolean, oracle::Value::Boolean(yes)) => {
                key(field.id, yes.to_string().as_bytes()).map(Some)
            }
            _ => None,
        });
    }
    all
}

pub(crate) fn stored(schema: &Schema, name: &str, given: &oracle::Value) -> StoredValue {
    match (schema.by_name(name).unwrap().kind, given) {
        (FieldKind::Float, oracle::Value::Integer(n)) => StoredValue::Float(*n as f64),
        (FieldKind::Time(unit), oracle::Value::Integer(n)) => {
            StoredValue::Time(unit.milliseconds(*n).unwrap())
        }
        (_, oracle::Value::Text(text) | oracle::Value::Words(text)) => {
            StoredValue::Text(text.clone())
        }
        (_, oracle::Value::Integer(n)) => StoredValue::Integer(*n),
        (_, oracle::Value::Float(n)) => StoredValue::Float(*n),
        (_, oracle::Value::Time(t)) => StoredValue::Time(*t),
        (_, oracle::Value::Boolean(yes)) => StoredValue::Boolean(*yes),
    }
}
