//! What is shown of two samples: lines of text, the same on a terminal and in a pipe.

use std::time::Duration;

use spirit_forms::figures::PARTS;
use spirit_forms::size::Size;

use super::sample::{Durations, IndexSample, Sample, ServerSample};
use crate::output::{elapsed, grouped};
use crate::terminal::one_line;

/// Columns between two cells.
const GAP: usize = 2;

/// What the indexes are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Order {
    /// Adds a second, the most first
    #[default]
    Adds,
    /// Queries a second, the most first
    Queries,
    /// Documents, the most first
    Documents,
    /// Bytes in DRAM, the most first
    Dram,
    /// Names
    Name,
}

impl Order {
    /// Returns the next one.
    pub(crate) fn next(self) -> Order {
        match self {
            Order::Adds => Order::Queries,
            Order::Queries => Order::Documents,
            Order::Documents => Order::Dram,
            Order::Dram => Order::Name,
            Order::Name => Order::Adds,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Order::Adds => "adds",
            Order::Queries => "queries",
            Order::Documents => "documents",
            Order::Dram => "dram",
            Order::Name => "name",
        }
    }
}

/// A line, and whether it is the head of a table.
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) is_head: bool,
}

/// Two samples, and what is between them.
pub(crate) struct View<'s> {
    /// The URL of a server, or the path of an index.
    pub(crate) name: &'s str,
    pub(crate) before: &'s Sample,
    pub(crate) now: &'s Sample,
    pub(crate) order: Order,
}

/// An index with its rates.
struct Row<'s> {
    name: &'s str,
    index: &'s IndexSample,
    adds: f64,
    /// None if nobody counts them.
    queries: Option<f64>,
}

impl View<'_> {
    /// Returns all lines.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let rows = self.rows();
        let plain = |text: String| Line { text, is_head: false };
        let mut lines: Vec<Line> = self.summary().into_iter().map(plain).collect();
        lines.push(plain(String::new()));
        lines.extend(table(&self.indexes(&rows)));
        if !rows.is_empty() {
            lines.push(plain(String::new()));
            lines.extend(table(&structures(&rows)));
        }
        lines
    }

    fn seconds(&self) -> f64 {
        self.now.at.duration_since(self.before.at).as_secs_f64().max(1e-3)
    }

    fn summary(&self) -> Vec<String> {
        let (name, version) = (one_line(self.name), one_line(&self.now.version));
        let mut head = format!("{name}   SPIRIT {version}");
        let server = self.now.server.as_ref();
        if let Some(server) = server {
            let uptime = Duration::from_secs(server.uptime.as_secs());
            head.push_str(&format!("   up {}", humantime::format_duration(uptime)));
            let memory = server.resident.map(|bytes| format!("   memory {}", Size(bytes as u64)));
            head.push_str(&memory.unwrap_or_default());
        }
        let mut lines = vec![head];
        if let Some((now, before)) = server.zip(self.before.server.as_ref()) {
            lines.push(self.latencies("searches", &now.searches, &before.searches));
            lines.push(self.latencies("writes", &now.writes, &before.writes));
        }
        // There are none unless some index waits for the disk.
        if self.now.flushes.count() > 0.0 {
            lines.push(self.latencies("flushes", &self.now.flushes, &self.before.flushes));
        }
        lines.extend(server.map(|server| self.state(server)));
        lines
    }

    fn state(&self, now: &ServerSample) -> String {
        let before = self.before.server.as_ref().map_or(0.0, |before| before.refused);
        let refused = (now.refused - before).max(0.0) / self.seconds();
        let mut state = format!("waiting {}   refused {}/s", now.waiting, rate(refused));
        for (number, what) in [(now.starting, "starting"), (now.failed, "out of service")] {
            if number > 0.0 {
                state.push_str(&format!("   {number} indexes {what}"));
            }
        }
        state
    }

    fn latencies(&self, name: &str, now: &Durations, before: &Durations) -> String {
        let since = now.since(before);
        let time = |part| match since.quantile(part) {
            Some(seconds) => elapsed(Duration::from_secs_f64(seconds)),
            None => "-".to_owned(),
        };
        let a_second = rate(since.count() / self.seconds());
        format!("{name:<9}{a_second:>9}/s   P50 {:<9}P99 {}", time(0.5), time(0.99))
    }

    fn row<'s>(&'s self, name: &'s str, index: &'s IndexSample) -> Row<'s> {
        let before = self.before.indexes.get(name);
        let rate = |now: f64, then: Option<f64>| {
            let then = then.unwrap_or(now);
            // One that was made again counts from 0.
            let grown = if then > now { now } else { now - then };
            grown / self.seconds()
        };
        let adds = rate(index.accepted, before.map(|before| before.accepted));
        let queries = index.queries.map(|now| rate(now, before.and_then(|before| before.queries)));
        Row { name, index, adds, queries }
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let indexes = self.now.indexes.iter();
        let mut rows: Vec<_> = indexes.map(|(name, index)| self.row(name, index)).collect();
        let value = |row: &Row<'_>| match self.order {
            Order::Adds => row.adds,
            Order::Queries => row.queries.unwrap_or_default(),
            Order::Documents => row.index.documents,
            Order::Dram => row.index.dram.0,
            Order::Name => 0.0,
        };
        // Equal ones stay in the order of their names.
        rows.sort_by(|one, other| value(other).total_cmp(&value(one)));
        rows
    }

    fn indexes(&self, rows: &[Row<'_>]) -> Vec<Vec<String>> {
        let head = [
            "INDEX",
            "DOCUMENTS",
            "ADDS/S",
            "QUERIES/S",
            "SEGMENTS",
            "LOG ONLY",
            "DRAM",
            "OF",
            "SECOND TIER",
            "OF",
        ];
        let mut head: Vec<String> = head.map(str::to_owned).into();
        head[0] = format!("INDEX (by {})", self.order.name());
        let mut cells = vec![head];
        cells.extend(rows.iter().map(|row| {
            let index = row.index;
            let size = |bytes: f64| Size(bytes as u64).to_string();
            vec![
                one_line(row.name),
                grouped(index.documents as u64),
                rate(row.adds),
                row.queries.map_or_else(|| "-".to_owned(), rate),
                grouped(index.segments as u64),
                grouped(index.lag as u64),
                size(index.dram.0),
                size(index.dram.1),
                size(index.nvm.0),
                size(index.nvm.1),
            ]
        }));
        cells
    }
}

/// Returns the bytes of each index by structure.
fn structures(rows: &[Row<'_>]) -> Vec<Vec<String>> {
    let head = PARTS.iter().map(|part| part.to_uppercase().replace('_', " "));
    let mut cells = vec![["BYTES IN".to_owned()].into_iter().chain(head).collect::<Vec<_>>()];
    cells.extend(rows.iter().map(|row| {
        let size = |part: &&str| {
            Size(row.index.parts.get(*part).copied().unwrap_or_default() as u64).to_string()
        };
        [one_line(row.name)].into_iter().chain(PARTS.iter().map(size)).collect()
    }));
    cells
}

/// Lays out cells: the first column to the left, the others to the right.
fn table(cells: &[Vec<String>]) -> Vec<Line> {
    use crate::terminal::columns;
    let count = cells.first().map_or(0, Vec::len);
    let width = |column: usize| cells.iter().map(|row| columns(&row[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let line = |row: &Vec<String>| {
        let mut text = String::new();
        for (place, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let blanks = " ".repeat(width - columns(cell));
            match place {
                0 => text.extend([cell.as_str(), &blanks]),
                _ => text.extend([" ".repeat(GAP).as_str(), &blanks, cell]),
            }
        }
        text
    };
    let number = cells.iter().enumerate();
    number.map(|(place, row)| Line { text: line(row), is_head: place == 0 }).collect()
}

/// Writes a rate: small ones with a digit behind the point.
fn rate(a_second: f64) -> String {
    match a_second {
        0.0 => "0".to_owned(),
        ..10.0 => format!("{a_second:.1}"),
        _ => grouped(a_second.round() as u64),
    }
}
