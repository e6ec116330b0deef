//! The settings of a server: flags, the environment, a file, defaults, in this order of strength.
//!
//! One [table](SETTINGS) has all of it. So the help, the file, the environment and `spirit config` know
//! the same names.

mod in_force;
mod logging;
mod table;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::http::StatusCode;
use spirit::lab::{EngravePolicy, PointerUpdate};
use spirit::{Builder, Durability, Index, OnFull};

pub use in_force::{InForce, Origin, SettingsError};
pub use logging::{LogFormat, Logging};
pub use table::{SETTINGS, Setting};
pub(crate) use table::{durability, on_full};

/// The readers of an index beside those of the threads that answer: of writes that read a state first.
const READERS_BESIDE: usize = 64;

/// The settings of a server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// The directory with the indexes.
    pub directory: PathBuf,
    /// The address to listen on.
    pub listen: SocketAddr,
    /// True to listen on other addresses than those of the machine itself, without keys.
    pub insecure: bool,
    /// The file with the server's certificate and those that signed it; empty without TLS.
    pub tls_cert: PathBuf,
    /// The file with the certificate's private key.
    pub tls_key: PathBuf,
    /// The path of a Unix socket to listen on too; empty without one.
    pub socket: PathBuf,
    /// The DRAM of all indexes, in bytes.
    pub dram: u64,
    /// The second tiers of all indexes, in bytes.
    pub nvm: u64,
    /// The DRAM of a new index, in bytes.
    pub index_dram: u64,
    /// The second tier of a new index, in bytes.
    pub index_nvm: u64,
    /// What a new index survives.
    pub durability: Durability,
    /// What a new index does when it is full.
    pub on_full: OnFull,
    /// When segments are copied to an index's file.
    pub engrave: EngravePolicy,
    /// When questions move to the copies.
    pub pointer_update: PointerUpdate,
    /// The threads of an index behind the one that writes.
    pub stage_threads: usize,
    /// The threads that answer questions.
    pub query_threads: usize,
    /// The threads that write.
    pub ingest_threads: usize,
    /// The longest time of a question.
    pub query_timeout: Duration,
    /// The time for which a write waits for its turn, and for room, before it is refused.
    pub hold: Duration,
    /// The status of a write that is refused then.
    pub overload_status: StatusCode,
    /// The longest body of a request, in bytes, also when it is unpacked.
    pub body: u64,
    /// The memory of all bodies that are read or worked on, in bytes.
    pub bodies: u64,
    /// The time in which a body has to come.
    pub body_timeout: Duration,
    /// The most connections.
    pub connections: usize,
    /// The most questions under way.
    pub requests: usize,
    /// The most open scrolls.
    pub scrolls: usize,
    /// The most documents of all open scrolls.
    pub scroll_documents: usize,
    /// The most bytes of all open scrolls, on the disk.
    pub scroll_bytes: u64,
    /// The most open points in time.
    pub pits: usize,
    /// The most bytes of the files of all open points in time.
    pub pit_bytes: u64,
    /// The DRAM of all open points in time, in bytes.
    pub pit_dram: u64,
    /// The time in which the headers of a request have to come.
    pub header_timeout: Duration,
    /// The directory that backups are written to; empty if the server makes none.
    pub backups: PathBuf,
    /// What is logged, and how.
    pub logging: Logging,
    /// The time that requests under way have when the server ends.
    pub shutdown_timeout: Duration,
}

impl Settings {
    /// Returns a builder of an index, without its directory and sizes.
    pub(crate) fn index_builder(&self) -> Builder {
        Index::builder()
            .durability(self.durability)
            .on_full(self.on_full)
            .engrave(self.engrave)
            .pointer_update(self.pointer_update)
            .stage_threads(self.stage_threads)
            .opaque_text(true)
            .readers_max(self.query_threads + READERS_BESIDE)
    }
}
