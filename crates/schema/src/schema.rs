//! The schema: the list of fields.

#[cfg(test)]
mod tests;

use spirit_index::ground::{FieldId, ValueKind};
use spirit_text::Analyzer;

use crate::arrays::Arrays;
use crate::encoded;
use crate::error::{FieldError, shown, whole};
use crate::kind::FieldKind;
use crate::limits::{FIELDS_MAX, KEYWORDS, LIST_BYTES_MAX, TEXT_FIELDS_MAX, list_bytes};
use crate::name;
use crate::value::{FieldValue, Value};
use crate::{KEYWORD_BYTES_MAX, VALUES_MAX};

/// The field of a document's text.
pub const TEXT: FieldId = FieldId::TEXT;
/// The name of the text of documents whose text is their source.
pub const SOURCE: &str = "_source";
/// The name of the field of what is beyond: values of fields for which a schema that documents add to
/// has no room. It is text, `path: value` for each.
pub const MORE: &str = "_more";

/// What the name of a text field has behind it where its values are asked for as keywords.
pub const AS_KEYWORD: &str = ".keyword";

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
    by_name: foldhash::HashMap<String, FieldId>,
    arrays: Arrays,
    dynamic: bool,
    /// True if the text is the document's source, whose members are fields of any name.
    is_of_sources: bool,
    analyzer: Analyzer,
    /// Bytes of its list.
    list_bytes: usize,
}

impl Schema {
    /// Returns the schema of documents with only a text, which `analyzer` cuts into terms. If it is
    /// dynamic, documents may add fields.
    pub fn new(analyzer: Analyzer, dynamic: bool) -> Schema {
        let (fields, by_name) = (Vec::new(), foldhash::HashMap::default());
        let arrays = Arrays::default();
        let is_of_sources = false;
        let mut schema =
            Schema { fields, by_name, arrays, dynamic, is_of_sources, analyzer, list_bytes: 0 };
        schema.push("text", FieldKind::Text(analyzer));
        schema.list_bytes = 0;
        schema
    }

    /// Like [`new`](Self::new), for documents whose text is their source. The text is called
    /// [`SOURCE`]. Fields may be called as members of sources are, with few exceptions.
    pub fn of_sources(analyzer: Analyzer, dynamic: bool) -> Schema {
        let mut schema = Schema::new(analyzer, dynamic);
        schema.is_of_sources = true;
        schema.fields.clear();
        schema.by_name.clear();
        schema.push(SOURCE, FieldKind::Text(analyzer));
        schema.list_bytes = 0;
        schema
    }

    /// Returns a schema like this one, without fields.
    pub fn emptied(&self) -> Schema {
        match self.is_of_sources {
            true => Schema::of_sources(self.analyzer, self.dynamic),
            false => Schema::new(self.analyzer, self.dynamic),
        }
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

    /// Returns the number and the name of each array of objects.
    pub fn arrays(&self) -> impl Iterator<Item = (FieldId, &str)> + Clone {
        self.arrays.iter()
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

    /// Returns the name of the field with this number, or that by which its keywords are asked for,
    /// or that of an array; none if it is unknown.
    pub fn name_of(&self, id: FieldId) -> Option<String> {
        match self.with_keywords(id) {
            Some(field) => Some(format!("{}{AS_KEYWORD}", field.name)),
            None => self.known_name(id).map(str::to_owned),
        }
    }

    fn known_name(&self, id: FieldId) -> Option<&str> {
        self.get(id).map(|field| &*field.name).or_else(|| self.arrays.name_of(id))
    }

    /// Returns the name of the field whose words or keywords have this number; none if it is unknown.
    pub fn field_name(&self, id: FieldId) -> Option<&str> {
        self.get(FieldId(id.0 & !KEYWORDS)).map(|field| &*field.name)
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
        name::check(name, self.is_of_sources)?;
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
        let is_text = || value.natural_kind(self.analyzer).is_some_and(FieldKind::is_text);
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
    /// numbers if a value needs it. Any schema adds the arrays that it has room for. Returns true if
    /// the schema has changed.
    ///
    /// # Errors
    /// If a name is not valid.
    pub fn grow<'a>(
        &mut self,
        values: impl IntoIterator<Item = (&'a str, Value<'a>)>,
    ) -> Result<bool, FieldError> {
        let mut has_grown = false;
        for (name, value) in values {
            if value == Value::Object {
                has_grown |= self.add_array(name);
                continue;
            }
            if !self.dynamic {
                continue;
            }
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
                    let Some(kind) = value.natural_kind(self.analyzer) else { continue };
                    self.add(name, kind)?
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
            _ if value == Value::Object => self.may_add_array(name),
            _ if !self.dynamic => false,
            Ok(field) => field.widens_for(value),
            Err(error) => is_unknown(&error) && self.more_for(name, value).is_none(),
        };
        values.into_iter().any(grows_by)
    }

    /// True if there is no array of this name, but room for it.
    fn may_add_array(&self, name: &str) -> bool {
        let has_room = || {
            let bytes = list_bytes(name) + list_bytes(MORE);
            self.arrays.has_room_for(name) && self.list_bytes + bytes <= LIST_BYTES_MAX
        };
        self.arrays.get(name).is_none() && has_room()
    }

    /// Adds an array of objects. False if it is known, or if there is no room for it.
    pub(crate) fn add_array(&mut self, name: &str) -> bool {
        let may_add = self.may_add_array(name);
        if may_add {
            self.list_bytes += list_bytes(name);
            self.arrays.push(name);
        }
        may_add
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
            _ if value == Value::Object => Ok(()),
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
            if value == Value::Object {
                self.encode_object(name, out)?;
                continue;
            }
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

    /// Appends that an object of an array begins, unless there was no room for the array.
    fn encode_object(&self, name: &str, out: &mut Vec<u8>) -> Result<(), FieldError> {
        match self.arrays.get(name) {
            Some(array) => encoded::put(array, FieldValue::Object, out),
            None if self.may_add_array(name) => {
                let (field, value) = (name.to_owned(), shown(Value::Object));
                return Err(FieldError::Unknown { field, value });
            }
            None => {}
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
                name::check(name, self.is_of_sources)?;
                Err(FieldError::Unknown { field: name.to_owned(), value: shown(value) })
            }
        }
    }

    /// True if all of these encoded values fit fields of this schema.
    pub fn admits(&self, encoded: &[u8]) -> bool {
        let fits = |(id, value): (FieldId, FieldValue<'_>)| {
            if value == FieldValue::Object {
                return self.arrays.name_of(id).is_some();
            }
            let field = self.get(id).filter(|field| field.id != TEXT);
            let is_earlier = |field: &Field| field.is_widened() && value.is_of(FieldKind::Integer);
            field.is_some_and(|field| value.is_of(field.kind) || is_earlier(field))
        };
        let mut count = 0;
        encoded::is_whole(encoded, |value| {
            count += usize::from(value.1 != FieldValue::Object);
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
