//! What is logged, and in which form.

use std::time::Duration;

use tracing::level_filters::LevelFilter;

/// The form of the log's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogFormat {
    /// `name=value` pairs (logfmt).
    Text,
    /// A JSON object a line.
    Json,
}

/// The settings of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Logging {
    /// The form of the lines.
    pub format: LogFormat,
    /// The least important lines about the server itself that are written.
    pub(crate) level: LevelFilter,
    /// True if each request has a line.
    pub access: bool,
    /// The time from which on a question has a line; zero for none.
    pub slow_query: Duration,
    /// True if that line has the question's text too.
    pub slow_query_text: bool,
}

/// The levels by their names, the most important first.
pub(super) const LEVELS: [(&str, LevelFilter); 4] = [
    ("error", LevelFilter::ERROR),
    ("warn", LevelFilter::WARN),
    ("info", LevelFilter::INFO),
    ("debug", LevelFilter::DEBUG),
];

impl Logging {
    /// Settings before the defaults are set.
    pub(super) fn empty() -> Logging {
        Logging {
            format: LogFormat::Text,
            level: LevelFilter::OFF,
            access: false,
            slow_query: Duration::ZERO,
            slow_query_text: false,
        }
    }
}
