//! What all requests share.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use spirit::Reader;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::budget::Budget;
use super::trail::Trail;
use crate::catalog::Catalog;
use crate::guard::{Access, Keyring};
use crate::index_name::IndexName;
use crate::log::Refusals;
use crate::metrics::Metrics;
use crate::problem::{Answered, Problem};
use crate::served::Served;
use crate::settings::Settings;
use crate::work::Workers;

/// Writes that may wait behind each thread that writes.
const WAITING_WRITES: usize = 8;

/// The server, as requests see it.
///
/// Requests get it by [`State`], with what their key may do. A server of another origin has no access.
#[derive(Clone)]
pub(crate) struct Server {
    shared: Arc<Shared>,
    access: Access,
    trail: Arc<Trail>,
}

struct Shared {
    settings: Settings,
    catalog: Arc<Catalog>,
    workers: Workers,
    keyring: Arc<Keyring>,
    refusals: Arc<Refusals>,
    metrics: Metrics,
    bodies: Budget,
    /// One permit for each write that runs or is about to.
    writes: Semaphore,
    /// One permit for each WebSocket.
    sockets: Arc<Semaphore>,
    /// Becomes true when the server is asked to end.
    ending: watch::Receiver<bool>,
}

impl Server {
    pub(crate) fn new(
        settings: Settings,
        catalog: Arc<Catalog>,
        workers: Workers,
        keyring: Arc<Keyring>,
        refusals: Arc<Refusals>,
        ending: watch::Receiver<bool>,
    ) -> Server {
        let writes = Semaphore::new(settings.ingest_threads * WAITING_WRITES);
        // One body fits, whatever the settings say.
        let bodies = Budget::of(settings.bodies.max(settings.body));
        let metrics = Metrics::new();
        let sockets = Arc::new(Semaphore::new(settings.connections.max(1)));
        let shared = Shared {
            settings,
            catalog,
            workers,
            keyring,
            refusals,
            metrics,
            bodies,
            writes,
            sockets,
            ending,
        };
        Server { shared: Arc::new(shared), access: Access::Nothing, trail: Arc::default() }
    }

    /// What the request may do.
    pub(crate) fn access(&self) -> &Access {
        &self.access
    }

    /// What is learnt of the request.
    pub(crate) fn trail(&self) -> &Arc<Trail> {
        &self.trail
    }

    /// The requests whose keys were refused.
    pub(crate) fn refusals(&self) -> &Refusals {
        &self.shared.refusals
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.shared.metrics
    }

    /// The memory of all bodies.
    pub(crate) fn bodies(&self) -> &Budget {
        &self.shared.bodies
    }

    pub(crate) fn keyring(&self) -> &Keyring {
        &self.shared.keyring
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Returns what becomes true when the server is asked to end. Answers without an end must end then.
    pub(crate) fn ending(&self) -> watch::Receiver<bool> {
        self.shared.ending.clone()
    }

    pub(crate) fn catalog(&self) -> &Arc<Catalog> {
        &self.shared.catalog
    }

    pub(crate) fn workers(&self) -> &Workers {
        &self.shared.workers
    }

    /// Returns the number of questions that wait for a thread.
    pub(crate) fn waiting_questions(&self) -> usize {
        self.shared.workers.waiting()
    }

    /// Returns the index of a name in a path.
    pub(crate) fn index(&self, name: &str) -> Answered<Arc<Served>> {
        let name = index_name(name)?;
        if !self.access.is_for(name.as_str()) {
            let user = self.access.user();
            return Err(Problem::forbidden(format!(
                "the key {user:?} is not for the index {name}"
            )));
        }
        Ok(self.shared.catalog.get(&name)?)
    }

    /// Lets one more WebSocket in. There may be as many as connections.
    pub(crate) fn socket(&self) -> Answered<OwnedSemaphorePermit> {
        let permit = self.shared.sockets.clone().try_acquire_owned();
        permit.map_err(|_| Problem::overloaded(StatusCode::SERVICE_UNAVAILABLE))
    }

    /// Asks an index, on a thread that has a reader of it.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        served: Arc<Served>,
        work: impl FnOnce(&mut Reader) -> Answered<T> + Send + 'static,
    ) -> Answered<T> {
        served.count_query();
        let trail = self.trail.clone();
        let asked = Instant::now();
        let work = move |reader: &mut Reader| {
            trail.waited(asked.elapsed());
            work(reader)
        };
        self.shared.workers.ask(served, work).await?
    }

    /// Does work that may wait for a disk. It waits for its turn, but not for ever.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Answered<T> + Send + 'static,
    ) -> Answered<T> {
        let turn = timeout(self.shared.settings.hold, self.shared.writes.acquire()).await;
        let _turn = turn.map_err(|_| Problem::overloaded(self.settings().overload_status))?;
        let done = spawn_blocking(work).await;
        done.unwrap_or_else(|_| Err(Problem::internal("the thread that wrote met a bug")))
    }
}

impl Server {
    /// Does work that may take long, on a thread of its own. It goes on if the client hangs up.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Answered<T> {
        let (reply, done) = oneshot::channel();
        // Nobody waits any more if the client has hung up.
        let work = move || drop(reply.send(work()));
        let thread = std::thread::Builder::new().name("spirit-change".to_owned()).spawn(work);
        thread.map_err(Problem::internal)?;
        done.await.map_err(|_| Problem::internal("the thread met a bug; its log says more"))
    }
}

/// Like axum's, with what the request's key may do.
pub(crate) struct State<T>(pub(crate) T);

impl FromRequestParts<Server> for State<Server> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Infallible> {
        let access = parts.extensions.get::<Access>().cloned().unwrap_or_default();
        let trail = parts.extensions.get::<Arc<Trail>>().cloned().unwrap_or_default();
        Ok(State(Server { access, trail, ..server.clone() }))
    }
}

/// Returns an answer of JSON that was written already.
pub(super) fn json(body: Vec<u8>) -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

/// Reads the name of an index.
pub(crate) fn index_name(name: &str) -> Answered<IndexName> {
    name.parse().map_err(|why| {
        let detail = format!("{name:?} is no name of an index: {why}");
        Problem::new(StatusCode::BAD_REQUEST, "index-name", "The request is not valid", detail)
    })
}

/// What follows the `?` of a request, read into a struct; what is unknown there is an error.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<T: serde::de::DeserializeOwned, S: Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::try_from_uri(&parts.uri);
        let axum::extract::Query(read) = query.map_err(|error| Problem::bad(error.body_text()))?;
        Ok(Parameters(read))
    }
}
