//! The page for browsers, at `/`: files within the binary. It asks the paths of `/api/v1` like any client.
//!
//! Programs ask `/` for the server's identity, and browsers for `text/html`. The files are the same for
//! everybody, so no key is needed for them; what the page shows needs one.

use axum::Router;
use axum::extract::{Path, Request};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::api::server::Server;

/// What the page may load and ask: this server alone. No script and no style is within the document.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A file of the page.
struct File {
    name: &'static str,
    bytes: &'static [u8],
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(File { name: $name, bytes: include_bytes!(concat!("../page/", $name)) }),*]
    };
}

static FILES: [File; 14] = files![
    "index.html",
    "api.js",
    "element.js",
    "facets.js",
    "heap.js",
    "histogram.js",
    "hits.js",
    "icon.svg",
    "main.js",
    "query.js",
    "shape.js",
    "state.js",
    "stream.js",
    "style.css",
];

/// Returns the routes of its files.
pub(crate) fn router() -> Router<Server> {
    Router::new().route("/_page/{file}", get(file))
}

async fn file(Path(name): Path<String>) -> Response {
    match FILES.iter().find(|file| file.name == name) {
        Some(file) => file.answer(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Answers browsers at `/`.
pub(crate) async fn at_root(request: Request, next: Next) -> Response {
    let accepts = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let is_browser = accepts.is_some_and(|accept| accept.contains("text/html"));
    let is_asked = request.uri().path() == "/" && request.method() == Method::GET;
    if is_browser && is_asked { FILES[0].answer() } else { next.run(request).await }
}

impl File {
    fn answer(&self) -> Response {
        let kind = match self.name.rsplit_once('.') {
            Some((_, "html")) => "text/html; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            _ => "text/javascript; charset=utf-8",
        };
        let headers = [
            (header::CONTENT_TYPE, kind),
            (header::CONTENT_SECURITY_POLICY, POLICY),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            // The next version of the server has other files.
            (header::CACHE_CONTROL, "no-cache"),
            // Browsers and programs get different answers at `/`.
            (header::VARY, "accept"),
        ];
        let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
        (headers, self.bytes).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each file that another one names is there, and nothing comes from another host.
    #[test]
    fn files_name_files_of_the_page() {
        for file in &FILES {
            let text = std::str::from_utf8(file.bytes).unwrap();
            for named in text.split("/_page/").skip(1) {
                let name = named.split('"').next().unwrap();
                assert!(FILES.iter().any(|other| other.name == name), "{}: {name}", file.name);
            }
            let hosts = text.replace("http://www.w3.org/", "");
            assert!(!hosts.contains("http://") && !hosts.contains("https://"), "{}", file.name);
            let is_within = text.contains("style=") || text.contains("onclick=");
            assert!(!is_within, "{}: the policy forbids it", file.name);
        }
    }
}
