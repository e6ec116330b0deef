//! Searches over a number of connections, each of which asks all the time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::Method;

use super::client::Connection;
use super::documents::INDEX;
use crate::timing::{Latencies, Summary};

/// What came of asking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Answers a second.
    pub(super) rate: f64,
    pub(super) latency: Summary,
}

/// Asks for a time. Each connection begins with another of the bodies, and each is used again.
pub(super) async fn ask(
    connections: &mut Vec<Connection>,
    bodies: &Arc<[Bytes]>,
    time: Duration,
) -> Result<Asked, String> {
    let start = Instant::now();
    let end = start + time;
    let asking: Vec<_> = connections
        .drain(..)
        .enumerate()
        .map(|(first, connection)| tokio::spawn(ask_on(connection, bodies.clone(), first, end)))
        .collect();
    let mut latencies = Latencies::default();
    for asking in asking {
        let (connection, own) = asking.await.map_err(|error| error.to_string())??;
        latencies.take_in(own);
        connections.push(connection);
    }
    let rate = latencies.len() as f64 / start.elapsed().as_secs_f64();
    Ok(Asked { rate, latency: latencies.summary() })
}

/// Asks at least once.
async fn ask_on(
    mut connection: Connection,
    bodies: Arc<[Bytes]>,
    first: usize,
    end: Instant,
) -> Result<(Connection, Latencies), String> {
    let path = format!("/{INDEX}/_search");
    let mut latencies = Latencies::default();
    // Terminates: the time passes.
    for body in bodies.iter().cycle().skip(first % bodies.len()) {
        let start = Instant::now();
        connection.must(Method::POST, &path, body.clone()).await?;
        latencies.push(start.elapsed());
        if Instant::now() >= end {
            break;
        }
    }
    Ok((connection, latencies))
}
