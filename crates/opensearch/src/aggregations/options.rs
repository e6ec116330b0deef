//! The options of an aggregation.

use spirit::FieldKind;

use super::OfField;
use super::facet::has_stats;
use crate::error::Refusal;
use crate::json::Json;
use crate::query::{self, Context};
use crate::read::{self, shown};

type Members = [(String, Json)];
type Read<T> = Result<T, Refusal>;

/// The options of an aggregation.
pub(super) struct Options<'j> {
    pub(super) kind: &'static str,
    members: &'j Members,
}

impl<'j> Options<'j> {
    /// Reads the body of an aggregation.
    pub(super) fn read(kind: &'static str, body: &'j Json) -> Read<Options<'j>> {
        match body {
            Json::Object(members) => Ok(Options { kind, members }),
            _ => {
                let what = format!("Expected [START_OBJECT] under [{kind}], but got a");
                Err(Refusal::parsing(format!("{what} [{}]", body.token())))
            }
        }
    }

    /// Refuses options but `field` and these.
    pub(super) fn only(self, names: &[&str]) -> Read<Options<'j>> {
        let known = |name: &str| name == "field" || names.contains(&name);
        match self.members.iter().find(|(name, _)| !known(name)) {
            None => Ok(self),
            Some((name, _)) if matches!(&**name, "script" | "missing") => {
                Err(Refusal::unsupported(format_args!("[{}] with [{name}]", self.kind)))
            }
            Some((name, _)) => {
                Err(Refusal::content(format!("[{}] unknown field [{name}]", self.kind)))
            }
        }
    }

    /// Returns an option as it was given.
    pub(super) fn get(&self, name: &str) -> Option<&'j Json> {
        self.members.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Returns an option as text; none if it is null.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).filter(|value| **value != Json::Null).map(shown)
    }

    /// Returns an option that is true or false.
    pub(super) fn flag(&self, name: &str, usual: bool) -> Read<bool> {
        self.get(name).map_or(Ok(usual), read::boolean)
    }

    /// Returns the refusal of an option's value.
    pub(super) fn wrong(&self, name: &str) -> Refusal {
        Refusal::content(format!("[{}] failed to parse field [{name}]", self.kind))
    }

    /// Returns a whole number from `least` on.
    pub(super) fn count(&self, name: &str, usual: u64, least: u64) -> Read<u64> {
        let Some(value) = self.get(name) else { return Ok(usual) };
        let number = u64::try_from(read::integer(value)?).ok();
        number.filter(|number| *number >= least).ok_or_else(|| self.wrong(name))
    }

    /// Returns a number that is finite.
    pub(super) fn number(&self, name: &str) -> Read<Option<f64>> {
        let read = |value: &Json| {
            let number = shown(value).parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or_else(|| self.wrong(name))
        };
        self.get(name).map(read).transpose()
    }

    /// Returns the field, whose whole values are asked for. `kind` names the aggregation.
    pub(super) fn field(&self, context: &Context<'_>, kind: &str) -> Read<OfField> {
        let missing = || {
            let what = "Required one of fields [field, script], but none were specified. ";
            Refusal::illegal_argument(what)
        };
        let field = self.text("field").ok_or_else(missing)?;
        let known = context.schema.asked_whole(&field).map(|(_, kind)| kind);
        if matches!(known, Some(FieldKind::Text(_))) && kind != "missing" {
            return Err(query::without_values(&field));
        }
        Ok(OfField { field, kind: known, missing: None })
    }

    /// Like [`field`](Self::field), for numbers and moments.
    pub(super) fn numeric(&self, context: &Context<'_>) -> Read<OfField> {
        let of = self.field(context, self.kind)?;
        match of.kind {
            Some(kind) if !has_stats(kind) => Err(unsuitable(&of.field, kind, self.kind)),
            _ => Ok(of),
        }
    }
}

/// Returns the refusal of a field whose values do not suit an aggregation.
pub(super) fn unsuitable(field: &str, kind: FieldKind, aggregation: &str) -> Refusal {
    let kind = query::mapped(kind);
    let what = format!("Field [{field}] of type [{kind}] is not supported for aggregation");
    Refusal::illegal_argument(format!("{what} [{aggregation}]"))
}
