//! Tables of `_cat`: as text with columns that are chosen, sorted and aligned, or as JSON.

use std::cmp::Ordering;

use axum::http::HeaderValue;
use axum::response::Response;
use spirit_opensearch::error::Refusal;

use super::answer::filtered;
use super::parameters::Parameters;
use super::refused::{Answered, json};
use crate::pattern::matches;

/// A column.
pub(super) struct Column {
    pub(super) name: &'static str,
    /// Other names, divided by commas.
    pub(super) aliases: &'static str,
    pub(super) description: &'static str,
    pub(super) kind: Kind,
    /// True if it is there without being asked for.
    pub(super) is_usual: bool,
}

/// How values of a column look.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Text,
    /// Aligned at the right.
    Number,
    /// Like [`Number`](Self::Number), with a unit.
    Bytes,
}

impl Column {
    fn has_name(&self, name: &str) -> bool {
        self.name == name || self.aliases.split(',').any(|alias| alias == name)
    }

    fn matches(&self, pattern: &str) -> bool {
        let mut names = std::iter::once(self.name).chain(self.aliases.split(','));
        names.any(|name| matches(pattern, name))
    }
}

/// A table: columns, and rows with a value for each of them.
pub(super) struct Table {
    pub(super) columns: &'static [Column],
    pub(super) rows: Vec<Vec<String>>,
}

/// How a table is shown.
pub(super) struct Look {
    columns: Option<String>,
    sort: Option<String>,
    unit: Option<String>,
    has_head: bool,
    is_help: bool,
}

impl Look {
    /// Takes the parameters of a table.
    pub(super) fn take(parameters: &mut Parameters) -> Answered<Look> {
        if let Some(format) = parameters.other_format() {
            return Err(Refusal::unsupported(format!("[format={format}]")).into());
        }
        parameters.take("time");
        Ok(Look {
            columns: parameters.take("h").filter(|names| !names.is_empty()),
            sort: parameters.take("s").filter(|names| !names.is_empty()),
            unit: parameters.take("bytes"),
            has_head: parameters.flag("v")?,
            is_help: parameters.flag("help")?,
        })
    }
}

impl Table {
    /// Returns the answer.
    pub(super) fn shown(mut self, look: &Look, parameters: &Parameters) -> Answered<Response> {
        if look.is_help {
            return Ok(text(self.help()));
        }
        self.sort(look.sort.as_deref())?;
        let chosen = self.chosen(look.columns.as_deref());
        let shown = |row: &Vec<String>| -> Vec<String> {
            let value = |(place, _): &(usize, String)| match self.columns[*place].kind {
                Kind::Bytes => bytes(&row[*place], look.unit.as_deref()),
                _ => row[*place].clone(),
            };
            chosen.iter().map(value).collect()
        };
        let rows: Vec<Vec<String>> = self.rows.iter().map(shown).collect();
        if parameters.is_text() {
            return Ok(text(self.lines(&chosen, rows, look.has_head)));
        }
        let object = |row: &Vec<String>| {
            let text = |text: &str| serde_json::to_string(text).unwrap_or_default();
            let members = chosen.iter().zip(row);
            let members = members.map(|((_, name), value)| text(name) + ":" + &text(value));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        };
        let rows: Vec<String> = rows.iter().map(object).collect();
        Ok(filtered(parameters, 200, format!("[{}]", rows.join(","))))
    }

    /// Returns the columns that are asked for, each with the name by which it is. Unknown ones are
    /// left out, as in OpenSearch.
    fn chosen(&self, names: Option<&str>) -> Vec<(usize, String)> {
        let columns = || self.columns.iter().enumerate();
        let Some(names) = names else {
            let usual = columns().filter(|(_, column)| column.is_usual);
            return usual.map(|(place, column)| (place, column.name.to_owned())).collect();
        };
        let mut chosen: Vec<(usize, String)> = Vec::new();
        for name in names.split(',') {
            let found: Vec<_> = if name.contains('*') {
                let found = columns().filter(|(_, column)| column.matches(name));
                found.map(|(place, column)| (place, column.name.to_owned())).collect()
            } else {
                let found = self.place(name).map(|place| (place, name.to_owned()));
                found.into_iter().collect()
            };
            let is_new = |column: &(usize, String)| !chosen.contains(column);
            let new: Vec<_> = found.into_iter().filter(is_new).collect();
            chosen.extend(new);
        }
        chosen
    }

    /// Returns the place of a column. Its own name is stronger than an alias of another one.
    fn place(&self, name: &str) -> Option<usize> {
        let own = self.columns.iter().position(|column| column.name == name);
        own.or_else(|| self.columns.iter().position(|column| column.has_name(name)))
    }

    fn sort(&mut self, keys: Option<&str>) -> Answered<()> {
        let mut places = Vec::new();
        for key in keys.unwrap_or_default().split(',').filter(|key| !key.is_empty()) {
            let (name, descending) = match key.rsplit_once(':') {
                Some((name, "desc")) => (name, true),
                Some((name, "asc")) => (name, false),
                _ => (key, false),
            };
            let place = self.place(name).ok_or_else(|| {
                let reason = format!("Unable to sort by unknown sort key `{name}`");
                Refusal::new("unsupported_operation_exception", 500, reason)
            })?;
            places.push((place, descending));
        }
        self.rows.sort_by(|a, b| {
            let compare = |(place, descending): &(usize, bool)| {
                let ordering = compare(&a[*place], &b[*place]);
                if *descending { ordering.reverse() } else { ordering }
            };
            places.iter().map(compare).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
        });
        Ok(())
    }

    fn lines(&self, chosen: &[(usize, String)], rows: Vec<Vec<String>>, has_head: bool) -> String {
        let head = chosen.iter().map(|(_, name)| name.clone()).collect();
        let rows: Vec<Vec<String>> = has_head.then_some(head).into_iter().chain(rows).collect();
        let width =
            |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..chosen.len()).map(width).collect();
        let line = |row: &Vec<String>| {
            let cell = |(number, value): (usize, &String)| {
                let width = widths[number];
                match self.columns[chosen[number].0].kind {
                    Kind::Text if number + 1 == chosen.len() => value.clone(),
                    Kind::Text => format!("{value:<width$}"),
                    _ => format!("{value:>width$}"),
                }
            };
            row.iter().enumerate().map(cell).collect::<Vec<_>>().join(" ") + "\n"
        };
        rows.iter().map(line).collect()
    }

    /// Describes the columns.
    fn help(&self) -> String {
        let width = |text: fn(&Column) -> &str| {
            self.columns.iter().map(|column| text(column).len()).max().unwrap_or(0)
        };
        let [names, aliases, descriptions] =
            [width(|c| c.name), width(|c| c.aliases), width(|c| c.description)];
        let line = |Column { name, aliases: others, description, .. }: &Column| {
            format!("{name:<names$} | {others:<aliases$} | {description:<descriptions$}\n")
        };
        self.columns.iter().map(line).collect()
    }
}

fn text(lines: String) -> Response {
    let mut response = json(200, lines);
    let kind = HeaderValue::from_static("text/plain; charset=UTF-8");
    response.headers_mut().insert("content-type", kind);
    response
}

fn compare(one: &str, other: &str) -> Ordering {
    match (one.parse::<u64>(), other.parse::<u64>()) {
        (Ok(one), Ok(other)) => one.cmp(&other),
        _ => one.cmp(other),
    }
}

/// Returns a number of bytes in a unit, rounded down; without one in the largest that suits.
fn bytes(value: &str, unit: Option<&str>) -> String {
    let Ok(bytes) = value.parse::<u64>() else { return value.to_owned() };
    let units = ["b", "kb", "mb", "gb", "tb", "pb"];
    let is_it = |known: &&str| unit.is_some_and(|unit| *known == unit || known[..1] == *unit);
    if let Some(power) = units.iter().position(is_it) {
        return (bytes >> (10 * power)).to_string();
    }
    let power = (1..units.len()).rev().find(|power| bytes >> (10 * power) > 0).unwrap_or(0);
    // As in OpenSearch, tenths are cut off, and none are shown where they are zero.
    let tenths = (u128::from(bytes) * 10) >> (10 * power);
    match tenths % 10 {
        0 => format!("{}{}", tenths / 10, units[power]),
        tenth => format!("{}.{tenth}{}", tenths / 10, units[power]),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn bytes_have_the_largest_unit_that_suits() {
        for (value, unit, shown) in [
            ("0", None, "0b"),
            ("1023", None, "1023b"),
            ("1024", None, "1kb"),
            ("5770", None, "5.6kb"),
            ("5770", Some("kb"), "5"),
            ("5770", Some("k"), "5"),
            ("5770", Some("b"), "5770"),
            ("5770", Some("bogus"), "5.6kb"),
            ("1610612736", None, "1.5gb"),
        ] {
            assert_eq!(bytes(value, unit), shown, "{value} {unit:?}");
        }
    }
}
