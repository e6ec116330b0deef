//! Patterns of names, in which `*` stands for any letters.

/// True if a name matches a pattern.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    // A pattern with a `*` has a part behind the last one.
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = name.find(part) else { return false };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

/// Letters of two patterns that are compared letter by letter, at most. Names of indexes have 255.
const OVERLAP_MAX: usize = 512;

/// True if a name may match both patterns.
pub(crate) fn overlap(one: &str, other: &str) -> bool {
    if one.len().max(other.len()) > OVERLAP_MAX {
        return matches(one, other) || matches(other, one);
    }
    let (one, other) = (one.as_bytes(), other.as_bytes());
    // For each end of `other`, whether it shares a name with the end of `one` that is looked at.
    let mut before = vec![false; other.len() + 2];
    for at in (0..=one.len()).rev() {
        let mut ends = vec![false; other.len() + 2];
        for place in (0..=other.len()).rev() {
            ends[place] = match (one.get(at), other.get(place)) {
                (None, None) => true,
                (Some(b'*'), _) if before[place] || ends[place + 1] => true,
                (_, Some(b'*')) => ends[place + 1] || before[place],
                (Some(a), Some(b)) => a == b && before[place + 1],
                _ => false,
            };
        }
        before = ends;
    }
    before[0]
}

#[cfg(test)]
mod tests {
    use super::{matches, overlap};

    #[test]
    fn patterns_overlap_if_a_name_matches_both() {
        for (one, other, expected) in [
            ("a", "a", true),
            ("a", "b", false),
            ("a", "ab", false),
            ("", "", true),
            ("*", "", true),
            ("*", "**", true),
            ("logs-*", "logs-a*", true),
            ("logs-a*", "logs-b*", false),
            ("a*c", "ab*", true),
            ("*b", "a*", true),
            ("*b", "*a", false),
            ("a*b*c", "*bb*", true),
            ("a*b", "a*c", false),
            ("x*", "*y*z", true),
        ] {
            assert_eq!(overlap(one, other), expected, "{one} {other}");
            assert_eq!(overlap(other, one), expected, "{other} {one}");
        }
        let long = "a".repeat(super::OVERLAP_MAX + 1);
        assert!(overlap(&long, "a*") && !overlap(&long, "b*"));
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("*", "a", true),
            ("logs-*", "logs-1", true),
            ("logs-*", "log-1", false),
            ("*-1", "logs-1", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("a", "a", true),
            ("a", "ab", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
