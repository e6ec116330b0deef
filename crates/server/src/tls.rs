//! TLS: the server's certificate, which may be another one after SIGHUP.
//!
//! Connections that are there keep theirs. A new certificate that cannot be used leaves the old one in
//! force.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// What is spoken within TLS, the best first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The certificate in force.
pub(crate) struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    config: RwLock<Arc<ServerConfig>>,
}

/// The reason why a certificate cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum TlsError {
    /// Only one of the certificate and its key is given.
    Half,
    /// A file cannot be read, or has nothing of what it should have.
    Pem {
        /// Its path.
        path: PathBuf,
        /// The reason.
        why: PemError,
    },
    /// The file has no certificate.
    Empty {
        /// Its path.
        path: PathBuf,
    },
    /// The certificate and the key do not fit each other, or are of an unknown kind.
    Unusable {
        /// The path of the certificate.
        path: PathBuf,
        /// The reason.
        why: tokio_rustls::rustls::Error,
    },
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::Half => f.write_str("--tls-cert and --tls-key belong together: give both"),
            TlsError::Pem { path, why } => write!(f, "{}: {why}", path.display()),
            TlsError::Empty { path } => write!(f, "{}: there is no certificate", path.display()),
            TlsError::Unusable { path, why } => {
                write!(f, "{}: the certificate cannot be used with its key: {why}", path.display())
            }
        }
    }
}

impl Error for TlsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            TlsError::Pem { why, .. } => Some(why),
            TlsError::Unusable { why, .. } => Some(why),
            TlsError::Half | TlsError::Empty { .. } => None,
        }
    }
}

impl Tls {
    /// Reads a certificate and its key; none if neither path is given.
    pub(crate) fn read(certificate: &Path, key: &Path) -> Result<Option<Tls>, TlsError> {
        match (certificate.as_os_str().is_empty(), key.as_os_str().is_empty()) {
            (true, true) => return Ok(None),
            (false, false) => {}
            _ => return Err(TlsError::Half),
        }
        let config = RwLock::new(config(certificate, key)?);
        Ok(Some(Tls { certificate: certificate.to_owned(), key: key.to_owned(), config }))
    }

    /// Reads both files again.
    pub(crate) fn read_again(&self) -> Result<(), TlsError> {
        let config = config(&self.certificate, &self.key)?;
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = config;
        Ok(())
    }

    /// Returns what accepts a connection.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone().into()
    }
}

fn config(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, TlsError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |why| TlsError::Pem { path, why }
    };
    let chain = CertificateDer::pem_file_iter(certificate).map_err(failed(certificate))?;
    let chain: Vec<_> = chain.collect::<Result<_, _>>().map_err(failed(certificate))?;
    if chain.is_empty() {
        return Err(TlsError::Empty { path: certificate.to_owned() });
    }
    let key = PrivateKeyDer::from_pem_file(key).map_err(failed(key))?;
    let unusable = |why| TlsError::Unusable { path: certificate.to_owned(), why };
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(unusable)?;
    let config = builder.with_no_client_auth().with_single_cert(chain, key);
    let mut config = config.map_err(unusable)?;
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Ok(Arc::new(config))
}
