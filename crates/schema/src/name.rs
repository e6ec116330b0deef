//! Names of fields.

use crate::NAME_BYTES_MAX;
use crate::error::FieldError;

/// The fields that every document has.
const RESERVED: [&str; 3] = ["key", "id", "text"];

/// Returns an error if a new field may not have this name. Names that begin with an underscore are
/// reserved for the engine.
pub(crate) fn check(name: &str) -> Result<(), FieldError> {
    if RESERVED.contains(&name) || name.starts_with('_') {
        return Err(FieldError::Reserved { field: name.to_owned() });
    }
    let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '@');
    let goes_on = |c: char| c.is_alphanumeric() || "_-.@".contains(c);
    if begins && name.chars().all(goes_on) && name.len() <= NAME_BYTES_MAX {
        Ok(())
    } else {
        // A name that is too long is cut.
        let field = name.chars().take(NAME_BYTES_MAX).collect();
        Err(FieldError::Name { field })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_such_as_can_be_asked_for() {
        let long = "a".repeat(NAME_BYTES_MAX);
        for right in ["a", "@timestamp", "geo.city-name_2", "größe", &long, "texts", "a."] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for reserved in ["key", "id", "text", "_", "_score"] {
            assert!(matches!(check(reserved), Err(FieldError::Reserved { .. })), "{reserved}");
        }
        let longer = "a".repeat(NAME_BYTES_MAX + 1);
        for wrong in ["", "1a", "-a", ".a", "a b", "a:b", "a\"", &longer] {
            assert!(matches!(check(wrong), Err(FieldError::Name { .. })), "{wrong}");
        }
    }
}
