//! What every experiment is given: settings, corpora, cores, peers, the report and its figures.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use spirit::Builder;
use spirit::lab::SlowMedium;

use crate::Fallible;
use crate::args::{Args, Scale};
use crate::charts::Charts;
use crate::cores::Cores;
use crate::corpus::Corpus;
use crate::peers::Peers;
use crate::report::{Config, Report};

/// The corpora that are there for all.
pub(crate) const SHARED: [&str; 2] = ["posts", "articles"];

/// A run of the program.
pub(crate) struct Bench {
    pub(crate) seed: u64,
    pub(crate) rounds: usize,
    /// Queries of each class in the sets of all classes.
    pub(crate) per_class: usize,
    pub(crate) scale: Scale,
    slow_tier: Option<SlowMedium>,
    pub(crate) cores: Cores,
    pub(crate) peers: Peers,
    pub(crate) report: Report,
    pub(crate) charts: Charts,
    data: Option<PathBuf>,
    docs: Option<u64>,
    source: Source,
    /// What was loaded last: experiments in a row use the same.
    loaded: Option<Arc<Corpus>>,
}

enum Source {
    File(PathBuf),
    Shared(PathBuf),
    Generated,
}

impl Bench {
    pub(crate) fn new(args: &Args) -> Fallible<Bench> {
        let cores = Cores::find();
        Ok(Bench {
            seed: args.seed,
            rounds: args.rounds as usize,
            per_class: args.per_class as usize,
            scale: args.scale,
            slow_tier: args.slow_tier,
            cores,
            peers: Peers::new(args.peers.0.clone(), cores),
            report: Report::new(args.json.as_deref())?,
            charts: Charts::new(args.svg.as_deref())?,
            data: args.data.clone(),
            docs: args.docs,
            source: Source::choose(args),
            loaded: None,
        })
    }

    /// The names of the corpora that an experiment for posts, or for posts and articles, runs on.
    pub(crate) fn corpora(&self, articles_too: bool) -> Vec<&'static str> {
        match &self.source {
            Source::Shared(_) if articles_too => SHARED.to_vec(),
            _ => vec!["posts"],
        }
    }

    /// A corpus; `name` counts only for the shared ones.
    pub(crate) fn corpus(&mut self, name: &str) -> Fallible<Arc<Corpus>> {
        let of_file = |path: &Path, docs: Option<u64>| Corpus::load(path, docs.unwrap_or(u64::MAX));
        let stands = |corpus: &&Arc<Corpus>| {
            !matches!(self.source, Source::Shared(_)) || corpus.name == name
        };
        if let Some(corpus) = self.loaded.as_ref().filter(stands) {
            return Ok(corpus.clone());
        }
        self.loaded = None;
        let corpus = match &self.source {
            Source::File(path) => of_file(path, self.docs)?,
            Source::Shared(folder) => of_file(&folder.join(file_name(name)), self.docs)?,
            Source::Generated => Corpus::generate(self.seed, self.docs),
        };
        let (bytes, tokens) = (corpus.text_bytes(), corpus.tokens);
        println!("\n{}: {} documents, {bytes} bytes, {tokens} tokens", corpus.name, corpus.len());
        let corpus = Arc::new(corpus);
        self.loaded = Some(corpus.clone());
        Ok(corpus)
    }

    /// The folder of shared data, if it has this file.
    pub(crate) fn data_with(&self, file: &str) -> Option<PathBuf> {
        self.data.clone().filter(|folder| folder.join(file).is_file())
    }

    /// These options, with a second tier as slow as was asked for. Then there are barriers too, as such a medium needs them.
    pub(crate) fn slowed(&self, options: Builder) -> Builder {
        match self.slow_tier {
            Some(medium) => options.slow_medium(medium).force_barriers(true),
            None => options,
        }
    }

    /// Rows are of this experiment on this corpus from now on.
    pub(crate) fn begin(&mut self, experiment: &'static str, corpus: &Corpus, more: Config<'_>) {
        let mut config = vec![
            ("corpus", json!(corpus.name)),
            ("docs", json!(corpus.len())),
            ("seed", json!(self.seed)),
        ];
        config.extend_from_slice(more);
        if let Some(SlowMedium { bytes_per_second, barrier }) = self.slow_tier {
            println!("second tier: {bytes_per_second} bytes a second, {barrier:?} a barrier");
            config.push(("tier_bytes_per_s", json!(bytes_per_second)));
            config.push(("tier_barrier_ns", json!(barrier.as_nanos() as u64)));
        }
        self.report.begin(experiment, &config);
        self.charts.begin(experiment);
    }
}

fn file_name(corpus: &str) -> String {
    format!("{corpus}.jsonl.zst")
}

impl Source {
    fn choose(args: &Args) -> Source {
        if let Some(path) = &args.corpus {
            return Source::File(path.clone());
        }
        let Some(folder) = &args.data else {
            println!(
                "no corpus: neither --corpus nor --data nor SPIRIT_DATA was given; using generated text"
            );
            return Source::Generated;
        };
        let missing = SHARED.map(file_name).into_iter().find(|f| !folder.join(f).is_file());
        match missing {
            None => Source::Shared(folder.clone()),
            Some(file) => {
                println!("no corpus: {} has no {file}; using generated text", folder.display());
                Source::Generated
            }
        }
    }
}
