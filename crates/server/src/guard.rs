//! Who may do what: keys with a scope and indexes, and a rule for each route.
//!
//! A server without a file of keys is open to everybody who reaches it, which is this machine only
//! unless its settings say otherwise. With the file, each request needs a key. The file may have no
//! key: then nobody is let in. Whatever has no rule is refused.

mod access;
mod credentials;
mod file;
mod key;
mod keyring;
mod rules;
mod scope;

pub(crate) use access::Access;
pub use file::{KeyFile, KeysError};
pub(crate) use key::random;
pub use key::{Key, NewKey};
pub(crate) use keyring::{Denied, Keyring};
pub use rules::{RULES, Rule};
pub use scope::{Need, Scope};
