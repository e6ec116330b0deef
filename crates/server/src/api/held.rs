//! Writes that find no room in their index. They are held and made again, for as long as `hold` says:
//! most clients lose or mishandle a refusal, but all of them wait. Then they are refused as a whole.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use tokio::time::sleep;

use super::server::Server;
use crate::problem::{Answered, Problem};

/// The time to the second try, and the longest one between two tries.
const PAUSE: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// What became of a write.
pub(crate) trait Outcome: Send + Sized + 'static {
    /// True if nothing of it was taken, since the index is full.
    fn found_no_room(&self) -> bool;

    /// Gives the refusal this status.
    fn refused_with(self, status: StatusCode) -> Self;
}

impl<T: Send + 'static> Outcome for Answered<T> {
    fn found_no_room(&self) -> bool {
        self.as_ref().is_err_and(Problem::is_of_full_index)
    }

    fn refused_with(self, status: StatusCode) -> Self {
        self.map_err(|problem| problem.with_status(status))
    }
}

impl Server {
    /// Writes like [`write`](Self::write), and again while the index is full. Ends early if the client
    /// hangs up. `index` is the one of the request, if it names one. Between two tries it may grow, so
    /// the work gets it from the catalog each time.
    pub(crate) async fn write_held<T: Outcome>(
        &self,
        index: Option<&str>,
        work: impl Fn() -> T + Send + Sync + 'static,
    ) -> Answered<T> {
        let (work, mut pause) = (Arc::new(work), PAUSE);
        let end = Instant::now() + self.settings().hold;
        loop {
            let again = work.clone();
            let outcome = self.write(move || Ok(again())).await?;
            if !outcome.found_no_room() {
                return Ok(outcome);
            }
            if Instant::now() + pause > end {
                return Ok(outcome.refused_with(self.settings().overload_status));
            }
            self.trail().leave();
            sleep(pause).await;
            let patience = end.saturating_duration_since(Instant::now());
            self.trail().enter(self.catalog().reopening().pass(index, patience).await);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}
