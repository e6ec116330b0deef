//! The fields of indexes as clients see them: their names, their types, and what can be done with
//! them.

use std::collections::BTreeMap;

use spirit::FieldKind;
use spirit::schema::Schema;

use crate::json::Json;
use crate::query::mapped;
use crate::read::matches;

/// Fields that every document has, with a name that begins with `_`: true if they can be searched.
const OF_EVERY_DOCUMENT: [(&str, bool); 5] =
    [("_id", true), ("_index", false), ("_seq_no", false), ("_source", false), ("_version", false)];
/// The type of a field that an index does not have.
const UNMAPPED: &str = "unmapped";

/// A field that documents brought along, or that a mapping named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its name, with those of the objects that it is in.
    pub name: String,
    /// Its kind.
    pub kind: FieldKind,
    /// True if its whole values are a field too, `.keyword` behind its name.
    pub has_keywords: bool,
}

/// Returns the fields of documents, without those that the server keeps for itself.
pub fn leaves(schema: &Schema) -> impl Iterator<Item = Leaf> {
    let is_own = |name: &str| OF_EVERY_DOCUMENT.iter().any(|(own, _)| *own == name);
    schema.fields().iter().filter(move |field| !is_own(&field.name)).map(|field| Leaf {
        name: field.name.clone(),
        kind: field.kind,
        has_keywords: matches!(field.kind, FieldKind::Text(_)) && field.keywords().is_some(),
    })
}

/// True if a field is one that every document has, such as `_id`.
pub fn is_of_every_document(name: &str) -> bool {
    OF_EVERY_DOCUMENT.iter().any(|(own, _)| *own == name)
}

/// True if a name matches one of some patterns, in which `*` stands for any characters.
pub fn is_asked(name: &str, patterns: &[String]) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

/// What can be done with a field of some indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Capability {
    searchable: bool,
    aggregatable: bool,
    indices: Vec<String>,
}

/// The types of a field, each with what can be done with it.
type Types = BTreeMap<&'static str, Capability>;

/// Returns the answer of `_field_caps` for some indexes, each with its fields.
///
/// ```
/// use spirit::{Document, Index};
/// use spirit_opensearch::fields::capabilities;
///
/// let index = Index::in_memory()?;
/// index.add(Document::new().field("level", 3))?;
/// let schema = index.schema();
/// assert_eq!(
///     capabilities(&[("logs", &schema)], &["lev*".into()], false).to_string(),
///     concat!(
///         r#"{"indices":["logs"],"fields":{"level":{"long":{"type":"long","searchable":true,"#,
///         r#""aggregatable":true}}}}"#
///     ),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn capabilities(
    indexes: &[(&str, &Schema)],
    patterns: &[String],
    include_unmapped: bool,
) -> Json {
    let mut fields: BTreeMap<String, Types> = BTreeMap::new();
    for (index, schema) in indexes {
        for (name, (kind, searchable, aggregatable)) in of_index(schema) {
            if is_asked(&name, patterns) {
                add(fields.entry(name).or_default(), kind, (searchable, aggregatable), index);
            }
        }
    }
    if include_unmapped {
        for types in fields.values_mut() {
            let has =
                |index: &&str| types.values().any(|own| own.indices.iter().any(|i| i == index));
            let without = indexes.iter().map(|(index, _)| *index).filter(|index| !has(index));
            for index in without.collect::<Vec<_>>() {
                add(types, UNMAPPED, (false, false), index);
            }
        }
    }
    let names = indexes.iter().map(|(index, _)| Json::String((*index).to_owned()));
    let fields = fields.into_iter().map(|(name, types)| (name, shown(types)));
    Json::Object(vec![
        ("indices".to_owned(), Json::Array(names.collect())),
        ("fields".to_owned(), Json::Object(fields.collect())),
    ])
}

fn add(types: &mut Types, kind: &'static str, can: (bool, bool), index: &str) {
    let (searchable, aggregatable) = can;
    let new = Capability { searchable, aggregatable, indices: Vec::new() };
    types.entry(kind).or_insert(new).indices.push(index.to_owned());
}

/// Returns the fields of an index by name, with the objects that they are in: type, and whether they
/// can be searched and aggregated.
fn of_index(schema: &Schema) -> BTreeMap<String, (&'static str, bool, bool)> {
    let mut fields = BTreeMap::new();
    for (name, searchable) in OF_EVERY_DOCUMENT {
        fields.insert(name.to_owned(), (name, searchable, false));
    }
    for Leaf { name, kind, has_keywords } in leaves(schema) {
        for (end, _) in name.match_indices('.') {
            fields.entry(name[..end].to_owned()).or_insert(("object", false, false));
        }
        if has_keywords {
            fields.insert(format!("{name}.keyword"), ("keyword", true, true));
        }
        let is_whole = !matches!(kind, FieldKind::Text(_));
        fields.insert(name, (mapped(kind), true, is_whole));
    }
    fields
}

/// Returns the types of a field. Indexes are named if there are several types.
fn shown(types: Types) -> Json {
    let is_several = types.len() > 1;
    let one = |(kind, own): (&'static str, Capability)| {
        let mut members = vec![
            ("type".to_owned(), Json::String(kind.to_owned())),
            ("searchable".to_owned(), Json::Bool(own.searchable)),
            ("aggregatable".to_owned(), Json::Bool(own.aggregatable)),
        ];
        if is_several {
            let indices = own.indices.into_iter().map(Json::String).collect();
            members.push(("indices".to_owned(), Json::Array(indices)));
        }
        (kind.to_owned(), Json::Object(members))
    };
    Json::Object(types.into_iter().map(one).collect())
}
