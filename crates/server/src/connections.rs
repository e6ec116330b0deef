//! Connections: accepting, limits in time and number, and an end that answers what is under way.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use crate::settings::Settings;

/// The most bytes of a request's headers.
const HEADER_BYTES_MAX: usize = 64 << 10;
/// The most headers of a request.
const HEADERS_MAX: usize = 100;
/// The time before the next attempt where no connection can be accepted, as when too many files are
/// open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until `end` is set. Then requests under way are answered, within the time that
/// the settings say.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    settings: &Settings,
    mut end: watch::Receiver<bool>,
) {
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
    let (builder, graceful) = (Arc::new(builder), GracefulShutdown::new());
    let connections = Arc::new(Semaphore::new(settings.connections.max(1)));
    loop {
        let accepted = async {
            let permit = connections.clone().acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            accepted = accepted => accepted,
            _ = end.wait_for(|over| *over) => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // Answers are small and written at once.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that breaks off, or speaks no HTTP, is no error of the server.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(settings.shutdown_timeout, graceful.shutdown()).await;
}
