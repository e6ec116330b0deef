//! Connections: accepting, limits in time and number, and an end that answers what is under way.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::{TowerToHyperService, TowerToHyperServiceFuture};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::settings::Settings;
use crate::tls::Tls;

/// The most bytes of a request's headers.
const HEADER_BYTES_MAX: usize = 64 << 10;
/// The most headers of a request.
const HEADERS_MAX: usize = 100;
/// The time before the next attempt where no connection can be accepted, as when too many files are
/// open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Where connections come from.
pub(crate) enum Listener {
    Tcp(TcpListener, Option<Arc<Tls>>),
    Unix(UnixListener),
}

/// A connection that was accepted.
enum Accepted {
    Tcp(tokio::net::TcpStream, SocketAddr, Option<Arc<Tls>>),
    Unix(tokio::net::UnixStream),
}

impl Listener {
    async fn accept(&self) -> io::Result<Accepted> {
        Ok(match self {
            Listener::Tcp(listener, tls) => {
                let (stream, address) = listener.accept().await?;
                Accepted::Tcp(stream, address, tls.clone())
            }
            Listener::Unix(listener) => Accepted::Unix(listener.accept().await?.0),
        })
    }
}

/// What all connections share.
#[derive(Clone)]
struct Serving {
    builder: Arc<Builder<TokioExecutor>>,
    router: Router,
    connections: Arc<Semaphore>,
    handshake: Duration,
}

/// Serves connections until `end` is set. Then requests under way are answered, within the time that
/// the settings say.
pub(crate) async fn serve(
    listeners: Vec<Listener>,
    router: Router,
    settings: &Settings,
    end: watch::Receiver<bool>,
) {
    let graceful = Arc::new(GracefulShutdown::new());
    let connections = Arc::new(Semaphore::new(settings.connections.max(1)));
    let builder = Arc::new(builder(settings));
    let serving = Serving { builder, router, connections, handshake: settings.header_timeout };
    let mut accepting = JoinSet::new();
    for listener in listeners {
        let (serving, graceful, mut end) = (serving.clone(), graceful.clone(), end.clone());
        accepting.spawn(async move {
            tokio::select! {
                () = accept(&listener, &serving, &graceful) => {}
                _ = end.wait_for(|over| *over) => {}
            }
        });
    }
    accepting.join_all().await;
    // Those that accepted had the other copies.
    if let Some(graceful) = Arc::into_inner(graceful) {
        let _ = tokio::time::timeout(settings.shutdown_timeout, graceful.shutdown()).await;
    }
}

fn builder(settings: &Settings) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.header_timeout)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEADER_BYTES_MAX)
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEADER_BYTES_MAX as u32)
        .keep_alive_interval(settings.header_timeout);
    builder
}

/// Accepts connections, as many as there may be.
async fn accept(listener: &Listener, serving: &Serving, graceful: &GracefulShutdown) {
    loop {
        let Ok(permit) = serving.connections.clone().acquire_owned().await else { return };
        let Ok(accepted) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        tokio::spawn(serving.clone().connected(accepted, graceful.watcher(), permit));
    }
}

impl Serving {
    async fn connected(self, accepted: Accepted, watcher: Watcher, permit: OwnedSemaphorePermit) {
        match accepted {
            Accepted::Unix(stream) => self.speak(stream, Client::Socket, watcher).await,
            Accepted::Tcp(stream, address, tls) => {
                let client = Client::Address(address.ip());
                // Answers are small and written at once.
                let _ = stream.set_nodelay(true);
                match tls {
                    None => self.speak(stream, client, watcher).await,
                    Some(tls) => {
                        let handshake = tls.acceptor().accept(stream);
                        // A client that speaks no TLS, or slowly, is no error of the server.
                        if let Ok(Ok(stream)) =
                            tokio::time::timeout(self.handshake, handshake).await
                        {
                            self.speak(stream, client, watcher).await;
                        }
                    }
                }
            }
        }
        drop(permit);
    }

    async fn speak<S>(self, stream: S, client: Client, watcher: Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = OfClient { router: TowerToHyperService::new(self.router), client };
        let connection =
            self.builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned();
        // A client that breaks off, or speaks no HTTP, is no error of the server.
        let _ = watcher.watch(connection).await;
    }
}

/// The router, for the requests of one client.
struct OfClient {
    router: TowerToHyperService<Router>,
    client: Client,
}

impl Service<Request<Incoming>> for OfClient {
    type Response = Response;
    type Error = Infallible;
    type Future = TowerToHyperServiceFuture<Router, Request<Incoming>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.client);
        self.router.call(request)
    }
}
