//! What a field may be called.

use crate::NAME_BYTES_MAX;
use crate::error::FieldError;

/// What every document has on its own.
const RESERVED: [&str; 3] = ["key", "id", "text"];

/// Whether a new field may have this name. What begins with an underscore is for what the engine may say of a document.
pub(crate) fn check(name: &str) -> Result<(), FieldError> {
    if RESERVED.contains(&name) || name.starts_with('_') {
        return Err(FieldError::Reserved { field: name.to_owned() });
    }
    let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '@');
    let goes_on = |c: char| c.is_alphanumeric() || "_-.@".contains(c);
    if begins && name.chars().all(goes_on) && name.len() <= NAME_BYTES_MAX {
        Ok(())
    } else {
        // What is too long is not repeated whole.
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
