//! Slices: parts of a search's matches, which several clients read side by side.

use spirit::FieldKind;
use spirit::schema::Schema;

use crate::error::Refusal;
use crate::json::Json;
use crate::read;

/// Slices of one search, at most.
const SLICES_MAX: u64 = 1024;

/// One of `max` parts of the matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The number of the part, from 0 on.
    pub id: u64,
    /// The number of parts.
    pub max: u64,
    /// The field whose values divide the documents; none if their ids do.
    pub field: Option<String>,
}

impl Slice {
    /// Reads a slice.
    pub(super) fn read(members: &[(String, Json)]) -> Result<Slice, Refusal> {
        let (mut id, mut max, mut field) = (None, None, None);
        for (name, value) in members {
            let number = || -> Result<Option<u64>, Refusal> {
                let number = read::integer(value)?;
                let reason = || format!("{name} must be greater than or equal to 0");
                u64::try_from(number).map(Some).map_err(|_| wrong(&reason()))
            };
            match name.as_str() {
                "id" => id = number()?,
                "max" => max = number()?,
                "field" if value.as_str() == Some("_id") => {}
                "field" => field = Some(read::shown(value)),
                other => {
                    return Err(Refusal::content(format!("[slice] unknown field [{other}]")));
                }
            }
        }
        let (Some(id), Some(max)) = (id, max) else {
            return Err(wrong("id and max are required"));
        };
        match max {
            0 | 1 => Err(wrong("max must be greater than 1")),
            _ if max <= id => Err(wrong("max must be greater than id")),
            _ if max > SLICES_MAX => Err(Refusal::illegal_argument(format!(
                "The number of slices [{max}] is too large. It must be less than [{SLICES_MAX}]. \
                 This limit can be set by changing the [index.max_slices_per_scroll] index level \
                 setting."
            ))),
            _ => Ok(Slice { id, max, field }),
        }
    }

    /// Returns an error if an index cannot be divided so.
    ///
    /// # Errors
    /// If the field has no numbers, or if there is no such field.
    pub fn check(&self, schema: &Schema) -> Result<(), Refusal> {
        let Some(field) = &self.field else { return Ok(()) };
        match schema.asked_whole(field).map(|(_, kind)| kind) {
            None => Err(Refusal::illegal_argument(format!("field {field} not found"))),
            Some(FieldKind::Text(_) | FieldKind::Keyword) => {
                let what = format!("cannot load numeric doc values on {field}");
                Err(Refusal::illegal_argument(what))
            }
            Some(_) => Ok(()),
        }
    }

    /// True if documents without a value are in this part.
    pub fn has_missing(&self) -> bool {
        self.id == 0
    }

    /// True if a document is in this part, by the bytes of its id or of its value. Each is in one part.
    ///
    /// ```
    /// use spirit_opensearch::search::Slice;
    ///
    /// let parts = (0..3).map(|id| Slice { id, max: 3, field: None });
    /// assert_eq!(parts.filter(|part| part.has(b"a document's id")).count(), 1);
    /// ```
    pub fn has(&self, value: &[u8]) -> bool {
        // FNV-1a. Its high bits differ most.
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        let hash = value.iter().fold(0xcbf2_9ce4_8422_2325, step);
        (hash ^ hash >> 32) % self.max == self.id
    }
}

fn wrong(why: &str) -> Refusal {
    Refusal::content(format!("[slice] failed to parse: {why}"))
}
