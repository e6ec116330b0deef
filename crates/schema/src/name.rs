//! Names of fields.

use crate::NAME_BYTES_MAX;
use crate::error::FieldError;

/// The fields that every document has.
const RESERVED: [&str; 3] = ["key", "id", "text"];

/// Returns an error if a new field may not have this name. Documents bring names as JSON has them:
/// `user name`, `$type`, `1st`. Names that begin with an underscore are reserved for the engine.
pub(crate) fn check(name: &str) -> Result<(), FieldError> {
    if RESERVED.contains(&name) || name.starts_with('_') {
        return Err(FieldError::Reserved { field: name.to_owned() });
    }
    let has_room = (1..=NAME_BYTES_MAX).contains(&name.len());
    if has_room && !name.contains(char::is_control) {
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
    fn names_are_those_of_json_without_control_characters() {
        let long = "a".repeat(NAME_BYTES_MAX);
        for right in [
            "a",
            "@timestamp",
            "geo.city-name_2",
            "größe",
            &long,
            "texts",
            "a.",
            "1a",
            "-a",
            ".a",
            "a b",
            "a:b",
            "a\"",
            "$type",
            "user name",
            "*",
            "名",
        ] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for reserved in ["key", "id", "text", "_", "_score"] {
            assert!(matches!(check(reserved), Err(FieldError::Reserved { .. })), "{reserved}");
        }
        let longer = "a".repeat(NAME_BYTES_MAX + 1);
        for wrong in ["", "a\n", "a\tb", "\u{0}", "a\u{85}", &longer] {
            assert!(matches!(check(wrong), Err(FieldError::Name { .. })), "{wrong}");
        }
    }
}
