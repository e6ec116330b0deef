//! The keys that are in force, read from the file again when it changes.
//!
//! A file that cannot be read leaves the keys as they were, and so does one that is gone: a server that
//! had keys does not become open while it runs.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use axum::http::HeaderMap;

use super::access::Access;
use super::credentials::{NoKey, key_of};
use super::file::{KeyFile, KeysError, Stamp};
use super::key::{Key, hash};

/// The keys in force.
#[derive(Debug)]
pub(crate) struct Keyring {
    file: KeyFile,
    /// None if the server has none, and is open.
    keys: RwLock<Option<Vec<Arc<Key>>>>,
    /// The state of the file that was looked at last.
    seen: Mutex<Option<Stamp>>,
}

/// The reason why a request is let in by no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    Missing,
    Malformed,
    Unknown,
    Expired,
}

impl Denied {
    pub(crate) fn why(self) -> &'static str {
        match self {
            Denied::Missing => "missing authentication credentials",
            Denied::Malformed => "the header Authorization is malformed: send Bearer and a key",
            Denied::Unknown => "the key is not known",
            Denied::Expired => "the key has expired",
        }
    }
}

impl Keyring {
    /// Reads the keys of a directory.
    pub(crate) fn of(directory: &Path) -> Result<Keyring, KeysError> {
        let file = KeyFile::of(directory);
        let seen = Mutex::new(file.stamp());
        let keys = RwLock::new(file.read()?.map(shared));
        Ok(Keyring { file, keys, seen })
    }

    /// True if requests need a key.
    pub(crate) fn is_locked(&self) -> bool {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Reads the file again. Returns the number of keys; none if there is no file.
    pub(crate) fn read_again(&self) -> Result<Option<usize>, KeysError> {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = self.file.stamp();
        let Some(keys) = self.file.read()? else { return Ok(None) };
        let number = keys.len();
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Some(shared(keys));
        Ok(Some(number))
    }

    /// True if the file is another than the one that was read.
    pub(crate) fn has_changed(&self) -> bool {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) != self.file.stamp()
    }

    /// True if what a request may do is still so. An answer without an end asks now and then.
    pub(crate) fn is_in_force(&self, access: &Access) -> bool {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        match (access, &*keys) {
            (Access::Nothing, _) | (Access::All, Some(_)) => false,
            (Access::All, None) => true,
            (Access::Key(key), keys) => {
                let mut known = keys.iter().flatten();
                !key.is_expired() && known.any(|known| known.id == key.id)
            }
        }
    }

    /// Returns what a request with these headers may do.
    pub(crate) fn access(&self, headers: &HeaderMap) -> Result<Access, Denied> {
        let keys = self.keys.read().unwrap_or_else(PoisonError::into_inner);
        let Some(keys) = &*keys else { return Ok(Access::All) };
        let text = key_of(headers).map_err(|why| match why {
            NoKey::Missing => Denied::Missing,
            NoKey::Malformed => Denied::Malformed,
        })?;
        let hash = hash(&text);
        // Each key is compared, so that the time says nothing about which one it is.
        let known =
            keys.iter().fold(None, |known, key| if key.has(&hash) { Some(key) } else { known });
        let key = known.ok_or(Denied::Unknown)?;
        if key.is_expired() { Err(Denied::Expired) } else { Ok(Access::Key(key.clone())) }
    }
}

fn shared(keys: Vec<Key>) -> Vec<Arc<Key>> {
    keys.into_iter().map(Arc::new).collect()
}
