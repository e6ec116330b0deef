//! Scopes: what a key may do with its indexes.
//!
//! | scope | what it allows |
//! |---|---|
//! | `metrics` | `/metrics` and the server's health, nothing of any document |
//! | `search` | searches, counts, reading documents, mappings and statistics |
//! | `write` | also adding, changing and deleting documents, which may make an index |
//! | `admin` | also making and deleting indexes; with all indexes `/metrics` too |

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a key may do with its indexes. A later one includes those before, but for `metrics`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Read the server's figures.
    Metrics,
    /// Read documents.
    Search,
    /// Write documents.
    Write,
    /// Make and delete indexes.
    Admin,
}

/// What a route requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing: everybody may ask.
    Open,
    /// A key of any scope.
    AnyKey,
    /// A key that may read the server's figures.
    Metrics,
    /// A key of this scope, or of one that includes it.
    Scope(Scope),
    /// A key that may make and delete any index: what is asked for is the whole server's.
    Server,
}

impl Scope {
    /// All scopes, from the least to the most.
    pub const ALL: [Scope; 4] = [Scope::Metrics, Scope::Search, Scope::Write, Scope::Admin];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Metrics => "metrics",
            Scope::Search => "search",
            Scope::Write => "write",
            Scope::Admin => "admin",
        }
    }

    /// True if it allows what a route requires. `is_of_all` says that the key is for all indexes.
    pub fn allows(self, need: Need, is_of_all: bool) -> bool {
        match need {
            Need::Open | Need::AnyKey => true,
            Need::Server => self == Scope::Admin && is_of_all,
            Need::Metrics => self == Scope::Metrics || (self == Scope::Admin && is_of_all),
            Need::Scope(needed) => self >= needed,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Scope, String> {
        let found = Scope::ALL.into_iter().find(|scope| scope.name() == text);
        found.ok_or_else(|| format!("expected search, write, admin or metrics, found {text:?}"))
    }
}
