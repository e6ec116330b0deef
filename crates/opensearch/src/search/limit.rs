//! Limits of a search: numbers of hits, times, and how far matches are counted.

use std::time::Duration;

use super::TrackTotalHits;
use crate::error::Refusal;
use crate::json::Json;
use crate::read;

/// Returns a number of hits.
pub(super) fn count(name: &str, number: i64) -> Result<usize, Refusal> {
    usize::try_from(number).map_err(|_| {
        let what = format!("[{name}] parameter cannot be negative, found [{number}]");
        Refusal::illegal_argument(what)
    })
}

/// Reads a time such as `30s`. None for `-1`, which is no limit.
///
/// # Errors
/// If it is no time.
///
/// ```
/// use spirit_opensearch::search::time;
///
/// assert_eq!(time("keep_alive", "2m")?, Some(std::time::Duration::from_secs(120)));
/// # Ok::<(), spirit_opensearch::error::Refusal>(())
/// ```
pub fn time(name: &str, value: &str) -> Result<Option<Duration>, Refusal> {
    let wrong = || {
        Refusal::illegal_argument(format!(
            "failed to parse setting [{name}] with value [{value}] as a time value: unit is missing \
             or unrecognized"
        ))
    };
    if value == "-1" {
        return Ok(None);
    }
    if value == "0" {
        return Ok(Some(Duration::ZERO));
    }
    let end = value.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = value.split_at(end);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let seconds = |seconds: u64| Duration::from_secs(number.saturating_mul(seconds));
    Ok(Some(match unit {
        "nanos" => Duration::from_nanos(number),
        "micros" => Duration::from_micros(number),
        "ms" => Duration::from_millis(number),
        "s" => seconds(1),
        "m" => seconds(60),
        "h" => seconds(3600),
        "d" => seconds(86_400),
        _ => return Err(wrong()),
    }))
}

impl TrackTotalHits {
    pub(super) fn read(value: &Json) -> Result<TrackTotalHits, Refusal> {
        match value {
            Json::Bool(true) => Ok(TrackTotalHits::Exactly),
            Json::Bool(false) => Ok(TrackTotalHits::Off),
            value => TrackTotalHits::up_to(read::integer(value)?),
        }
    }

    /// Returns the limit that a number means. -1 stands for none at all.
    pub(super) fn up_to(limit: i64) -> Result<TrackTotalHits, Refusal> {
        match u64::try_from(limit) {
            Ok(limit) => Ok(TrackTotalHits::UpTo(limit)),
            Err(_) if limit == -1 => Ok(TrackTotalHits::Off),
            Err(_) => {
                let what = format!("totalHitsThreshold must be >= 0, got {limit}");
                Err(Refusal::illegal_argument(what))
            }
        }
    }
}
