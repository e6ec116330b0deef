//! What the options mean, and which of them this version cannot honour.

use std::path::Path;

use spirit::{Index, Options};

use crate::args::{
    AnsweringArgs, IndexArgs, IngestArgs, Mode, Order, ReadingArgs, TierArgs, YesNo,
};
use crate::config;
use crate::failure::Failure;
use crate::load::Reading;
use crate::output::note;

impl IndexArgs {
    /// Opens an index in memory.
    pub(crate) fn open(&self) -> Result<Index, Failure> {
        Ok(self.options().open()?)
    }

    fn options(&self) -> Options {
        let mut options = Options::default();
        if let Some(analyzer) = self.analyzer {
            options = options.analyzer(analyzer);
        }
        if let Some(dram) = self.dram {
            options = options.dram_bytes(dram.0);
        }
        if let Some(segment) = self.segment {
            options = options.segment_bytes(segment.0);
        }
        if let Some(executors) = self.executors {
            options = options.executors(executors);
        }
        if let Some(positions) = self.positions {
            options = options.positions(positions == YesNo::Yes);
        }
        if let Some(on_full) = self.on_full {
            options = options.on_full(on_full.into());
        }
        options
    }
}

impl From<&ReadingArgs> for Reading {
    fn from(args: &ReadingArgs) -> Reading {
        Reading { format: args.format, strict: args.strict }
    }
}

impl IngestArgs {
    /// With the options of the configuration file, checked.
    pub(crate) fn settled(mut self) -> Result<IngestArgs, Failure> {
        if let Some(path) = self.config.take() {
            config::fill(&mut self, &path)?;
        }
        self.tier.check()?;
        if self.directory.is_some() {
            return Err(Failure::usage("-d: a volatile index is not kept anywhere; leave -d out"));
        }
        self.answering.check()?;
        if self.tier.nvm.is_some() {
            note("--nvm is not used in volatile mode");
        }
        Ok(self)
    }
}

impl TierArgs {
    fn check(&self) -> Result<(), Failure> {
        let mode = self.mode.unwrap_or_default();
        if mode != Mode::Volatile {
            let typed = match self.mode {
                Some(Mode::Graceful) => "--mode graceful",
                Some(_) => "--mode crash",
                None => "--mode crash (the default)",
            };
            return Err(Failure::usage(format!(
                "{typed}: this version keeps nothing on disk yet; use --mode volatile"
            )));
        }
        for (given, name, modes) in [
            (self.durability.is_some(), "--durability", "graceful and crash"),
            (self.group_ms.is_some(), "--group-ms", "crash"),
            (self.group_bytes.is_some(), "--group-bytes", "crash"),
            (self.reserve.is_some(), "--reserve", "graceful and crash"),
        ] {
            if given {
                return Err(Failure::usage(format!(
                    "{name}: a volatile index writes nothing to disk; modes with this option: {modes}"
                )));
            }
        }
        if self.store == Some(YesNo::Yes) {
            return Err(Failure::usage(
                "--store yes: this version does not keep the documents' text yet",
            ));
        }
        Ok(())
    }
}

impl AnsweringArgs {
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.order {
            Order::Newest => Ok(()),
            Order::Bm25 => Err(Failure::usage(
                "--order bm25: this version does not score yet; use --order newest",
            )),
        }
    }
}

/// This version keeps no index in a directory: says so, and what to do instead.
pub(crate) fn not_kept(directory: &Path, instead: &str) -> Failure {
    let directory = directory.display();
    Failure::usage(format!("-d {directory}: this version keeps nothing on disk yet; {instead}"))
}
