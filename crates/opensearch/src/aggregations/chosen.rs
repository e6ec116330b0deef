//! The terms that an aggregation includes or excludes.

use regex::{Regex, RegexBuilder};
use spirit::FieldKind;

use super::OfField;
use crate::error::Refusal;
use crate::json::Json;
use crate::query::expression;

/// Bytes of a compiled expression, at most.
const SIZE_MAX: usize = 1 << 20;

/// Which terms have a bucket.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen {
    included: Option<Terms>,
    excluded: Option<Terms>,
}

/// Some terms.
#[derive(Clone, Debug)]
enum Terms {
    /// These, as buckets have their keys.
    Listed(Vec<Json>),
    Matching(Regex),
}

impl Chosen {
    /// Reads what is included and excluded of a field's terms. `name` is the aggregation's.
    pub(super) fn read(
        (include, exclude): (Option<&Json>, Option<&Json>),
        of: &OfField,
        name: &str,
    ) -> Result<Chosen, Refusal> {
        let read = |option: &str, value: Option<&Json>| {
            value.map(|value| terms(option, value, of, name)).transpose()
        };
        Ok(Chosen { included: read("include", include)?, excluded: read("exclude", exclude)? })
    }

    /// True if all terms have buckets.
    pub(super) fn is_all(&self) -> bool {
        self.included.is_none() && self.excluded.is_none()
    }

    /// True if a term has a bucket, by the bucket's key.
    pub(super) fn has(&self, key: &Json) -> bool {
        let is_in = |terms: &Terms| match terms {
            Terms::Listed(keys) => keys.contains(key),
            Terms::Matching(regex) => key.as_str().is_some_and(|key| regex.is_match(key)),
        };
        self.included.as_ref().is_none_or(is_in) && !self.excluded.as_ref().is_some_and(is_in)
    }
}

fn terms(option: &str, value: &Json, of: &OfField, name: &str) -> Result<Terms, Refusal> {
    match value {
        Json::Array(values) => {
            let wrong = || {
                let what = format!("[terms] {option} doesn't support values of type:");
                Refusal::content(format!("{what} {}", value.token()))
            };
            let key = |value: &Json| key(&value.scalar().ok_or_else(wrong)?, of.kind);
            Ok(Terms::Listed(values.iter().map(key).collect::<Result<_, _>>()?))
        }
        Json::String(text) => match of.kind {
            Some(FieldKind::Integer | FieldKind::Float | FieldKind::Boolean) => Err(Refusal::new(
                "aggregation_execution_exception",
                500,
                format!(
                    "Aggregation [{name}] cannot support regular expression style include/exclude \
                         settings as they can only be applied to string fields. Use an array of numeric \
                         values for include/exclude clauses used to filter numeric fields"
                ),
            )),
            _ => {
                let expression = expression(text)?;
                let wrong = |_| {
                    Refusal::illegal_argument(format!(
                        "[{text}] is no regular expression, or too large"
                    ))
                };
                let built = |expression: &str| {
                    RegexBuilder::new(expression).size_limit(SIZE_MAX).build().map_err(wrong)
                };
                // Its parentheses close within itself.
                built(&expression)?;
                Ok(Terms::Matching(built(&format!("^(?:{expression})$"))?))
            }
        },
        Json::Object(_) => {
            Err(Refusal::unsupported(format_args!("[terms] with [{option}] by partitions")))
        }
        other => Err(Refusal::content(format!(
            "[terms] {option} doesn't support values of type: {}",
            other.token()
        ))),
    }
}

/// Returns the key of the bucket that a term has.
fn key(term: &str, kind: Option<FieldKind>) -> Result<Json, Refusal> {
    let wrong = || Refusal::number_format(term);
    Ok(match kind {
        Some(FieldKind::Integer) => Json::Number(term.parse::<i64>().map_err(|_| wrong())?.into()),
        Some(FieldKind::Float) => super::number(term.parse().map_err(|_| wrong())?),
        Some(FieldKind::Boolean) => match term {
            "true" => Json::Number(1.into()),
            "false" => Json::Number(0.into()),
            _ => {
                return Err(Refusal::illegal_argument(format!(
                    "Failed to parse value [{term}] as only [true] or [false] are allowed."
                )));
            }
        },
        _ => Json::String(term.to_owned()),
    })
}
