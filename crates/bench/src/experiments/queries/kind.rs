//! What is asked of every class, in which of their ways the peers do it, and what the bars are.

use spirit::{Query, Reader, Search};

use super::class::{Class, geometric_mean};
use crate::engine;
use crate::peers::System;
use crate::report::{Bound, bar};

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
    pub(super) ask: fn(&mut Reader<'_>, &Query) -> usize,
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
    /// The bars: over all plain classes of the published sets, and for the worst of them.
    pub(super) fn verdicts(&self, corpus: &str, classes: &[Class]) {
        let barred: Vec<&Class> = classes.iter().filter(|class| class.has_bar()).collect();
        if barred.is_empty() {
            return;
        }
        for (system, times) in self.bars {
            let ratios: Result<Vec<(f64, &Class)>, String> = barred
                .iter()
                .map(|class| Ok((class.ratio(system, self.against)?, *class)))
                .collect();
            let what =
                format!("{corpus}: {}, geometric mean of {} classes", self.name, barred.len());
            let mean = ratios.as_ref().map_err(Clone::clone);
            let mean = mean.map(|all| geometric_mean(all.iter().map(|(ratio, _)| *ratio)));
            bar(&what, Bound::AtLeast(times), "×", system.name(), &mean);
            let Ok(ratios) = ratios else { continue };
            let slowest = ratios.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((ratio, class)) = slowest else { continue };
            let what = format!("{corpus}: {}, slowest class ({})", self.name, class.label());
            bar(&what, Bound::AtLeast(1.0), "×", system.name(), &Ok(ratio));
        }
    }
}
