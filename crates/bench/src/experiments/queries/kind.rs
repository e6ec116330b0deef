//! What is asked of every class, in which of their ways the peers do it, and what the bars are.

use spirit::{Query, Reader, Search};

use super::class::{Class, geometric_mean};
use super::{AT_REST, FORMS};
use crate::engine;
use crate::peers::System;
use crate::report::{Bound, bar, number};

const K: usize = 10;

/// A question that can be asked with any query.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// The peers' ways.
    pub(super) modes: &'static [&'static str],
    /// Those of them that the bars are against: the fastest for each class.
    against: &'static [&'static str],
    /// How many times as fast we have to be.
    bars: [(System, f64); 2],
    pub(super) ask: fn(&mut Reader, &Query) -> usize,
}

pub(super) const KINDS: [Kind; 3] = [
    Kind {
        name: "count",
        title: "exact count",
        modes: &["count", "count-fast"],
        against: &["count"],
        bars: [(System::Tantivy, 5.0), (System::Lucene, 8.0)],
        ask: engine::count,
    },
    Kind {
        name: "best",
        title: "best ten by BM25",
        modes: &["top"],
        against: &["top"],
        bars: [(System::Tantivy, 2.5), (System::Lucene, 4.0)],
        ask: |reader, query| engine::hits(reader, query, Search::best(K)),
    },
    Kind {
        name: "newest",
        title: "newest ten",
        modes: &["newest-sorted", "newest"],
        against: &["newest-sorted", "newest"],
        bars: [(System::Tantivy, 10.0), (System::Lucene, 10.0)],
        ask: |reader, query| engine::hits(reader, query, Search::newest(K)),
    },
];

impl Kind {
    /// Over all plain classes of the published sets, and for the worst of them: the bars, which are for our index at rest as the peers' is,
    /// and the same of the live one.
    pub(super) fn verdicts(&self, corpus: &str, classes: &[Class]) {
        let barred: Vec<&Class> = classes.iter().filter(|class| class.has_bar()).collect();
        if barred.is_empty() {
            return;
        }
        for (system, times) in self.bars {
            for (form, name) in FORMS.iter().enumerate() {
                let of_class =
                    |class: &&Class| Ok((class.ratio(form, system, self.against)?, class.label()));
                let ratios: Result<Vec<_>, String> = barred.iter().map(of_class).collect();
                let what = format!("{corpus}, {name}: {}", self.name);
                let mean = ratios.as_ref().map_err(Clone::clone);
                let mean = mean.map(|all| geometric_mean(all.iter().map(|(ratio, _)| *ratio)));
                let slowest = ratios.unwrap_or_default();
                let slowest = slowest.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
                let mean_of = format!("{what}, geometric mean of {} classes", barred.len());
                if form != AT_REST {
                    if let (Ok(mean), Some((ratio, class))) = (mean, slowest) {
                        let [mean, ratio] = [mean, ratio].map(number);
                        let system = system.name();
                        println!(
                            "     {mean_of}: {mean}× {system}; slowest class ({class}) {ratio}×"
                        );
                    }
                    continue;
                }
                bar(&mean_of, Bound::AtLeast(times), "×", system.name(), &mean);
                if let Some((ratio, class)) = slowest {
                    let what = format!("{what}, slowest class ({class})");
                    bar(&what, Bound::AtLeast(1.0), "×", system.name(), &Ok(ratio));
                }
            }
        }
    }
}
