//! Keys: 256 random bits, of which the server keeps a hash.
//!
//! The hash is one SHA-256. A slow hash protects passwords, which can be guessed. Nobody can guess 256
//! random bits, so a fast hash reveals nothing, and costs each request a microsecond.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::scope::Scope;
use crate::index_name::IndexName;
use crate::pattern::matches;

/// What each key begins with, so that scanners for secrets find it.
pub(super) const PREFIX: &str = "spirit_";
/// Random bytes of a key.
const SECRET_BYTES: usize = 32;
/// Random bytes of a key's id.
const ID_BYTES: usize = 6;
/// The most bytes of a key's name.
const NAME_BYTES_MAX: usize = 100;

/// A key, as the server keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Its id, by which it is revoked.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// Patterns of the indexes that it is for.
    pub indexes: Vec<String>,
    /// The time at which it was made, in seconds since 1970.
    pub created: u64,
    /// The time from which on it is refused, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// The SHA-256 of the key, as base64.
    hash: String,
}

/// What a key is to be like.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// A name for people.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// Patterns of the indexes that it is for.
    pub indexes: Vec<String>,
    /// The time for which it is valid.
    pub lives: Option<Duration>,
}

impl NewKey {
    /// Makes the key. Also returns its text, which nobody can read again.
    ///
    /// # Errors
    /// If the name or a pattern is not valid, or the system has no random bytes.
    pub fn make(self) -> Result<(Key, String), String> {
        self.check()?;
        let text = format!("{PREFIX}{}", random::<SECRET_BYTES>()?);
        let created = now();
        let key = Key {
            id: random::<ID_BYTES>()?,
            name: self.name,
            scope: self.scope,
            indexes: self.indexes,
            created,
            expires: self.lives.map(|lives| created.saturating_add(lives.as_secs())),
            hash: hash(&text),
        };
        Ok((key, text))
    }

    fn check(&self) -> Result<(), String> {
        if self.name.is_empty() || self.name.len() > NAME_BYTES_MAX {
            return Err(format!("a name has 1 to {NAME_BYTES_MAX} bytes"));
        }
        if self.name.chars().any(char::is_control) {
            return Err("a name has no control characters".to_owned());
        }
        if self.indexes.is_empty() {
            return Err("a key is for one index at least; `*` is all of them".to_owned());
        }
        if self.scope == Scope::Metrics && self.indexes != ["*"] {
            return Err("metrics are those of all indexes: leave out the indexes".to_owned());
        }
        for pattern in &self.indexes {
            let name = pattern.replace('*', "x");
            let parsed = name.parse::<IndexName>();
            parsed.map_err(|why| format!("{pattern:?} matches no name of an index: {why}"))?;
        }
        Ok(())
    }
}

impl Key {
    /// True if it is for an index.
    pub fn is_for(&self, index: &str) -> bool {
        self.indexes.iter().any(|pattern| matches(pattern, index))
    }

    /// True if it is for all indexes.
    pub fn is_of_all(&self) -> bool {
        self.indexes.iter().any(|pattern| pattern == "*")
    }

    /// True if its time is over.
    pub fn is_expired(&self) -> bool {
        self.expires.is_some_and(|expires| expires <= now())
    }

    /// True if it has this hash. The time of the comparison does not depend on the bytes.
    pub(super) fn has(&self, hash: &str) -> bool {
        self.hash.as_bytes().ct_eq(hash.as_bytes()).into()
    }
}

/// Returns the hash of a key's text.
pub(super) fn hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

/// Returns random bytes of the system, as text.
pub(crate) fn random<const BYTES: usize>() -> Result<String, String> {
    let mut bytes = [0; BYTES];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| "the system has no random bytes".to_owned())?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}
