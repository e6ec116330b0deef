//! What the server reads again while it runs: at SIGHUP, and keys also when their file changes. Lines about
//! refused keys are written in the same rhythm.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use crate::guard::Keyring;
use crate::log::Refusals;
use crate::tls::Tls;

/// The time between two looks at the file of keys. A key that was revoked is refused after it.
const LOOK: Duration = Duration::from_secs(1);

/// Starts reading again.
pub(crate) fn start(
    keyring: Arc<Keyring>,
    refusals: Arc<Refusals>,
    tls: Option<Arc<Tls>>,
) -> io::Result<()> {
    let mut asked = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        loop {
            let is_asked = tokio::select! {
                _ = asked.recv() => true,
                () = tokio::time::sleep(LOOK) => false,
            };
            refusals.write_due();
            if is_asked || keyring.has_changed() {
                keys(&keyring);
            }
            if let (true, Some(tls)) = (is_asked, &tls) {
                certificate(tls);
            }
        }
    });
    Ok(())
}

fn keys(keyring: &Keyring) {
    match keyring.read_again() {
        Ok(Some(keys)) => tracing::info!(keys, "read the keys again"),
        Ok(None) if keyring.is_locked() => {
            tracing::warn!("the file of keys is gone; the keys before it stay in force");
        }
        Ok(None) => {}
        Err(error) => {
            tracing::error!(%error, "cannot read the keys; the keys before them stay in force");
        }
    }
}

fn certificate(tls: &Tls) {
    match tls.read_again() {
        Ok(()) => tracing::info!("read the certificate again"),
        Err(error) => {
            tracing::error!(%error, "cannot use the certificate; the one before it stays in force");
        }
    }
}
