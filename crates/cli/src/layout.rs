//! A hit for people, on one line: its key, what it is sorted by, its time, the fields that were
//! asked for, its text.
//!
//! In a pipe a tab parts the columns and the text is whole, for `cut` and `awk`. On a terminal two
//! blanks part them, and the text ends where the line does.

use std::io::{self, Write};
use std::iter;

use spirit::schema::Field;
use spirit::{FieldKind, Index};
use spirit_forms::escape::escaped;
use spirit_forms::explained::Explained;
use spirit_forms::hit::Hit;
use spirit_forms::values::rounded;

use crate::snippets::{self, Marks};
use crate::terminal::{self, one_line};
use crate::values::{self, NONE};

/// Columns that a text has at least, however much stands before it.
const TEXT_COLUMNS_MIN: usize = 20;
/// Columns that a short value is padded to at most, beside long ones.
const PADDED_MAX: usize = 24;
/// Digits of a score that people see, behind the point: as many as its 24 bits are good for.
const SCORE_DIGITS: i32 = 5;

pub(crate) struct Layout {
    /// Fields of moments: the first that a document has is its time.
    times: Vec<String>,
    /// Fields that were asked for.
    fields: Vec<String>,
    /// The terminal's columns, if standard output is one.
    width: Option<usize>,
    marks: Marks,
}

impl Layout {
    /// Lays out hits of `index` with these fields. Key and text are always shown.
    pub(crate) fn new(index: &Index, fields: &[String]) -> Layout {
        let own = |name: &&String| !matches!(name.as_str(), "key" | "text");
        let is_time = |field: &&Field| matches!(field.kind, FieldKind::Time(_));
        let schema = index.schema();
        let times = schema.fields().iter().filter(is_time).map(|field| field.name.clone());
        Layout {
            times: times.filter(|name| index.settings().store && !fields.contains(name)).collect(),
            fields: fields.iter().filter(own).cloned().collect(),
            width: terminal::width(),
            marks: Marks::for_output(),
        }
    }

    /// Writes the hits of an answer.
    pub(crate) fn write(&self, hits: &[Hit], out: &mut impl Write) -> io::Result<()> {
        let rows: Vec<Vec<String>> = hits.iter().map(|hit| self.cells(hit)).collect();
        let widths = widths(&rows);
        hits.iter().zip(rows).try_for_each(|(hit, row)| self.write_one(hit, row, &widths, out))
    }

    /// Writes a hit, its snippets, and why it has its score.
    fn write_one(
        &self,
        hit: &Hit,
        row: Vec<String>,
        widths: &[usize],
        out: &mut impl Write,
    ) -> io::Result<()> {
        writeln!(out, "{}", self.line(hit, row, widths))?;
        for snippet in hit.snippets.iter().flatten() {
            writeln!(out, "    {}", snippets::line(snippet, self.marks))?;
        }
        if let Some(Explained(explanation)) = &hit.explanation {
            for line in explanation.to_string().lines() {
                writeln!(out, "    {}", escaped(line))?;
            }
        }
        Ok(())
    }

    fn line(&self, hit: &Hit, mut row: Vec<String>, widths: &[usize]) -> String {
        // Snippets are of the text, and stand below.
        // A source is shown where the index has no text.
        let text = hit.text.as_deref().or(hit.source.as_ref().map(|source| source.get()));
        let text = text.filter(|_| hit.snippets.is_none()).map(one_line);
        let Some(width) = self.width else {
            row.extend(text);
            return row.join("\t");
        };
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let blanks = 2 + width.saturating_sub(terminal::columns(cell));
            line.push_str(cell);
            line.extend(iter::repeat_n(' ', blanks));
        }
        let room = width.saturating_sub(terminal::columns(&line));
        let text = text.unwrap_or_default();
        line.push_str(&terminal::cut(&text, room.max(TEXT_COLUMNS_MIN)));
        line.truncate(line.trim_end().len());
        line
    }

    /// Collects the columns before the text.
    fn cells(&self, hit: &Hit) -> Vec<String> {
        let mut cells = vec![one_line(&hit.key)];
        match (hit.score, &hit.sort) {
            (Some(score), _) => cells.push(score_shown(score)),
            (None, Some(value)) => cells.push(one_line(&values::shown(value))),
            (None, None) => {}
        }
        let value =
            |name: &String| values::of_field(&hit.fields, name).map(|value| one_line(&value));
        if !self.times.is_empty() {
            cells.push(self.times.iter().find_map(value).unwrap_or_else(|| NONE.to_owned()));
        }
        let asked = self.fields.iter().map(|name| value(name).unwrap_or_else(|| NONE.to_owned()));
        cells.extend(asked);
        cells
    }
}

/// Returns the widths of the columns before the text: that of the longest value, at most
/// [`PADDED_MAX`].
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let width = |column: usize| rows.iter().map(|row| terminal::columns(&row[column])).max();
    let columns = rows.first().map_or(0, Vec::len);
    (0..columns).map(|column| width(column).unwrap_or(0).min(PADDED_MAX)).collect()
}

/// Rounds a score for people, to at least four digits, so that faded scores differ too.
fn score_shown(score: f32) -> String {
    let rounded = |digits| rounded(f64::from(score), digits).to_string();
    match score.abs() {
        0.0 => "0".to_owned(),
        0.1..1e9 => rounded(SCORE_DIGITS),
        1e-4..0.1 => rounded(SCORE_DIGITS + 3),
        _ => format!("{score:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_shown_with_the_digits_that_tell_them_apart() {
        for (score, shown) in [
            (0.0, "0"),
            (1.0, "1"),
            (3.218_876, "3.21888"),
            (0.123_456_7, "0.12346"),
            (0.012_345_67, "0.01234567"),
            (0.000_123_456_7, "0.00012346"),
            (1.234_1e-30, "1.234e-30"),
            (1e30, "1.000e30"),
        ] {
            assert_eq!(score_shown(score), shown);
        }
    }
}
