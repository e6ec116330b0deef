//! Reading of options: JSON values as numbers, booleans and texts, as OpenSearch takes them.

use crate::error::Refusal;
use crate::json::Json;

/// Returns a boolean, or one that is written as a string.
pub(crate) fn boolean(value: &Json) -> Result<bool, Refusal> {
    match value {
        Json::Bool(value) => Ok(*value),
        Json::String(text) => boolean_text(text),
        other => boolean_text(&other.to_string()),
    }
}

/// Returns the boolean that a text names.
pub(crate) fn boolean_text(text: &str) -> Result<bool, Refusal> {
    let wrong = || {
        let reason =
            format!("Failed to parse value [{text}] as only [true] or [false] are allowed.");
        Refusal::illegal_argument(reason)
    };
    text.parse().map_err(|_| wrong())
}

/// Returns a whole number. Fractions are cut off, and digits in a string are a number too.
pub(crate) fn integer(value: &Json) -> Result<i64, Refusal> {
    match value {
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Ok(whole),
            // A conversion from floating point saturates.
            None => Ok(number.as_f64().unwrap_or_default() as i64),
        },
        other => {
            let text = shown(other);
            text.parse().map_err(|_| Refusal::number_format(&text))
        }
    }
}

/// Returns a floating-point number that is finite.
pub(crate) fn float(value: &Json) -> Result<f32, Refusal> {
    let text = shown(value);
    let number = text.parse().ok().filter(|number: &f32| number.is_finite());
    number.ok_or_else(|| Refusal::number_format(&text))
}

/// Returns the factor of scores in a member `boost`.
pub(crate) fn boost(value: &Json) -> Result<f32, Refusal> {
    let boost = float(value)?;
    if boost < 0.0 {
        let reason = format!(
            "negative [boost] are not allowed, got [{boost}], use a value between 0 and 1 to deboost"
        );
        return Err(Refusal::illegal_argument(reason));
    }
    Ok(boost)
}

/// Returns a value as a text: a string without its quotation marks.
pub(crate) fn shown(value: &Json) -> String {
    value.scalar().unwrap_or_else(|| value.to_string())
}

/// Returns the strings of an array, or a single string as a list of one.
pub(crate) fn strings(value: &Json) -> Option<Vec<String>> {
    match value {
        Json::Array(values) => values.iter().map(Json::scalar).collect(),
        Json::String(text) => Some(vec![text.clone()]),
        _ => None,
    }
}

/// True if a name matches a pattern in which `*` stands for any characters.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(head) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return name.ends_with(part);
        }
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn values_are_read_as_opensearch_reads_them() {
        assert_eq!(boolean(&of("\"true\"")), Ok(true));
        assert_eq!(integer(&of("1.9")), Ok(1));
        assert_eq!(integer(&of("\"-12\"")), Ok(-12));
        assert_eq!(integer(&of("1e300")), Ok(i64::MAX));
        assert_eq!(float(&of("\"0.5\"")), Ok(0.5));
        assert_eq!(integer(&of("\"x\"")), Err(Refusal::number_format("x")));
        assert_eq!(float(&of("[1]")), Err(Refusal::number_format("[1]")));
        assert_eq!(
            boolean(&of("1")).unwrap_err().reason,
            "Failed to parse value [1] as only [true] or [false] are allowed."
        );
        assert!(boost(&of("-1")).unwrap_err().reason.starts_with("negative [boost]"));
    }

    #[test]
    fn patterns_match_names() {
        for (pattern, name) in [
            ("a", "a"),
            ("*", ""),
            ("*", "a.b"),
            ("a*", "a"),
            ("a*c", "abc"),
            ("*b*", "abc"),
            ("a*b*c", "a1b2b3c"),
            ("**", "x"),
            ("user.*", "user.name"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("a", "ab"), ("a*c", "ac1"), ("a*bc", "abdc"), ("", "a"), ("ab*ba", "aba")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
