//! What the options mean, and which of them cannot be honoured.

use std::path::Path;
use std::time::Duration;

use spirit::cache::Cache;
use spirit::lab::{Media, Parameters, Parts};
use spirit::search::Highlight;
use spirit::{Builder, Index};
use spirit_forms::facets::{Asked, Shape};
use spirit_forms::question::Question;
use spirit_forms::size::Size;

use crate::args::{
    AnsweringArgs, CacheArgs, CollectionArgs, IndexArgs, IngestArgs, PipelineArgs, PlaceArgs,
    ReadingArgs, TierArgs,
};
use crate::choice::{
    BlocksName, CacheTierName, EvaluatorName, Mode, PlacementName, Reserve, YesNo,
};
use crate::config;
use crate::failure::Failure;
use crate::format::Format;
use crate::input::Cutting;
use crate::load::Reading;
use crate::note::note;

impl IndexArgs {
    /// Opens an index in memory.
    pub(crate) fn open(&self) -> Result<Index, Failure> {
        Ok(self.options().open()?)
    }

    /// These settings with this much DRAM.
    pub(crate) fn with_dram(&self, dram: Option<Size>) -> IndexArgs {
        IndexArgs { dram, ..self.clone() }
    }

    pub(crate) fn options(&self) -> Builder {
        let mut options = Index::builder();
        if let Some(analyzer) = self.analyzer {
            options = options.analyzer(analyzer);
        }
        if let Some(dram) = self.dram {
            options = options.dram_bytes(dram.0);
        }
        if let Some(dictionary) = self.dictionary {
            options = options.dictionary(dictionary.into());
        }
        if let Some(verify) = self.verify {
            options = options.verify(verify == YesNo::Yes);
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
        if let Some(store) = self.store {
            options = options.store(store == YesNo::Yes);
        }
        if let Some(postings) = self.postings {
            options = options.postings(postings.into());
        }
        if let Some(fields) = &self.schema {
            options = fields.added_to(options);
        }
        if self.strict_schema {
            options = options.strict(true);
        }
        if let Some(on_full) = self.on_full {
            options = options.on_full(on_full.into());
        }
        if let Some(retain) = self.retain {
            options = options.retain(retain.into());
        }
        match self.cache.made() {
            Some(cache) => options.cache(cache),
            None => options,
        }
    }
}

impl CacheArgs {
    /// Fails if something is said of a cache without a size. Options that are typed are checked
    /// before; those of a file are not.
    fn check(&self) -> Result<(), Failure> {
        let given = [
            ("cache-policy", self.cache_policy.is_some()),
            ("cache-allocator", self.cache_allocator.is_some()),
            ("cache-match", self.cache_match.is_some()),
            ("cache-tier", self.cache_tier.is_some()),
            ("caches", self.caches.is_some()),
            ("cache-entries", self.cache_entries.is_some()),
            ("cache-min", self.cache_min.is_some()),
            ("cache-cost", self.cache_cost.is_some()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given && self.cache.is_none()) {
            Some((name, _)) => {
                let why = "there is no cache without a size; set cache too, as in 64MiB";
                Err(Failure::usage(format!("{name}: {why}")))
            }
            None => Ok(()),
        }
    }

    /// The cache that is asked for, if any.
    fn made(&self) -> Option<Cache> {
        let mut cache = Cache::new(self.cache?.0);
        if let Some(policy) = self.cache_policy {
            cache = cache.policy(policy.into());
        }
        if let Some(allocator) = self.cache_allocator {
            cache = cache.allocator(allocator.into());
        }
        if let Some(matching) = self.cache_match {
            cache = cache.matching(matching.into());
        }
        if self.cache_tier == Some(CacheTierName::Nvm) {
            cache = cache.in_second_tier();
        }
        if let Some(caches) = self.caches {
            cache = cache.caches(caches);
        }
        if let Some(entries) = self.cache_entries {
            cache = cache.entries(entries);
        }
        if let Some(matches) = self.cache_min {
            cache = cache.matches_min(matches);
        }
        match self.cache_cost {
            Some(time) => Some(cache.cost_min(time.into())),
            None => Some(cache),
        }
    }
}

impl From<&ReadingArgs> for Reading {
    fn from(args: &ReadingArgs) -> Reading {
        let cutting = Cutting {
            read: None,
            format: args.format.unwrap_or_default().0,
            delimiter: args.delimiter.unwrap_or_default().0,
            start: args.record_start.clone(),
            is_tracked: false,
        };
        Reading {
            cutting,
            texts: args.text_field.clone(),
            strict: args.strict,
            on_misfit: args.on_misfit,
        }
    }
}

impl IngestArgs {
    /// With the options of the configuration file, checked.
    pub(crate) fn settled(mut self) -> Result<IngestArgs, Failure> {
        self.tier.rename();
        if let Some(path) = self.config.take() {
            config::fill(&mut self, &path)?;
        }
        self.answering.check()?;
        self.reading.check()?;
        self.index.cache.check()?;
        match (&self.directory, self.tier.mode) {
            (None, Some(Mode::Volatile)) => self.tier.check_volatile()?,
            (None, mode) => return Err(no_directory(mode)),
            (Some(_), Some(Mode::Volatile)) => {
                self.tier.check_kept()?;
                if self.resume {
                    return Err(Failure::usage(
                        "--resume: a volatile index keeps no place; leave --mode out",
                    ));
                }
            }
            (Some(_), _) => self.tier.check_groups()?,
        }
        Ok(self)
    }
}

impl PlaceArgs {
    /// Where the structures of an index in `directory` lie.
    pub(crate) fn media(&self, directory: &Path) -> Media {
        match self.placement.zip(self.pm.as_deref()) {
            Some((PlacementName(placement), pm)) => placement.media(pm, directory),
            None => Media {
                table: self.table_in.clone(),
                partial: self.partial_in.clone(),
                dictionary: self.dictionary_in.clone(),
                writes_file: self.write_file,
            },
        }
    }
}

impl CollectionArgs {
    /// With these options checked.
    pub(crate) fn settled(mut self) -> Result<CollectionArgs, Failure> {
        self.tier.rename();
        self.reading.check()?;
        self.index.cache.check()?;
        if self.tier.mode == Some(Mode::Volatile) {
            return Err(Failure::usage(
                "--mode volatile: nothing would be kept; give graceful or crash, or leave it out",
            ));
        }
        if let Some(PlacementName(placement)) = self.place.placement {
            let usual = if placement.is_crash_consistent() { Mode::Crash } else { Mode::Graceful };
            self.tier.mode.get_or_insert(usual);
        }
        self.tier.check_groups().map(|()| self)
    }
}

impl ReadingArgs {
    /// Fails if an option has no meaning in the format that is asked for.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let format = self.format.unwrap_or_default().0;
        let (lines, csv) = (Some(Format::Lines), Some(Format::Csv));
        let given = [
            (self.record_start.is_some(), "--record-start", lines, "lines"),
            (self.delimiter.is_some(), "--delimiter", csv, "csv"),
        ];
        let wrong =
            given.into_iter().find(|(given, _, of, _)| *given && format.is_some() && format != *of);
        match wrong {
            None => Ok(()),
            Some((_, name, _, of)) => {
                Err(Failure::usage(format!("{name}: only records of --format {of} have it")))
            }
        }
    }
}

fn no_directory(mode: Option<Mode>) -> Failure {
    let typed = match mode {
        Some(Mode::Graceful) => "--mode graceful",
        Some(_) => "--mode crash",
        None => "--mode crash (the default)",
    };
    Failure::usage(format!(
        "{typed}: needs a directory; give -d DIR, or --mode volatile to keep nothing"
    ))
}

impl TierArgs {
    /// Takes an old option for the one that it is called now.
    fn rename(&mut self) {
        if let Some(ms) = self.group_ms.take() {
            self.group_wait = Some(Duration::from_millis(ms).into());
        }
    }

    /// `options` with those of the second tier.
    pub(crate) fn added_to(&self, mut options: Builder) -> Builder {
        if let Some(mode) = self.mode {
            options = options.mode(mode.into());
        }
        if let Some(durability) = self.durability {
            options = options.durability(durability.into());
        }
        if let Some(nvm) = self.nvm {
            options = options.nvm_bytes(nvm.0);
        }
        if let Some(wait) = self.group_wait {
            options = options.group_wait(wait.into());
        }
        if let Some(bytes) = self.group_bytes {
            options = options.group_bytes(bytes.0);
        }
        if let Some(segments) = self.merge_after {
            options = options.merge_after(segments);
        }
        if let Some(reserve) = self.reserve {
            options = options.reserve_full(reserve == Reserve::Full);
        }
        self.pipeline.added_to(options)
    }

    /// Fails if something is said of a file's contents, and the file is not kept.
    fn check_kept(&self) -> Result<(), Failure> {
        let given = [
            (self.durability.is_some(), "--durability", "graceful and crash"),
            (self.group_wait.is_some(), "--group-wait", "crash"),
            (self.group_bytes.is_some(), "--group-bytes", "crash"),
        ];
        match given.into_iter().find(|(given, ..)| *given) {
            None => Ok(()),
            Some((_, name, modes)) => Err(Failure::usage(format!(
                "{name}: a volatile index keeps nothing; modes with this option: {modes}"
            ))),
        }
    }

    /// Fails if something is said of a file that a volatile index without a directory does not have.
    fn check_volatile(&self) -> Result<(), Failure> {
        self.check_kept()?;
        let pipeline = &self.pipeline;
        let given = [
            (self.merge_after.is_some(), "--merge-after"),
            (self.reserve.is_some(), "--reserve"),
            (pipeline.engrave.is_some(), "--engrave"),
            (pipeline.pointer_update.is_some(), "--pointer-update"),
            (pipeline.nvm_short.is_some(), "--nvm-short"),
            (pipeline.nvm_long.is_some(), "--nvm-long"),
            (pipeline.nvm_dictionary.is_some(), "--nvm-dictionary"),
        ];
        if let Some((_, name)) = given.into_iter().find(|(given, _)| *given) {
            return Err(Failure::usage(format!(
                "{name}: a volatile index without a directory has no file; give -d DIR too"
            )));
        }
        if self.nvm.is_some() {
            note("--nvm is not used in volatile mode without -d");
        }
        Ok(())
    }

    fn check_groups(&self) -> Result<(), Failure> {
        let given = [
            (self.group_wait.is_some(), "--group-wait"),
            (self.group_bytes.is_some(), "--group-bytes"),
        ];
        match given.into_iter().find(|(given, _)| *given && self.mode == Some(Mode::Graceful)) {
            Some((_, name)) => Err(Failure::usage(format!(
                "{name}: a graceful index has nothing durable before it is closed; modes with this option: crash"
            ))),
            None => Ok(()),
        }
    }
}

impl PipelineArgs {
    /// `options` with those of the pipeline.
    fn added_to(&self, mut options: Builder) -> Builder {
        if let Some(policy) = self.engrave {
            options = options.engrave(policy.into());
        }
        if let Some(policy) = self.pointer_update {
            options = options.pointer_update(policy.into());
        }
        if let Some(blocks) = self.blocks {
            options = options.fixed_blocks(blocks == BlocksName::Fixed);
        }
        if let Some(threads) = self.stage_threads {
            options = options.stage_threads(threads);
        }
        options.dram_parts(self.dram_parts()).nvm_parts(self.nvm_parts())
    }

    fn dram_parts(&self) -> Parts {
        parts([self.dram_short, self.dram_long, self.dram_dictionary])
    }

    /// The parts of the file, 0 where nothing is said.
    pub(crate) fn nvm_parts(&self) -> Parts {
        parts([self.nvm_short, self.nvm_long, self.nvm_dictionary])
    }
}

fn parts(sizes: [Option<Size>; 3]) -> Parts {
    let [short, long, dictionary] = sizes.map(|size| size.map_or(0, |size| size.0));
    Parts { short, long, dictionary }
}

impl AnsweringArgs {
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let given = [
            (self.k1.is_some(), "--k1"),
            (self.b.is_some(), "--b"),
            (self.recency.is_some(), "--recency"),
            (self.exhaustive, "--exhaustive"),
        ];
        match given.into_iter().find(|(given, _)| *given && !self.order.is_by_score()) {
            Some((_, name)) => {
                Err(Failure::usage(format!("{name}: needs --order best or proximity")))
            }
            None => Ok(()),
        }
    }

    /// How texts are highlighted, if they are.
    pub(crate) fn highlight(&self) -> Option<Highlight> {
        match self.snippet {
            Some(characters) => Some(Highlight::default().characters(characters as usize)),
            None => (self.highlight || self.highlight_field.is_some()).then(Highlight::default),
        }
    }

    /// Fails if texts are to be highlighted that `index` does not have.
    pub(crate) fn check_texts(&self, index: &Index) -> Result<(), Failure> {
        if self.highlight().is_none() || index.settings().store {
            return Ok(());
        }
        let name = match (self.highlight, self.snippet) {
            (true, _) => "--highlight",
            (false, Some(_)) => "--snippet",
            (false, None) => "--highlight-field",
        };
        Err(Failure::usage(format!(
            "{name}: the index does not store the documents' texts; index them anew with --store yes"
        )))
    }

    /// Fails if fields are to be shown that `index` does not have.
    pub(crate) fn check_fields(&self, index: &Index) -> Result<(), Failure> {
        let Some(first) = self.fields.first() else { return Ok(()) };
        if !index.settings().store {
            return Err(Failure::usage(format_args!(
                "--fields {first}: the index does not store the documents; index them anew with --store yes"
            )));
        }
        let schema = index.schema();
        let is_unknown = |name: &&String| *name != "key" && schema.by_name(name).is_none();
        match self.fields.iter().find(is_unknown) {
            None => Ok(()),
            Some(name) => {
                let names: Vec<_> = schema.fields().iter().map(|field| &*field.name).collect();
                let names = names.join(", ");
                Err(Failure::usage(format_args!(
                    "--fields {name}: the index has no such field; its fields are {names}"
                )))
            }
        }
    }

    /// Fails if moments of `index` are to be counted as numbers: an interval would be in milliseconds, whatever the field's unit is.
    pub(crate) fn check_facets(&self, index: &Index) -> Result<(), Failure> {
        let moments = Shape::moments(&index.schema());
        let misfit =
            |asked: &Asked| Some((asked.shape.typed.clone(), asked.shape.misfit(&moments)?));
        match self.facets.iter().find_map(misfit) {
            None => Ok(()),
            Some((typed, why)) => Err(Failure::usage(format_args!("--facet {typed}: {why}"))),
        }
    }

    /// What is asked of each query.
    pub(crate) fn question(&self) -> Question {
        let usual = Parameters::default();
        Question {
            lenient: self.query.lenient,
            order: self.order.clone(),
            parameters: Parameters {
                k1: self.k1.unwrap_or(usual.k1),
                b: self.b.unwrap_or(usual.b),
            },
            recency: self.recency.clone(),
            k: self.k,
            after: self.after.clone(),
            counting: self.counting(),
            // People see the time without asking for it.
            fields: if self.json { self.fields.clone() } else { Vec::new() },
            highlight: self.highlight(),
            highlight_field: self.highlight_field.clone(),
            facets: self.facets.clone(),
            explain: self.explain,
            algorithm: self.algorithm.algorithm(),
            windows: self.evaluator == EvaluatorName::Windows,
            exhaustive: self.exhaustive,
        }
    }
}
