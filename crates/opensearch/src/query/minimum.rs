//! The least number of optional clauses that must match: `2`, `-1`, `75%`, `3<90% 5<-2`.

use crate::error::Refusal;

/// Returns the number of `optional` clauses that must match.
pub(super) fn of(spec: &str, optional: usize) -> Result<usize, Refusal> {
    let optional = i64::try_from(optional).unwrap_or(i64::MAX);
    let spec = spec.trim();
    let mut result = optional;
    if !spec.contains('<') {
        result = calculated(spec, result)?;
    } else {
        for condition in joined(spec).split_whitespace() {
            let (above, spec) = condition.split_once('<').ok_or_else(|| wrong(condition))?;
            if optional <= number(above)? {
                break;
            }
            result = calculated(spec, optional)?;
        }
    }
    Ok(usize::try_from(result.max(0)).unwrap_or(usize::MAX))
}

/// Removes blanks around `<`.
fn joined(spec: &str) -> String {
    let parts: Vec<&str> = spec.split('<').map(str::trim).collect();
    parts.join("<")
}

/// Returns a number of clauses, of which there are `optional`. A negative one counts those that may
/// be missing.
fn calculated(spec: &str, optional: i64) -> Result<i64, Refusal> {
    let (sign, wanted) = match spec.strip_suffix('%') {
        Some(percent) => {
            let percent = number(percent)?.clamp(-1_000_000, 1_000_000);
            (percent, optional.saturating_mul(percent) / 100)
        }
        None => {
            let wanted = number(spec)?;
            (wanted, wanted)
        }
    };
    Ok(if sign < 0 { optional.saturating_add(wanted) } else { wanted })
}

fn number(text: &str) -> Result<i64, Refusal> {
    text.trim().parse().map_err(|_| wrong(text))
}

fn wrong(text: &str) -> Refusal {
    let error = Refusal::number_format(text);
    Refusal::query_shard(format!("failed to create query: {}", error.reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_percentages_and_conditions() {
        for (spec, optional, minimum) in [
            ("2", 3, 2),
            ("-1", 3, 2),
            ("-5", 3, 0),
            ("5", 3, 5),
            ("75%", 4, 3),
            ("75%", 3, 2),
            ("-25%", 4, 3),
            ("-25%", 3, 3),
            ("0%", 3, 0),
            ("3<90%", 3, 3),
            ("3<90%", 10, 9),
            ("2<-25% 9<-3", 2, 2),
            ("2<-25% 9<-3", 8, 6),
            ("2<-25% 9<-3", 10, 7),
            (" 2 < 50% ", 4, 2),
            ("100%", 0, 0),
        ] {
            assert_eq!(of(spec, optional), Ok(minimum), "{spec} of {optional}");
        }
        for wrong in ["x", "", "5%x", "3<x", "3<", "<2", "3<2 4"] {
            let refusal = of(wrong, 10).unwrap_err();
            assert!(refusal.reason.contains("For input string"), "{wrong}");
        }
    }
}
