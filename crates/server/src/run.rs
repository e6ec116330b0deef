//! The server's life: it opens the indexes, serves, and closes them in order.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::api;
use crate::api::server::Server;
use crate::catalog::Catalog;
use crate::connections::{self, Listener};
use crate::descriptors;
use crate::guard::{Keyring, KeysError};
use crate::log::{self, Refusals};
use crate::notify::{READY, STOPPING, notify};
use crate::reload;
use crate::settings::Settings;
use crate::socket::Socket;
use crate::tls::{Tls, TlsError};
use crate::work::Workers;

/// Why the server did not start, or did not end well.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is not this machine's own, and keys or a certificate are missing.
    Exposed {
        /// The address.
        address: SocketAddr,
        /// What is missing, and what to do.
        missing: &'static str,
    },
    /// The file of keys cannot be read.
    Keys(KeysError),
    /// The directory cannot be read or made.
    Directory {
        /// Its path.
        path: PathBuf,
        /// The reason.
        why: io::Error,
    },
    /// The address cannot be listened on.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        why: io::Error,
    },
    /// The certificate cannot be used.
    Tls(TlsError),
    /// The Unix socket cannot be listened on.
    Socket {
        /// Its path.
        path: PathBuf,
        /// The reason.
        why: io::Error,
    },
    /// A thread or a handler of signals cannot be made.
    System(io::Error),
    /// Indexes that were not closed well: what each of them said.
    Close(Vec<String>),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Exposed { address, missing } => write!(
                f,
                "{address} is not this machine's own address, and the server is not guarded: \
                 {missing}, listen on 127.0.0.1, or say --insecure yes"
            ),
            ServeError::Directory { path, why } => write!(f, "{}: {why}", path.display()),
            ServeError::Listen { address, why } => write!(
                f,
                "{address} cannot be listened on: {why}; choose another address or port by --listen"
            ),
            ServeError::Keys(error) => error.fmt(f),
            ServeError::Tls(error) => error.fmt(f),
            ServeError::Socket { path, why } => write!(f, "{}: {why}", path.display()),
            ServeError::System(error) => write!(f, "the server cannot start: {error}"),
            ServeError::Close(errors) => f.write_str(&errors.join("; ")),
        }
    }
}

impl Error for ServeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ServeError::Directory { why, .. } | ServeError::Listen { why, .. } => Some(why),
            ServeError::System(error) => Some(error),
            ServeError::Keys(error) => Some(error),
            ServeError::Tls(error) => Some(error),
            ServeError::Socket { why, .. } => Some(why),
            _ => None,
        }
    }
}

/// Serves the indexes of a directory until the process is asked to end. `listening` is called with the
/// URL once connections are accepted.
pub fn serve(settings: Settings, listening: impl FnOnce(&str)) -> Result<(), ServeError> {
    let log = log::start(&settings.logging).map_err(ServeError::System)?;
    let served = serve_logged(settings, listening);
    log.flush();
    served
}

fn serve_logged(mut settings: Settings, listening: impl FnOnce(&str)) -> Result<(), ServeError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    for threads in [&mut settings.query_threads, &mut settings.ingest_threads] {
        *threads = if *threads == 0 { cores } else { *threads };
    }
    settings.connections = descriptors::for_connections(settings.connections);
    let catalog = Catalog::list(&settings);
    let path = || settings.directory.clone();
    let catalog = Arc::new(catalog.map_err(|why| ServeError::Directory { path: path(), why })?);
    let keyring = Arc::new(Keyring::of(&settings.directory).map_err(ServeError::Keys)?);
    let tls = Tls::read(&settings.tls_cert, &settings.tls_key).map_err(ServeError::Tls)?;
    let guard = Guard { keyring, tls: tls.map(Arc::new) };
    guard.check_exposed(&settings)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores)
        .max_blocking_threads(settings.ingest_threads)
        .thread_name("spirit-http")
        .enable_all()
        .build()
        .map_err(ServeError::System)?;
    runtime.block_on(serve_catalog(&settings, catalog.clone(), guard, listening))?;
    // Writes under way end first.
    drop(runtime);
    match catalog.close() {
        errors if errors.is_empty() => Ok(()),
        errors => {
            let errors = errors.into_iter().map(|(name, why)| format!("{name}: {why}"));
            Err(ServeError::Close(errors.collect()))
        }
    }
}

/// What stands between the server and those who reach it.
struct Guard {
    keyring: Arc<Keyring>,
    tls: Option<Arc<Tls>>,
}

impl Guard {
    /// Returns an error if others reach the server and it has no keys or no certificate.
    fn check_exposed(&self, settings: &Settings) -> Result<(), ServeError> {
        if settings.listen.ip().is_loopback() || settings.insecure {
            return Ok(());
        }
        let missing = match (self.keyring.is_locked(), &self.tls) {
            (true, Some(_)) => return Ok(()),
            (false, _) => {
                "it has no keys, so anybody who reaches it could read and delete everything: make one \
                 by `spirit keys create`"
            }
            (true, None) => {
                "it has no certificate, so anybody on the way could read the keys: say --tls-cert and \
                 --tls-key"
            }
        };
        Err(ServeError::Exposed { address: settings.listen, missing })
    }
}

async fn serve_catalog(
    settings: &Settings,
    catalog: Arc<Catalog>,
    guard: Guard,
    listening: impl FnOnce(&str),
) -> Result<(), ServeError> {
    let Guard { keyring, tls } = guard;
    let failed = |why| ServeError::Listen { address: settings.listen, why };
    let listener = TcpListener::bind(settings.listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let mut listeners = vec![Listener::Tcp(listener, tls.clone())];
    let mut sockets = Vec::new();
    if !settings.socket.as_os_str().is_empty() {
        let path = &settings.socket;
        let failed = |why| ServeError::Socket { path: path.clone(), why };
        let (socket, listener) = Socket::listen(path).map_err(failed)?;
        sockets.push(socket);
        listeners.push(Listener::Unix(listener));
    }
    let workers = Workers::start(settings.query_threads, settings.requests, settings.query_timeout);
    let workers = workers.map_err(ServeError::System)?;
    let end = end_when_asked().map_err(ServeError::System)?;
    catalog.start();
    let refusals = Arc::new(Refusals::default());
    reload::start(keyring.clone(), refusals.clone(), tls).map_err(ServeError::System)?;
    let (version, keys) = (env!("CARGO_PKG_VERSION"), keyring.is_locked());
    let server = Server::new(settings.clone(), catalog, workers, keyring, refusals, end.clone());
    let router = api::router(server);
    notify(READY);
    let (url, directory) = (format!("{scheme}://{address}"), settings.directory.display());
    tracing::info!(version, url, %directory, keys, "the server listens");
    listening(&url);
    connections::serve(listeners, router, settings, end).await;
    notify(STOPPING);
    tracing::info!("the server ends");
    drop(sockets);
    Ok(())
}

/// Returns what becomes true when the process is asked to end.
fn end_when_asked() -> io::Result<watch::Receiver<bool>> {
    let (say, end) = watch::channel(false);
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        let (mut asked, say) = (signal(kind)?, say.clone());
        tokio::spawn(async move {
            asked.recv().await;
            let _ = say.send(true);
        });
    }
    Ok(end)
}
