//! Names of fields.

use crate::NAME_BYTES_MAX;
use crate::error::FieldError;

/// The fields that every document has.
const RESERVED: [&str; 3] = ["key", "id", "text"];
/// Names of what documents have besides their source, as clients of OpenSearch know them.
const RESERVED_BESIDE_SOURCES: [&str; 11] = [
    "_id",
    "_source",
    "_more",
    "_index",
    "_type",
    "_doc",
    "_score",
    "_seq_no",
    "_primary_term",
    "_routing",
    "_ignored",
];

/// Returns an error if a new field may not have this name. Documents bring names as JSON has them:
/// `user name`, `$type`, `1st`. Names that begin with an underscore are reserved for the engine, unless
/// `is_of_sources`: all other members of a source are fields.
pub(crate) fn check(name: &str, is_of_sources: bool) -> Result<(), FieldError> {
    let is_reserved = match is_of_sources {
        true => RESERVED_BESIDE_SOURCES.contains(&name),
        false => RESERVED.contains(&name) || name.starts_with('_'),
    };
    if is_reserved {
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
            assert_eq!(check(right, false), Ok(()), "{right}");
            assert_eq!(check(right, true), Ok(()), "{right}");
        }
        for reserved in ["key", "id", "text", "_", "_score"] {
            let checked = check(reserved, false);
            assert!(matches!(checked, Err(FieldError::Reserved { .. })), "{reserved}");
            assert_eq!(check(reserved, true).is_ok(), reserved != "_score", "{reserved}");
        }
        let longer = "a".repeat(NAME_BYTES_MAX + 1);
        for wrong in ["", "a\n", "a\tb", "\u{0}", "a\u{85}", &longer] {
            assert!(matches!(check(wrong, false), Err(FieldError::Name { .. })), "{wrong}");
            assert!(matches!(check(wrong, true), Err(FieldError::Name { .. })), "{wrong}");
        }
    }
}
