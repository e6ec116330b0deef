//! The query-thread pool gives the answers that a reader gives, while documents come in.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use spirit::lab::PoolError;
use spirit::search::Limits;
use spirit::{Analyzer, Index, Query, Search, SearchError};

#[test]
fn a_pool_answers_as_a_reader_does() {
    let options = Index::builder().dram_bytes(8 << 20).segment_bytes(64 << 10);
    let index = Arc::new(options.analyzer(Analyzer::Simple).executors(2).open().unwrap());
    let pool = index.query_pool(2, 16).unwrap();
    for n in 0..2000 {
        index.add(&format!("all n{n} m{}", n % 10)).unwrap();
        if n % 100 == 0 {
            let found =
                pool.search(Query::all_of(&["all"]).unwrap(), Search::newest(1)).wait().unwrap();
            assert_eq!(found.unwrap().keys, [n.to_string()]);
        }
    }
    let pending: Vec<_> =
        (0..10).map(|m| pool.count(Query::all_of(&["all", &format!("m{m}")]).unwrap())).collect();
    for answer in pending {
        assert_eq!(answer.wait().unwrap().unwrap().count, 200);
    }
}

/// Limits hold for what is asked behind them, by whichever thread it is answered.
#[test]
fn a_pool_keeps_to_its_limits() {
    let options = Index::builder().dram_bytes(8 << 20).segment_bytes(64 << 10);
    let index = Arc::new(options.open().unwrap());
    index.add("sea").unwrap();
    let mut pool = index.query_pool(2, 16).unwrap();
    let sea = || Query::all_of(&["sea"]).unwrap();
    let stopped = Err(SearchError::Cancelled);
    for cancelled in [true, false] {
        let flag = Some(Arc::new(AtomicBool::new(cancelled)));
        pool.limits(Limits { cancelled: flag, ..Limits::default() });
        let found: Vec<_> = (0..8).map(|_| pool.search(sea(), Search::newest(1))).collect();
        let counted: Vec<_> = (0..8).map(|_| pool.count(sea())).collect();
        for pending in found.into_iter().chain(counted) {
            let count = pending.wait().unwrap().map(|answer| answer.count);
            assert_eq!(count, if cancelled { stopped.clone() } else { Ok(1) });
        }
    }
}

#[test]
fn a_pool_larger_than_the_readers_is_refused() {
    let index = Arc::new(Index::builder().dram_bytes(64 << 20).readers_max(2).open().unwrap());
    assert!(matches!(index.query_pool(3, 1), Err(PoolError::Readers(_))));
    assert!(index.query_pool(2, 1).is_ok(), "the readers came back");
}
