//! The schema: the list of fields.

use std::collections::HashMap;

use spirit_index::ground::{FieldId, ValueKind};
use spirit_text::Analyzer;

use crate::encoded;
use crate::error::{FieldError, shown, whole};
use crate::kind::FieldKind;
use crate::limits::{FIELDS_MAX, LIST_BYTES_MAX, TEXT_FIELDS_MAX, list_bytes};
use crate::name;
use crate::value::{FieldValue, Value};
use crate::{KEYWORD_BYTES_MAX, VALUES_MAX};

/// The field of a document's text.
pub const TEXT: FieldId = FieldId::TEXT;
/// The name of the field of what is beyond: values of fields for which a schema that documents add to
/// has no room. It is text, `path: value` for each.
pub const MORE: &str = "_more";

/// What the name of a text field has behind it where its values are asked for as keywords.
pub const AS_KEYWORD: &str = ".keyword";
/// The bit of a number that tells a text field's keywords from its words.
const KEYWORDS: u16 = 1 << 11;
const _: () = assert!(FIELDS_MAX < KEYWORDS as usize && 2 * KEYWORDS - 1 <= FieldId::MAX.0);

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Its number, by which everything but a document refers to it.
    pub id: FieldId,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: FieldKind,
    pub(crate) widening: Widening,
    /// Its values are words, and keywords too.
    pub(crate) has_keywords: bool,
}

/// How a field of whole numbers becomes one of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Widening {
    /// Never: it was declared, or has another kind.
    Never,
    /// When a document brings such a number: the field has integers, and a document added it.
    Possible,
    /// It was: values from before are integers.
    Done,
}

impl Field {
    /// True if it holds integers, but a document with another number makes it a field of
    /// floating-point numbers: a document has added the field.
    pub fn may_widen(&self) -> bool {
        self.widening == Widening::Possible
    }

    /// Returns the number under which the values of a text field are keywords too; none if they are
    /// words alone. They are both if a document has added the field.
    pub fn keywords(&self) -> Option<FieldId> {
        self.has_keywords.then_some(FieldId(self.id.0 | KEYWORDS))
    }

    /// True if it has held integers before. They are read as floating-point numbers.
    pub fn is_widened(&self) -> bool {
        self.widening == Widening::Done
    }

    /// Returns a value of the field as one of its current kind: an integer from before it was widened
    /// as a floating-point number.
    pub fn current<'a>(&self, value: FieldValue<'a>) -> FieldValue<'a> {
        match value {
            FieldValue::Integer(number) if self.is_widened() => FieldValue::Float(number as f64),
            value => value,
        }
    }

    /// True if its columns and rows may have values of this kind.
    fn may_hold(&self, kind: ValueKind) -> bool {
        self.kind.value_kind() == kind || self.is_widened() && kind == ValueKind::Integer
    }

    /// True if the field does not hold this number, but would if it were widened.
    fn widens_for(&self, value: Value<'_>) -> bool {
        let is_number = matches!(value, Value::Float(_));
        self.may_widen() && is_number && value.fitted(self.kind).is_none()
    }
}

/// The fields of an index's documents.
#[derive(Clone, Debug)]
pub struct Schema {
    fields: Vec<Field>,
    by_name: HashMap<String, FieldId>,
    dynamic: bool,
    analyzer: Analyzer,
    /// Bytes of its list.
    list_bytes: usize,
}

impl Schema {
    /// Returns the schema of documents with only a text, which `analyzer` cuts into terms. If it is
    /// dynamic, documents may add fields.
    pub fn new(analyzer: Analyzer, dynamic: bool) -> Schema {
        let (fields, by_name) = (Vec::new(), HashMap::new());
        let mut schema = Schema { fields, by_name, dynamic, analyzer, list_bytes: 0 };
        schema.push("text", FieldKind::Text(analyzer));
        schema.list_bytes = 0;
        schema
    }

    /// Returns all fields in the order of their numbers. The text is the first.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// True if a document may add fields.
    pub fn is_dynamic(&self) -> bool {
        self.dynamic
    }

    /// Returns the analyzer of the text, and of every text field that a document adds.
    pub fn analyzer(&self) -> Analyzer {
        self.analyzer
    }

    /// Returns the field with this name; none if it is unknown.
    pub fn by_name(&self, name: &str) -> Option<&Field> {
        self.by_name.get(name).and_then(|id| self.get(*id))
    }

    /// Returns the field with this number; none if it is unknown.
    pub fn get(&self, id: FieldId) -> Option<&Field> {
        self.fields.get(usize::from(id.0))
    }

    /// Returns the number and the kind of what this name asks for: a field, or the keywords of a text
    /// field, [`AS_KEYWORD`] behind its name. None if it is unknown.
    pub fn asked(&self, name: &str) -> Option<(FieldId, FieldKind)> {
        let keywords = || {
            let field = self.by_name(name.strip_suffix(AS_KEYWORD)?)?;
            Some((field.keywords()?, FieldKind::Keyword))
        };
        self.by_name(name).map(|field| (field.id, field.kind)).or_else(keywords)
    }

    /// Like [`asked`](Self::asked), where whole values are asked for, as orders and facets do: of a
    /// text field its keywords, if it has them.
    pub fn asked_whole(&self, name: &str) -> Option<(FieldId, FieldKind)> {
        let keywords = self.by_name(name).and_then(Field::keywords);
        keywords.map(|id| (id, FieldKind::Keyword)).or_else(|| self.asked(name))
    }

    /// Returns the name of the field with this number, or that by which its keywords are asked for;
    /// none if it is unknown.
    pub fn name_of(&self, id: FieldId) -> Option<String> {
        match self.with_keywords(id) {
            Some(field) => Some(format!("{}{AS_KEYWORD}", field.name)),
            None => self.get(id).map(|field| field.name.clone()),
        }
    }

    /// True if columns of this number may have values of this kind.
    pub fn may_hold(&self, id: FieldId, kind: ValueKind) -> bool {
        match self.with_keywords(id) {
            Some(_) => kind == ValueKind::Keyword,
            None => self.get(id).is_some_and(|field| field.may_hold(kind)),
        }
    }

    /// Returns the field whose keywords have this number.
    fn with_keywords(&self, id: FieldId) -> Option<&Field> {
        self.get(FieldId(id.0 & !KEYWORDS)).filter(|field| field.keywords() == Some(id))
    }

    /// Adds a field, and returns its number.
    ///
    /// # Errors
    /// If the name is not valid, if there is such a field, or if there are too many fields.
    pub fn add(&mut self, name: &str, kind: FieldKind) -> Result<FieldId, FieldError> {
        name::check(name)?;
        let field = || name.to_owned();
        if let Some(known) = self.by_name(name) {
            return Err(FieldError::Known { field: field(), kind: known.kind });
        }
        if !self.has_room_for(name) {
            return Err(FieldError::TooManyFields { field: field() });
        }
        if kind.is_text() && self.has_all_texts() {
            return Err(FieldError::TooManyTextFields { field: field() });
        }
        Ok(self.push(name, kind))
    }

    /// Adds [`MORE`], for which there is always room, unless it is there. Returns its number.
    pub(crate) fn add_more(&mut self) -> FieldId {
        let known = self.by_name.get(MORE).copied();
        known.unwrap_or_else(|| self.push(MORE, FieldKind::Text(self.analyzer)))
    }

    /// True if there is room for another field, with this name.
    fn has_room_for(&self, name: &str) -> bool {
        let bytes = list_bytes(name) + list_bytes(MORE);
        let fields = self.fields.len() - usize::from(self.by_name.contains_key(MORE));
        fields < FIELDS_MAX && self.list_bytes + bytes <= LIST_BYTES_MAX
    }

    fn has_all_texts(&self) -> bool {
        let texts = self.fields.iter().filter(|field| field.kind.is_text() && field.name != MORE);
        texts.count() >= TEXT_FIELDS_MAX
    }

    /// True if there is no room for the field of this value, which is unknown.
    fn is_beyond(&self, name: &str, value: Value<'_>) -> bool {
        let is_text = || value.natural_kind(self.analyzer).is_text();
        !self.has_room_for(name) || is_text() && self.has_all_texts()
    }

    fn push(&mut self, name: &str, kind: FieldKind) -> FieldId {
        let id = FieldId(self.fields.len() as u16);
        self.list_bytes += list_bytes(name);
        self.by_name.insert(name.to_owned(), id);
        let (widening, has_keywords) = (Widening::Never, false);
        self.fields.push(Field { id, name: name.to_owned(), kind, widening, has_keywords });
        id
    }

    /// Adds the unknown fields of these values, if the schema is dynamic. Each gets the kind of its
    /// first value. If there is no room for another field, or for another one of text, it adds
    /// [`MORE`] instead. A field of integers that was added like this becomes one of floating-point
    /// numbers if a value needs it. Returns true if the schema has changed.
    ///
    /// # Errors
    /// If a name is not valid.
    pub fn grow<'a>(
        &mut self,
        values: impl IntoIterator<Item = (&'a str, Value<'a>)>,
    ) -> Result<bool, FieldError> {
        let mut has_grown = false;
        if !self.dynamic {
            return Ok(false);
        }
        for (name, value) in values {
            let id = match self.field(name, value) {
                Ok(field) if field.widens_for(value) => {
                    let id = field.id;
                    self.set(id, FieldKind::Float, Widening::Done);
                    has_grown = true;
                    continue;
                }
                Err(error) if is_unknown(&error) && self.is_beyond(name, value) => {
                    has_grown |= self.by_name(MORE).is_none();
                    self.add_more();
                    continue;
                }
                Err(error) if is_unknown(&error) => {
                    self.add(name, value.natural_kind(self.analyzer))?
                }
                _ => continue,
            };
            self.note_grown(id);
            has_grown = true;
        }
        Ok(has_grown)
    }

    /// True if these values would make the schema [grow](Self::grow), or fail to.
    pub fn grows_by<'a>(&self, values: impl IntoIterator<Item = (&'a str, Value<'a>)>) -> bool {
        let grows_by = |(name, value)| match self.field(name, value) {
            Ok(field) => field.widens_for(value),
            Err(error) => is_unknown(&error) && self.more_for(name, value).is_none(),
        };
        self.dynamic && values.into_iter().any(grows_by)
    }

    /// Notes that a document has added a field, not a declaration.
    pub(crate) fn note_grown(&mut self, id: FieldId) {
        let field = &mut self.fields[usize::from(id.0)];
        match field.kind {
            FieldKind::Integer => field.widening = Widening::Possible,
            FieldKind::Text(_) => field.has_keywords = true,
            _ => {}
        }
    }

    pub(crate) fn set(&mut self, id: FieldId, kind: FieldKind, widening: Widening) {
        let field = &mut self.fields[usize::from(id.0)];
        (field.kind, field.widening) = (kind, widening);
    }

    /// Checks that a document may have this value: an unknown field in a dynamic schema takes any,
    /// and a field that [may widen](Field::may_widen) any number.
    ///
    /// # Errors
    /// If the value does not fit its field, or if there can be no such field.
    pub fn check(&self, name: &str, value: Value<'_>) -> Result<(), FieldError> {
        match self.field(name, value) {
            Ok(field) if self.dynamic && field.widens_for(value) => Ok(()),
            Ok(field) => fitted(field, value).map(drop),
            Err(error) if is_unknown(&error) && self.dynamic => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Appends the values to `out`, [encoded], in the order given.
    ///
    /// # Errors
    /// If a field is unknown, if a value does not fit its field, or if there are too many values.
    /// `out` may have some of the values then.
    pub fn encode<'a>(
        &self,
        values: impl IntoIterator<Item = (&'a str, Value<'a>)>,
        out: &mut Vec<u8>,
    ) -> Result<(), FieldError> {
        let mut count = 0;
        for (name, value) in values {
            match self.field(name, value) {
                Ok(field) => encoded::put(field.id, fitted(field, value)?, out),
                Err(error) => {
                    let more = self.more_for(name, value).filter(|_| is_unknown(&error));
                    let more = more.ok_or(error)?;
                    let text = format!("{name}: {}", whole(value));
                    encoded::put(more, FieldValue::Text(&text), out);
                }
            }
            count += 1;
        }
        if count > VALUES_MAX {
            return Err(FieldError::TooManyValues { values: count });
        }
        Ok(())
    }

    /// Returns [`MORE`], if it has the values of this field, which is unknown.
    fn more_for(&self, name: &str, value: Value<'_>) -> Option<FieldId> {
        let more = self.by_name.get(MORE).filter(|_| self.dynamic && self.is_beyond(name, value));
        more.copied()
    }

    /// Returns the field of `value`. The text cannot be given as a field.
    fn field(&self, name: &str, value: Value<'_>) -> Result<&Field, FieldError> {
        match self.by_name.get(name) {
            Some(&TEXT) => Err(FieldError::Reserved { field: name.to_owned() }),
            Some(id) => Ok(&self.fields[usize::from(id.0)]),
            None => {
                name::check(name)?;
                Err(FieldError::Unknown { field: name.to_owned(), value: shown(value) })
            }
        }
    }

    /// True if all of these encoded values fit fields of this schema.
    pub fn admits(&self, encoded: &[u8]) -> bool {
        let fits = |(id, value): (FieldId, FieldValue<'_>)| {
            let field = self.get(id).filter(|field| field.id != TEXT);
            let is_earlier = |field: &Field| field.is_widened() && value.is_of(FieldKind::Integer);
            field.is_some_and(|field| value.is_of(field.kind) || is_earlier(field))
        };
        let mut count = 0;
        encoded::is_whole(encoded, |value| {
            count += 1;
            fits(value)
        }) && count <= VALUES_MAX
    }
}

/// True if the schema could grow by the field that is missing.
fn is_unknown(error: &FieldError) -> bool {
    matches!(error, FieldError::Unknown { .. })
}

/// Returns the value as one of the field's kind.
fn fitted<'a>(field: &Field, value: Value<'a>) -> Result<FieldValue<'a>, FieldError> {
    let name = || field.name.clone();
    match value.fitted(field.kind) {
        Some(FieldValue::Keyword(text)) if text.len() > KEYWORD_BYTES_MAX => {
            Err(FieldError::KeywordTooLong { field: name(), bytes: text.len() })
        }
        // Whether it came before the field was widened or after must not show: no integer is -0.
        Some(FieldValue::Float(0.0)) if field.is_widened() => Ok(FieldValue::Float(0.0)),
        Some(fitted) => Ok(fitted),
        None => Err(FieldError::Misfit { field: name(), kind: field.kind, value: shown(value) }),
    }
}

impl FieldValue<'_> {
    /// True if a field of this kind may have it.
    fn is_of(self, kind: FieldKind) -> bool {
        match (self, kind) {
            (FieldValue::Keyword(text), FieldKind::Keyword) => text.len() <= KEYWORD_BYTES_MAX,
            (FieldValue::Text(_), FieldKind::Text(_))
            | (FieldValue::Integer(_), FieldKind::Integer)
            | (FieldValue::Float(_), FieldKind::Float)
            | (FieldValue::Time(_), FieldKind::Time(_))
            | (FieldValue::Boolean(_), FieldKind::Boolean) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            let read = Schema::from_list(&schema.list(), Analyzer::Simple, true).unwrap();
            assert_eq!(read.fields(), schema.fields());
        }
        let read = Schema::from_list(&schema.list(), Analyzer::Simple, true).unwrap();
        assert_eq!(read.fields(), schema.fields());
        let strict = Schema::from_list(&schema.list(), Analyzer::Simple, false).unwrap();
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
        let read = Schema::from_list(&schema.list(), Analyzer::Simple, true).unwrap();
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
        let values: [(&str, Value<'_>); 4] = [
            (last[0], (-7).into()),
            ("n1", 5.into()),
            (last[1], Value::Time(0)),
            ("x.y", 2.5.into()),
        ];
        assert!(!schema.grows_by(values));
        schema.encode(values, &mut out).unwrap();
        let expected = ["n1025: -7", "seen: 1970-01-01T00:00:00Z", "x.y: 2.5"];
        assert_eq!(more(&schema, &out), expected);
        assert!(schema.admits(&out));
        // Not what can be no field, and not in a schema that is strict.
        for name in ["_x", "", "a\n"] {
            assert!(schema.encode([(name, 1.into())], &mut out).is_err(), "{name:?}");
        }
        let strict = Schema::from_list(&schema.list(), Analyzer::Simple, false).unwrap();
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
        assert_eq!(Schema::from_list(&list, Analyzer::Simple, true).unwrap().list(), list);
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
}
