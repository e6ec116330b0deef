//! `http`: our server beside OpenSearch, over HTTP, on the same documents, by the same client.
//!
//! Each server has the second core, the client the first. Both run, and take turns; one that is not asked rests. Our index syncs what
//! it acknowledges (level `os`), as OpenSearch's translog does by default. OpenSearch has its defaults, a heap of 1 GiB, one shard and no
//! replica; our index has as much DRAM. It is started from Maven Central ([`crate::peers`]). The client holds its
//! connections open and parses no answer that is timed.
//!
//! | case | measured | must, aim |
//! |---|---|---|
//! | [`bulk`] | `_bulk`, 1,000 documents a request: documents a second, and a second of the server's processor time | ≥ 5×, 20×; 300,000 a core |
//! | [`visible`] | a `_doc` that is put, until another connection finds it | P50 ≥ 10× as fast, P99 ≤ 5 ms, 1 ms |
//! | [`searches`] | the ten best of every class of luceneutil, on 1, 8 and 64 connections, idle | rate ≥ 2×, 8×; P99 no worse |
//! | [`searches`] | the same while 20,000 documents/s go in, and are visible within 100 ms | rate ≥ 5×, 20× |
//! | [`cost`] | 2,000 searches/s over HTTP beside the engine's time for the same | P99 of the difference ≤ 300 µs, 100 µs |
//! | [`dashboard`] | a histogram by time within terms, beside ingest | ≥ 2× as fast, 10× |
//! | [`footprint`] | memory, disk, from a start to the first answer | |
//!
//! Bars of searches are for the geometric mean of all classes. First the totals of all searches and the buckets of the dashboard are
//! compared; what differs is an error, but for fuzzy words of which OpenSearch takes 1,024 terms only. Documents with signs that nobody
//! sees are left out, since OpenSearch keeps them within words.
//!
//! Corpora: posts and articles, with columns drawn by the seed; single puts, ingest and dashboards on posts only. Without shared data the classes are
//! those drawn from the corpus. `--scale small` shows within three minutes that all works.
//!
//! Caveats: our server's program is the one beside this: build it first. The ids of bulks are made by the servers. Rates of short searches
//! are bounded by the client: the tables say which share of its core it took. The rates of a second of processor time have
//! steps of 10 ms.

mod asking;
mod bulk;
mod classes;
mod client;
mod cost;
mod dashboard;
mod documents;
mod footprint;
mod plan;
mod searches;
mod server;
mod side;
mod stream;
mod visible;

use std::iter::once;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use unicode_normalization::UnicodeNormalization;

use super::equal::text_sets;
use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use classes::{Class, Difference};
use documents::Documents;
use footprint::Footprint;
use plan::Plan;
use searches::Load;
use side::Sides;

/// Classes of searches that may be cheap enough for the fixed rate: one word, two words, a phrase.
const CHEAP: [&str; 9] =
    ["LowTerm", "MedTerm", "HighTerm", "AndHighLow", "AndHighMed", "LowPhrase", "L", "M", "LL"];

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let plan = Plan::of(bench.scale);
    let mut differences = Vec::new();
    for name in bench.corpora(true) {
        let corpus = bench.corpus(name)?;
        let all = corpus.len();
        let corpus = corpus.first(plan.documents_max).only(has_same_words)?;
        println!(
            "left out, since both take other words from them: {}",
            all.min(plan.documents_max) - corpus.len()
        );
        bench.begin("http", &corpus, &[("scale", json!(format!("{:?}", bench.scale)))]);
        differences.extend(on_corpus(bench, &corpus, &plan)?);
    }
    match differences.iter().find(|difference| !classes::is_known(difference)) {
        Some(difference) => Err(format!("the sides differ: {difference:?}").into()),
        None => Ok(()),
    }
}

/// True if both sides take the same words from a text. Both take a sign within a word that nobody sees,
/// as U+FEFF, in another way, and so signs whose capitals are those of others, as the ligature `ﬁ`, and letters
/// in another form, as `ⓢ`.
fn has_same_words(text: &str) -> bool {
    let is_unseen = |c: char| matches!(c, '\u{ad}' | '\u{feff}' | '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    let is_folded = |c: char| !c.to_uppercase().flat_map(char::to_lowercase).eq(c.to_lowercase());
    let is_form = |c: char| !c.is_ascii() && c.is_alphanumeric() && !once(c).nfkc().eq(once(c));
    !text.contains(|c: char| is_unseen(c) || is_folded(c) || is_form(c))
}

fn on_corpus(bench: &mut Bench, corpus: &Corpus, plan: &Plan) -> Fallible<Vec<Difference>> {
    let cores = bench.cores;
    let _pinned = cores.pin(On::First);
    let name = corpus.name.as_str();
    let documents = Documents::of(corpus, bench.seed);
    bench.per_class = bench.per_class.min(plan.per_class_max);
    let (set, queries) = text_sets(bench, corpus)?.pop().ok_or("no queries")?;
    let classes = classes::of(&queries);
    println!("{} classes of {set}", classes.len());
    let mut sides = Sides::start(bench)?;
    bulk::measure(bench, &mut sides, &documents, name, plan)?;
    let differences = classes::compare(&mut sides, &classes)?;
    let idle = Load { name: "idle", bulks: None, must: 2.0, aim: 8.0 };
    searches::measure(bench, &mut sides, &classes, name, &idle, plan)?;
    let taken = sides.each(Footprint::of)?;
    if corpus.is_short() {
        let cheap: Vec<Class> =
            classes.iter().filter(|class| CHEAP.contains(&&*class.name)).cloned().collect();
        cost::measure(bench, &mut sides, &cheap, name, plan)?;
        dashboard::compare(&mut sides)?;
        visible::measure(bench, &mut sides, name, plan)?;
        let bulks: Arc<[Bytes]> = documents.bulks(plan.stream).into();
        dashboard::measure(bench, &mut sides, &bulks, name, plan)?;
        let busy = Load { name: "20,000/s go in", bulks: Some(bulks), must: 5.0, aim: 20.0 };
        searches::measure(bench, &mut sides, &classes, name, &busy, plan)?;
    }
    footprint::print(bench, sides, name, documents.len(), &taken)?;
    Ok(differences)
}
