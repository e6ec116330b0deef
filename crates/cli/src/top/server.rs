//! The server whose figures are shown, asked over HTTP.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::figures::Figures;
use super::sample::Sample;

/// The time that an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whom a certificate of the server has to be from.
pub(crate) enum Trust {
    /// One of those that browsers trust.
    Usual,
    /// Those in this file in PEM form.
    File(PathBuf),
}

/// The server.
pub(crate) struct Server {
    url: String,
    key: Option<String>,
    agent: ureq::Agent,
}

impl Server {
    /// Prepares to ask the server at a URL. Errors say what is wrong with what was typed.
    pub(crate) fn at(url: &str, key: Option<String>, trust: Trust) -> Result<Server, String> {
        let url = match url {
            url if url.starts_with("http://") || url.starts_with("https://") => url.to_owned(),
            url if url.contains("://") => {
                return Err(format!("--url: expected http:// or https://, found {url}"));
            }
            address => format!("http://{address}"),
        };
        let url = url.trim_end_matches('/').to_owned();
        if url.parse::<ureq::http::Uri>().is_err() {
            return Err(format!("--url: {url} is no URL, as http://127.0.0.1:7580 is"));
        }
        let config = ureq::Agent::config_builder().http_status_as_error(false);
        let config = config.timeout_global(Some(PATIENCE)).tls_config(tls(trust)?);
        Ok(Server { url, key, agent: config.build().into() })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Asks for the figures. Errors say what to do.
    pub(crate) fn sample(&self) -> Result<Sample, String> {
        let url = format!("{}/metrics", self.url);
        let mut request = self.agent.get(&url);
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let mut response = request.call().map_err(|error| self.unreachable(&error))?;
        let status = response.status().as_u16();
        let text = response.body_mut().read_to_string();
        let refused = |why: &str| Err(format!("{}: {why}", self.url));
        match (status, &self.key) {
            (200, _) => {}
            (401, None) => {
                return refused(
                    "the server needs a key: give one of the scope metrics by --key-file",
                );
            }
            (401, Some(_)) => {
                return refused("the key is refused: it is unknown, revoked or expired");
            }
            (403, _) => {
                return refused("the key may not read figures: that takes the scope metrics");
            }
            (status, _) => return refused(&format!("/metrics has status {status}")),
        }
        let text = text.map_err(|error| self.unreachable(&error))?;
        let other = || format!("{}: this is no server of SPIRIT", self.url);
        Sample::of(&Figures::read(&text).map_err(|_| other())?).ok_or_else(other)
    }

    fn unreachable(&self, error: &ureq::Error) -> String {
        let url = &self.url;
        match error {
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                format!("{url}: nobody listens there; is `spirit serve` running?")
            }
            ureq::Error::Timeout(_) => {
                format!("{url}: no answer within {} s", PATIENCE.as_secs())
            }
            error => format!("{url}: {error}"),
        }
    }
}

fn tls(trust: Trust) -> Result<TlsConfig, String> {
    let Trust::File(path) = trust else { return Ok(TlsConfig::default()) };
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let pem = std::fs::read(&path).map_err(|error| failed(&error))?;
    let mut certificates: Vec<Certificate<'static>> = Vec::new();
    for item in parse_pem(&pem) {
        match item.map_err(|error| failed(&error))? {
            PemItem::Certificate(certificate) => certificates.push(certificate),
            _ => return Err(failed(&"expected certificates only, and found a key")),
        }
    }
    if certificates.is_empty() {
        return Err(failed(&"there is no certificate in PEM form"));
    }
    Ok(TlsConfig::builder().root_certs(RootCerts::from(certificates)).build())
}
