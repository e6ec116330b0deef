//! `range`: values between two.

use std::ops::Bound;

use spirit::{Clause, FieldKind};

use super::Asked;
use super::members::{Common, Form, Members, OfField, of_field, text, unknown};
use super::number::{End, Side, bound, float, whole_end};
use super::term::no_field;
use super::value::{boolean, moment};
use crate::date::Dates;
use crate::error::Refusal;
use crate::json::Json;
use crate::read;

const QUERY: &str = "range";

/// The ends of a range as they are written, each with true if it belongs to the range.
#[derive(Default)]
struct Written {
    from: Option<String>,
    to: Option<String>,
    without_from: bool,
    without_to: bool,
    format: Option<String>,
    zone: Option<String>,
}

impl Asked<'_> {
    /// Reads `range`.
    pub(super) fn range(&self, body: &Json) -> Result<Clause, Refusal> {
        let Some((OfField { field, form }, mut common)) = of_field(QUERY, body)? else {
            return Err(no_field());
        };
        let Form::Long(members) = form else { return Err(unknown(QUERY, field)) };
        let written = Written::read(members, &mut common)?;
        let Some(kind) = self.kind(field) else { return Ok(Clause::Nothing) };
        let dates = match kind {
            FieldKind::Time(unit) => {
                Some(self.dates(unit, written.format.as_deref(), written.zone.as_deref())?)
            }
            _ => None,
        };
        let ends = |value: &Option<String>, is_out: bool, side: Side| match value {
            Some(value) => end(kind, dates.as_ref(), value, !is_out, side),
            None => Ok(End::At(Bound::Unbounded)),
        };
        let from = ends(&written.from, written.without_from, Side::Lower)?;
        let to = ends(&written.to, written.without_to, Side::Upper)?;
        let (End::At(from), End::At(to)) = (from, to) else { return Ok(Clause::Nothing) };
        let range = Clause::Range { field: field.to_owned(), from, to };
        Ok(range.constant(common.boost()))
    }
}

impl Written {
    fn read(members: &Members, common: &mut Common) -> Result<Written, Refusal> {
        let mut written = Written::default();
        for (name, value) in members {
            match name.as_str() {
                "from" => written.from = limit(name, value)?,
                "to" => written.to = limit(name, value)?,
                "include_lower" => written.without_from = !read::boolean(value)?,
                "include_upper" => written.without_to = !read::boolean(value)?,
                "gt" | "gte" | "ge" => {
                    (written.from, written.without_from) = (limit(name, value)?, name == "gt");
                }
                "lt" | "lte" | "le" => {
                    (written.to, written.without_to) = (limit(name, value)?, name == "lt");
                }
                "format" => written.format = Some(text(QUERY, name, value)?),
                "time_zone" => written.zone = Some(text(QUERY, name, value)?),
                "relation" => relation(&text(QUERY, name, value)?)?,
                name if common.takes(name, value)? => {}
                name => return Err(unknown(QUERY, name)),
            }
        }
        Ok(written)
    }
}

/// Reads the value at an end; none for an open one.
fn limit(name: &str, value: &Json) -> Result<Option<String>, Refusal> {
    if *value == Json::Null { Ok(None) } else { text(QUERY, name, value).map(Some) }
}

/// Checks a relation between ranges. Of single values, these three are one.
fn relation(name: &str) -> Result<(), Refusal> {
    match name.to_ascii_lowercase().as_str() {
        "intersects" | "within" | "contains" => Ok(()),
        "disjoint" => Err(Refusal::unsupported("[range] with the relation [disjoint]")),
        _ => Err(Refusal::illegal_argument(format!("{name} is not a valid relation"))),
    }
}

/// Returns one end of a range of values of a field. A longer time, such as a day, lies within a
/// range that it ends, and outside of one that excludes it.
fn end(
    kind: FieldKind,
    dates: Option<&Dates>,
    value: &str,
    inclusive: bool,
    side: Side,
) -> Result<End, Refusal> {
    Ok(match (kind, dates) {
        (FieldKind::Time(_), Some(dates)) => {
            let up = (side == Side::Lower) != inclusive;
            End::At(bound(moment(dates.ms(value, up)?), inclusive))
        }
        (FieldKind::Integer, _) => whole_end(value, inclusive, side)?,
        (FieldKind::Float, _) => End::At(bound(float(value)?.to_string(), inclusive)),
        (FieldKind::Boolean, _) => End::At(bound(boolean(value)?.to_owned(), inclusive)),
        _ => End::At(bound(value.to_owned(), inclusive)),
    })
}
