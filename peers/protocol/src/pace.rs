//! A writer's beat: this many documents a second, without drifting.

use std::time::{Duration, Instant};

/// A sleep may end later than asked by about this much; the rest is waited for awake.
const SLEEP_ERROR: Duration = Duration::from_micros(100);

/// When the next document is due.
pub struct Pace {
    start: Instant,
    per_second: f64,
    given: u64,
}

impl Pace {
    /// The first document is due now.
    pub fn new(per_second: f64) -> Pace {
        Pace { start: Instant::now(), per_second, given: 0 }
    }

    /// Waits until the next document is due; a writer that is late does not wait.
    pub fn wait(&mut self) {
        let due = self.start + Duration::from_secs_f64(self.given as f64 / self.per_second);
        self.given += 1;
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            if left > 2 * SLEEP_ERROR {
                std::thread::sleep(left - SLEEP_ERROR);
            } else {
                std::thread::yield_now();
            }
        }
    }
}
