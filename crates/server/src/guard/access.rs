//! What a request may do, once its key is known.

use std::sync::Arc;

use super::key::Key;
use super::scope::Need;

/// What a request may do. A handler that does not ask for it has nothing.
#[derive(Clone, Debug, Default)]
pub(crate) enum Access {
    #[default]
    Nothing,
    /// The server has no keys.
    All,
    Key(Arc<Key>),
}

impl Access {
    /// True if a route with this need may be asked.
    pub(crate) fn allows(&self, need: Need) -> bool {
        match self {
            Access::Nothing => need == Need::Open,
            Access::All => true,
            Access::Key(key) => key.scope.allows(need, key.is_of_all()),
        }
    }

    /// True if the index of a name is among those of the key.
    pub(crate) fn is_for(&self, index: &str) -> bool {
        match self {
            Access::Nothing => false,
            Access::All => true,
            Access::Key(key) => key.is_for(index),
        }
    }

    /// Returns the name of the key.
    pub(crate) fn user(&self) -> &str {
        match self {
            Access::Nothing | Access::All => "",
            Access::Key(key) => &key.name,
        }
    }
}
