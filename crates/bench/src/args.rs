//! What was typed on the command line, and what it means.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use spirit::lab::SlowMedium;

use crate::peers::System;

/// Measures SPIRIT and, in turn with it, other engines on the same documents and queries.
#[derive(Clone, Debug, Parser)]
#[command(name = "spirit-bench", version)]
pub(crate) struct Args {
    /// An experiment's name, `all`, or `list` to name all.
    pub(crate) experiment: String,
    /// Documents: .jsonl with a member `text`, or a document a line; .zst is unpacked. Default: the shared corpora
    /// found by --data, else generated text.
    #[arg(long, value_name = "FILE")]
    pub(crate) corpus: Option<PathBuf>,
    /// Use only the first N documents.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) docs: Option<u64>,
    /// Seed of generated text and of the queries drawn.
    #[arg(long, value_name = "S", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Write one JSON object a measured row here.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Draw the figures of experiments that have some here, a file NAME-FIGURE.svg each.
    #[arg(long, value_name = "DIR")]
    pub(crate) svg: Option<PathBuf>,
    /// Rounds of each measurement; figures are medians over them unless stated otherwise.
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) rounds: u64,
    /// Which other engines to run: all, none, or a list of tantivy, lucene, sqlite, opensearch.
    #[arg(long, value_name = "LIST", default_value = "all", value_parser = parse_peers)]
    pub(crate) peers: PeerList,
    /// Folder of the shared corpora.
    #[arg(long, value_name = "DIR", env = "SPIRIT_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// Queries of each class in the sets of all classes.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) per_class: u64,
    /// Slow the second tier to a medium that stores this many megabytes a second and takes this many nanoseconds for a barrier, such as
    /// 2000,100, in the experiments of the first paper. Loads are not slowed.
    #[arg(long, value_name = "MB/S,NS", value_parser = parse_medium)]
    pub(crate) slow_tier: Option<SlowMedium>,
    /// How much the experiments of the server, of common words and of the first paper do.
    #[arg(long, value_name = "SCALE", value_enum, default_value = "full")]
    pub(crate) scale: Scale,
}

/// How much is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scale {
    /// What ends within three minutes: it shows that all works, and measures badly.
    Small,
    /// What the figures are for.
    Full,
}

/// The engines asked for, in the order in which they take turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PeerList(pub(crate) Vec<System>);

fn parse_medium(text: &str) -> Result<SlowMedium, String> {
    let parsed = text.split_once(',').and_then(|(megabytes, nanoseconds)| {
        let megabytes: u64 = megabytes.parse().ok().filter(|megabytes| *megabytes > 0)?;
        let barrier = Duration::from_nanos(nanoseconds.parse().ok()?);
        Some(SlowMedium { bytes_per_second: megabytes.checked_mul(1_000_000)?, barrier })
    });
    parsed.ok_or_else(|| "give megabytes a second and nanoseconds, such as 2000,100".to_owned())
}

fn parse_peers(text: &str) -> Result<PeerList, String> {
    match text {
        "all" => return Ok(PeerList(System::NAMED.to_vec())),
        "none" => return Ok(PeerList(Vec::new())),
        _ => {}
    }
    let mut list = Vec::new();
    for name in text.split(',') {
        let system = System::NAMED.into_iter().find(|system| system.name() == name);
        let names = System::NAMED.map(System::name);
        let system = system.ok_or_else(|| {
            format!("no such engine: {name}; give all, none, or a list of {}", names.join(", "))
        })?;
        if !list.contains(&system) {
            list.push(system);
        }
    }
    Ok(PeerList(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_medium_is_two_numbers() {
        let medium = parse_medium("2000,100").unwrap();
        assert_eq!(medium.bytes_per_second, 2_000_000_000);
        assert_eq!(medium.barrier, Duration::from_nanos(100));
        for wrong in ["", "2000", "0,100", "2000,", "a,b", "99999999999999999999,1"] {
            assert!(parse_medium(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn peers_are_all_none_or_a_list() {
        assert_eq!(parse_peers("all").unwrap().0.len(), 4);
        assert!(parse_peers("none").unwrap().0.is_empty());
        let list = parse_peers("sqlite,tantivy,sqlite").unwrap();
        assert_eq!(list.0, [System::Sqlite, System::Tantivy]);
        assert!(parse_peers("solr").is_err());
    }
}
