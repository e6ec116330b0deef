//! Slices: parts of a search's matches, which several clients read side by side.

use crate::error::Refusal;
use crate::json::Json;
use crate::read;

/// Slices of one search, at most.
const SLICES_MAX: u64 = 1024;

/// One of `max` parts of the matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The number of the part, from 0 on.
    pub id: u64,
    /// The number of parts.
    pub max: u64,
}

impl Slice {
    /// Reads a slice. Documents are divided by their ids, so a field is refused.
    pub(super) fn read(members: &[(String, Json)]) -> Result<Slice, Refusal> {
        let (mut id, mut max) = (None, None);
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
                "field" => return Err(Refusal::unsupported("[field] of a [slice]")),
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
            _ => Ok(Slice { id, max }),
        }
    }

    /// True if a document is in this part. Each is in one of them.
    ///
    /// ```
    /// use spirit_opensearch::search::Slice;
    ///
    /// let parts = (0..3).map(|id| Slice { id, max: 3 });
    /// assert_eq!(parts.filter(|part| part.has("a document's id")).count(), 1);
    /// ```
    pub fn has(&self, id: &str) -> bool {
        // FNV-1a. Its high bits differ most.
        let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325, step);
        (hash ^ hash >> 32) % self.max == self.id
    }
}

fn wrong(why: &str) -> Refusal {
    Refusal::content(format!("[slice] failed to parse: {why}"))
}
