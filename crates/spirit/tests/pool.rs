//! The query-thread pool gives the answers that a reader gives, while documents come in.

use std::sync::Arc;

use spirit::{Analyzer, Options, PoolError, Query, QueryPool, Search};

#[test]
fn a_pool_answers_as_a_reader_does() {
    let options = Options::default().dram_bytes(8 << 20).segment_bytes(64 << 10);
    let index = Arc::new(options.analyzer(Analyzer::Simple).executors(2).open().unwrap());
    let pool = QueryPool::start(&index, 2, 16).unwrap();
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

#[test]
fn a_pool_larger_than_the_readers_is_refused() {
    let index = Arc::new(Options::default().dram_bytes(64 << 20).readers_max(2).open().unwrap());
    assert!(matches!(QueryPool::start(&index, 3, 1), Err(PoolError::Readers(_))));
    assert!(QueryPool::start(&index, 2, 1).is_ok(), "the readers came back");
}
