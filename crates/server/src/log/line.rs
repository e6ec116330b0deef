//! A line of the log, as `name=value` pairs or as a JSON object.
//!
//! All characters that could end a line or act on a terminal are escaped, as JSON escapes them. So no
//! client can write a line of its own.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::time::SystemTime;

use spirit_forms::escape::acts;
use tracing::Level;
use tracing::field::{Field, Visit};

use crate::settings::LogFormat;

/// The most bytes of a value. The rest is cut off.
const VALUE_BYTES_MAX: usize = 1000;
/// What stands in place of what was cut off.
const CUT: char = '…';

/// A line that is being written.
pub(super) struct Line {
    format: LogFormat,
    text: String,
}

impl Line {
    /// Begins a line with its time, its level and its log.
    pub(super) fn begin(format: LogFormat, at: SystemTime, level: &Level, log: &str) -> Line {
        let mut line = Line { format, text: String::with_capacity(256) };
        line.text("time", &humantime::format_rfc3339_micros(at).to_string());
        line.text("level", level_name(level));
        line.text("log", log);
        line
    }

    /// Returns the line with its end.
    pub(super) fn end(mut self) -> String {
        self.text.push_str(match self.format {
            LogFormat::Text => "\n",
            LogFormat::Json => "}\n",
        });
        self.text
    }

    pub(super) fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        let value = cut(value);
        if self.format == LogFormat::Text && is_bare(&value) {
            self.text.push_str(&value);
            return;
        }
        self.text.push('"');
        value.chars().for_each(|c| self.escaped(c));
        self.text.push('"');
    }

    /// Writes a value that is the same in both forms.
    pub(super) fn plain(&mut self, name: &str, value: impl fmt::Display) {
        self.name(name);
        let _ = write!(self.text, "{value}");
    }

    fn name(&mut self, name: &str) {
        // The message of an event has a name of its own in the library.
        let name = if name == "message" { "msg" } else { name };
        let _ = match (self.format, self.text.is_empty()) {
            (LogFormat::Text, true) => write!(self.text, "{name}="),
            (LogFormat::Text, false) => write!(self.text, " {name}="),
            (LogFormat::Json, true) => write!(self.text, "{{\"{name}\":"),
            (LogFormat::Json, false) => write!(self.text, ",\"{name}\":"),
        };
    }

    fn escaped(&mut self, c: char) {
        match c {
            '"' => self.text.push_str("\\\""),
            '\\' => self.text.push_str("\\\\"),
            '\n' => self.text.push_str("\\n"),
            '\r' => self.text.push_str("\\r"),
            '\t' => self.text.push_str("\\t"),
            c if acts(c) => {
                let _ = write!(self.text, "\\u{:04x}", u32::from(c));
            }
            c => self.text.push(c),
        }
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field.name(), &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.plain(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.plain(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.plain(field.name(), value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.plain(field.name(), value);
    }
}

fn level_name(level: &Level) -> &'static str {
    match *level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        _ => "debug",
    }
}

/// True if a value of a pair needs no quotation marks.
fn is_bare(value: &str) -> bool {
    let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '"' | '=' | '\\') && !acts(c);
    !value.is_empty() && value.chars().all(is_plain)
}

/// Returns a value without what is too long.
fn cut(value: &str) -> Cow<'_, str> {
    if value.len() <= VALUE_BYTES_MAX {
        return value.into();
    }
    let end = value.floor_char_boundary(VALUE_BYTES_MAX);
    format!("{}{CUT}", &value[..end]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(format: LogFormat, pairs: &[(&str, &str)]) -> String {
        let mut line = Line::begin(format, SystemTime::UNIX_EPOCH, &Level::INFO, "server");
        pairs.iter().for_each(|(name, value)| line.text(name, value));
        line.end()
    }

    #[test]
    fn lines_have_both_forms() {
        let pairs = [("message", "the server starts"), ("index", "birds"), ("empty", "")];
        assert_eq!(
            line(LogFormat::Text, &pairs),
            "time=1970-01-01T00:00:00.000000Z level=info log=server msg=\"the server starts\" \
             index=birds empty=\"\"\n"
        );
        assert_eq!(
            line(LogFormat::Json, &pairs),
            "{\"time\":\"1970-01-01T00:00:00.000000Z\",\"level\":\"info\",\"log\":\"server\",\
             \"msg\":\"the server starts\",\"index\":\"birds\",\"empty\":\"\"}\n"
        );
    }

    #[test]
    fn no_value_acts_outside_its_place() {
        let evil = "a\nb\r\u{1b}[31m\u{9b}\u{2028}\u{202e}\"\\=\u{0}\u{7f}é";
        for format in [LogFormat::Text, LogFormat::Json] {
            let line = line(format, &[("evil", evil)]);
            let inside = line.strip_suffix('\n').unwrap();
            assert!(!inside.chars().any(acts), "{inside:?}");
            assert!(inside.contains(r#"a\nb\r\u001b[31m\u009b\u2028\u202e\"\\=\u0000\u007fé""#));
        }
        let json = line(LogFormat::Json, &[("evil", evil)]);
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["evil"], evil);
    }

    #[test]
    fn long_values_are_cut() {
        let long = "é".repeat(VALUE_BYTES_MAX);
        let line = line(LogFormat::Text, &[("long", &long)]);
        assert!(line.ends_with("é…\n") && line.len() < VALUE_BYTES_MAX + 100, "{}", line.len());
    }
}
