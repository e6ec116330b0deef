//! The log, on standard error: a line for each event, which no thread waits for.
//!
//! | `log` | lines |
//! |---|---|
//! | `server` | the server's life, by `log-level` |
//! | `access` | each request, if `access-log` is on |
//! | `slow` | questions that took `slow-query` or longer |
//!
//! Lines have no text of documents, no text of queries unless asked, and no keys. Events of other
//! crates are not written, so nothing of a request is written by chance.

mod line;
mod refusals;
mod writer;

use std::io;
use std::panic::PanicHookInfo;
use std::time::SystemTime;

use tracing::level_filters::LevelFilter;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;

use crate::settings::{LogFormat, Logging};
use line::Line;
pub(crate) use refusals::Refusals;
pub(crate) use writer::{Log, lost};

/// The target of lines about requests.
pub(crate) const ACCESS: &str = "spirit::access";
/// The target of lines about slow questions.
pub(crate) const SLOW: &str = "spirit::slow";
/// What the targets of our own crates begin with.
const OWN: &str = "spirit";

/// Starts the log of this process. It is flushed before the process ends.
pub(crate) fn start(logging: &Logging) -> io::Result<Log> {
    let log = Log::start(logging.format)?;
    let lines = Lines { format: logging.format, level: logging.level, log: log.clone() };
    // A program that serves and has a subscriber of its own keeps it.
    let _ = tracing::subscriber::set_global_default(Registry::default().with(lines));
    std::panic::set_hook(Box::new(panicked));
    Ok(log)
}

/// Logs a bug. The usual hook writes to standard error, and waits for its reader.
fn panicked(info: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or_default();
    let at = info.location().map(ToString::to_string);
    // A message that was put together may quote a document.
    let message = info.payload().downcast_ref::<&'static str>().copied();
    tracing::error!(thread, at, message, "the server met a bug");
    if let Some(message) = info.payload().downcast_ref::<String>() {
        tracing::debug!(thread, message, "the message of the bug");
    }
}

/// Makes lines of events.
struct Lines {
    format: LogFormat,
    level: LevelFilter,
    log: Log,
}

impl<S: Subscriber> Layer<S> for Lines {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        match metadata.target() {
            ACCESS | SLOW => true,
            target => target.starts_with(OWN) && *metadata.level() <= self.level,
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level.max(LevelFilter::INFO))
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let log = match event.metadata().target() {
            ACCESS => "access",
            SLOW => "slow",
            _ => "server",
        };
        let mut line = Line::begin(self.format, SystemTime::now(), event.metadata().level(), log);
        event.record(&mut line);
        self.log.write(line.end());
    }
}
