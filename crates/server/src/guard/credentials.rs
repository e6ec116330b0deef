//! The key of a request, from its header `Authorization`.
//!
//! Clients send `Bearer KEY`, or `Basic` with the key as the password of any user. Clients of
//! Elasticsearch send `ApiKey`, with the key or with an id and the key as base64. Browsers that open a
//! WebSocket can send no such header: there the key is a protocol that is asked for, `spirit_...`.

use axum::http::{HeaderMap, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::key::PREFIX;

/// What a request has in place of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoKey {
    Missing,
    /// A header that nobody can read, or several.
    Malformed,
}

/// Returns the key of a request.
pub(super) fn key_of(headers: &HeaderMap) -> Result<String, NoKey> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return of_protocols(headers).ok_or(NoKey::Missing);
    };
    if values.next().is_some() {
        return Err(NoKey::Malformed);
    }
    let value = value.to_str().map_err(|_| NoKey::Malformed)?.trim();
    let (scheme, rest) = value.split_once(' ').ok_or(NoKey::Malformed)?;
    let rest = rest.trim();
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Ok(rest.to_owned()),
        "basic" => behind_colon(rest).ok_or(NoKey::Malformed),
        "apikey" => Ok(behind_colon(rest).unwrap_or_else(|| rest.to_owned())),
        _ => Err(NoKey::Malformed),
    }
}

/// Returns the key among the protocols that a WebSocket asks for.
fn of_protocols(headers: &HeaderMap) -> Option<String> {
    let protocols = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let names =
        protocols.filter_map(|names| names.to_str().ok()).flat_map(|names| names.split(','));
    names.map(str::trim).find(|name| name.starts_with(PREFIX)).map(str::to_owned)
}

/// Returns what is behind the first colon of a text that is packed as base64.
fn behind_colon(packed: &str) -> Option<String> {
    let text = String::from_utf8(STANDARD.decode(packed).ok()?).ok()?;
    text.split_once(':').map(|(_, behind)| behind.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_clients_send_them() {
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::AUTHORIZATION, value.parse().unwrap());
            }
            key_of(&headers)
        };
        let packed = STANDARD.encode("any:spirit_k");
        for value in ["Bearer spirit_k", "bearer  spirit_k", "ApiKey spirit_k"] {
            assert_eq!(of(&[value]).unwrap(), "spirit_k", "{value}");
        }
        for scheme in ["Basic", "ApiKey", "basic", "APIKEY"] {
            assert_eq!(of(&[&format!("{scheme} {packed}")]).unwrap(), "spirit_k", "{scheme}");
        }
        assert_eq!(of(&[]), Err(NoKey::Missing));
        for wrong in ["spirit_k", "Basic spirit_k", "Digest spirit_k", "Basic YWJj", ""] {
            assert_eq!(of(&[wrong]), Err(NoKey::Malformed), "{wrong}");
        }
        assert_eq!(of(&["Bearer a", "Bearer b"]), Err(NoKey::Malformed));
        let mut socket = HeaderMap::new();
        socket.append(header::SEC_WEBSOCKET_PROTOCOL, "spirit, spirit_k".parse().unwrap());
        assert_eq!(key_of(&socket).unwrap(), "spirit_k");
        socket.append(header::AUTHORIZATION, "Bearer spirit_b".parse().unwrap());
        assert_eq!(key_of(&socket).unwrap(), "spirit_b");
    }
}
