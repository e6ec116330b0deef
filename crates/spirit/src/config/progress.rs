//! The progress of long work.

/// The progress of a start, a backup, a verification, a restore or a salvage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that are done.
    pub done: u64,
    /// Bytes in all. An estimate, which may change from call to call.
    pub total: u64,
}

impl Progress {
    /// Returns the progress in percent.
    pub fn percent(&self) -> u8 {
        (self.done.min(self.total) as f64 * 100.0 / self.total.max(1) as f64) as u8
    }

    /// Returns the progress of a start that replays the logs of `executors` one after another. The
    /// logs of the others are not known yet, and are taken to be as long as the current one.
    pub(crate) fn of_replay(executor: usize, executors: usize, done: u64, bytes: u64) -> Progress {
        let bytes = bytes.max(1);
        let done = executor as u64 * bytes + done;
        Progress { done, total: executors as u64 * bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_counts_all_executors() {
        let at = |executor, done| Progress::of_replay(executor, 4, done, 50).percent();
        assert_eq!([at(0, 0), at(0, 25), at(1, 0), at(3, 50)], [0, 12, 25, 100]);
        assert_eq!(Progress::of_replay(0, 1, 0, 0).percent(), 0);
        assert_eq!(Progress::default().percent(), 0);
    }
}
