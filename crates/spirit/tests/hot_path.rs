//! The hot paths as they were promised: a query allocates nothing and makes no system call, and neither does
//! adding a document allocate.
//!
//! *Allocations* are counted by this binary's allocator, for each thread apart, so that what another thread
//! does meanwhile is not in the way. It can fail: `an_allocation_is_counted` proves that one is seen.
//!
//! *System calls* are forbidden by the kernel: a child process (this binary again, with an environment variable
//! set) puts a seccomp filter on the asking thread that kills the process on any call but `write` and `exit`,
//! asks, and says so. It can fail: the same child with one `getpid` in it must die of `SIGSYS`. Page
//! faults are not system calls; a first touch of reserved memory is allowed.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use spirit::cache::{Cache, Matching, Policy};
use spirit::lab::Algorithm;
use spirit::lab::{DictionaryTier, EngravePolicy, Postings};
use spirit::schema::TimeUnit;
use spirit::search::{Direction, Total};
use spirit::{Analyzer, Builder, Document, FieldKind, Index, Reader, Search, Value};
use spirit_index::ground::{FieldId, TERM_BYTES_MAX, Term};
use spirit_index::memory::Memory;
use spirit_index::snapshot::Snapshot;
use support::directory::Directory;
use support::{size_of_run, tiny};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is the system allocator's; counting touches a thread-local of constant initial value,
// which needs no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `alloc` above, which is the system allocator's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as for `dealloc`, and the caller vouches for `size`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread in `work`.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

/// How many answers a round has at least, in which every query is asked.
const ANSWERS: u64 = 500;

/// How often every query is asked. Meanwhile segments come and go.
fn rounds() -> u64 {
    size_of_run("SPIRIT_HOT_PATH_ROUNDS", 16)
}

/// Every shape of query: by plan, by operator, hits and misses, dense and rare, too large, and no query at all.
const QUERIES: [&str; 46] = [
    "word1",
    "common",
    "nosuchword",
    "averylongwordthatdoesnotfitakey",
    "word1 AND other7",
    "common AND word3",
    "common AND word1 AND other1 AND third1",
    "word1 OR word2 OR word3",
    "word1 word2 other5",
    "+common -word4",
    "+(word1 OR word2) +(other1 OR other2) -third9",
    "-common",
    "*",
    "* AND NOT common",
    "key:k7",
    "key:1234",
    "key:nosuchkey",
    "+key:k7 +common",
    "text:word1 AND (other1 OR (third1 AND NOT word9))",
    "",
    "word1 AND (",
    "\"a phrase",
    "\"common word1\"",
    "\"word1 other1\"~3",
    "\"third1 * averylongwordthatdoesnotfitakey\" -word7",
    "\"word1 oth\"*",
    "common \"word1 o\"*^2",
    "\"word2 * third1\"* -word7",
    "(word1 other1 third1 common)~2",
    "wor*",
    "w?rd1*",
    "other1~1",
    "common^2 (word1 \"other1 third1\")^0.5",
    "word1^=3 other5",
    "views:[30 TO 60}",
    "views:7",
    "views:>5000",
    "common -views:<90",
    "word1 AND views:IN [1 2 3 50 51]^2",
    "views:*",
    "views:[1 TO",
    "tag:[t1 TO t3}",
    "tag:IN [t1 \"t 2\" t3]",
    "(tag:>=t5 views:{* TO 9} word2)~2",
    "often",
    "often common",
];

/// Orders by a field. A name is kept by anyone who asks, again and again.
static BY_VIEWS: LazyLock<[Search; 2]> = LazyLock::new(|| by_field("views"));
static BY_TAG: LazyLock<[Search; 2]> = LazyLock::new(|| by_field("tag"));
static FADED: LazyLock<Search> =
    LazyLock::new(|| Search::best(20).recency_as_of("at", Duration::from_secs(60), 9_999));

fn text(n: u64) -> String {
    let (a, b, c) = (n % 30, n % 200, n % 1500);
    format!(
        "common word{a} other{b} third{c} averylongwordthatdoesnotfitakey{c} averylongwordthatdoesnotfitakey"
    )
}

fn feed(index: &Index, numbers: impl Iterator<Item = u64>) {
    for n in numbers {
        match n % 9 {
            0 => index.put(&format!("k{}", n % 500), &text(n)).unwrap(),
            1 | 2 => {
                let (text, tag) = (text(n), format!("t{}", n % 11));
                let document = Document::new().text(&text).field("views", (n % 100) as i64);
                let document = document.field("tag", &tag).field("views", -((n % 5) as i64));
                let document = document.field("at", Value::Time(n as i64));
                index.add(&document).map(drop).unwrap();
            }
            _ => index.add(&text(n)).map(drop).unwrap(),
        }
    }
}

fn with_fields(options: Builder) -> Builder {
    let options = options.field("views", FieldKind::Integer).field("tag", FieldKind::Keyword);
    options.field("at", FieldKind::Time(TimeUnit::Seconds))
}

/// An index with flushed segments, a fresh one, and rows that died.
fn filled(executors: usize) -> Index {
    filled_as(executors, false)
}

/// The same; it stores texts or not.
fn filled_as(executors: usize, store: bool) -> Index {
    fill(with_fields(tiny(executors, 8 << 20)).store(store))
}

/// The same with a result cache that keeps all it can, but has no room for all.
fn cached(matching: Matching) -> Index {
    let cache = Cache::new(256 << 10).entries(50).policy(Policy::Random).matching(matching);
    let cache = cache.cost_min(Duration::ZERO);
    fill(with_fields(tiny(1, 8 << 20)).cache(cache))
}

fn fill(builder: Builder) -> Index {
    let index = builder.open().unwrap();
    feed(&index, 0..10_000);
    // Some have a word more often than a posting can say.
    for _ in 0..20 {
        index.add(&"often ".repeat(300)).unwrap();
    }
    feed(&index, 10_000..20_000);
    index.add(&"often ".repeat(300)).unwrap();
    index
}

/// The same with most of its segments in the second tier, with packed lists.
fn packed(directory: &Path) -> Index {
    let options = tiny(1, 8 << 20).directory(directory).nvm_bytes(16 << 20);
    let options = options.document_bytes_max(8 << 10).postings(Postings::Packed);
    let index = with_fields(options.engrave(EngravePolicy::Eager)).open().unwrap();
    feed(&index, 0..20_000);
    index.flush().unwrap();
    index.settle();
    let has = |name| index.stats().unwrap().sections.contains(&(name, 0));
    assert!(has("posting arrays") && !has("packed lists"), "all of them are packed");
    index
}

/// Parses and asks each query in every way; returns how many answers there were.
fn ask_everything(reader: &mut Reader, key: &mut Vec<u8>) -> u64 {
    let algorithms = [None, Some(Algorithm::Naive), Some(Algorithm::Binary), Some(Algorithm::Simd)];
    let mut answers = 0;
    for query in QUERIES {
        answers += reader.count(query).unwrap_or(0);
        for algorithm in algorithms {
            let search = Search::newest(20).algorithm(algorithm);
            let Ok(hits) = reader.search(query, search.clone()) else { continue };
            for i in 0..hits.len() {
                key.clear();
                hits.get(i).unwrap().write_key(key).unwrap();
                answers += key.len() as u64;
            }
            if let Some(cursor) = hits.cursor().unwrap() {
                drop(hits);
                answers += reader.search(query, search.after(cursor)).unwrap().len() as u64;
            }
        }
        answers += reader.count_up_to(query, 50).map_or(0, Total::count);
        let [newest, best] = [Search::newest(20), Search::best(20)];
        let forced = [newest.total(50).windows(), best.clone().total(50), best.clone().windows()];
        for search in forced {
            let Ok(hits) = reader.search(query, search) else { continue };
            answers += hits.total().map_or(0, Total::count);
        }
        let placed = best.clone().proximity();
        for search in [best.clone(), placed, best.exhaustive(), FADED.clone()] {
            let Ok(hits) = reader.search(query, search) else { continue };
            answers +=
                hits.iter().filter_map(|hit| hit.score()).filter(|score| *score > 0.0).count()
                    as u64;
        }
        for search in &*BY_VIEWS {
            let Ok(hits) = reader.search(query, search.clone()) else { continue };
            answers += hits.iter().filter(|hit| hit.sort_value().is_some()).count() as u64;
            if let Some(cursor) = hits.cursor().unwrap() {
                drop(hits);
                let search = search.clone().after(cursor);
                answers += reader.search(query, search).unwrap().len() as u64;
            }
        }
        for search in &*BY_TAG {
            let Ok(hits) = reader.search(query, search.clone()) else { continue };
            answers += hits.len() as u64;
        }
    }
    answers
}

fn by_field(field: &str) -> [Search; 2] {
    [Direction::Ascending, Direction::Descending].map(|d| Search::by_field(20, field, d))
}

/// Runs `work` while another thread adds documents.
fn during_ingest<T>(index: &Index, work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let unfinished = || !over.load(Relaxed);
            feed(index, (20_000..).take_while(|_| unfinished()));
        });
        // Also if the work fails: the other thread would go on for ever.
        let _over = Over(&over);
        work()
    })
}

/// Ends what waits for it.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn an_allocation_is_counted() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(7)))), 1);
    assert_eq!(allocations(|| ()), 0);
}

fn queries_allocate_nothing(index: &Index) {
    during_ingest(index, || {
        let mut reader = index.reader().unwrap();
        let mut key = Vec::with_capacity(1024);
        ask_everything(&mut reader, &mut key);
        let mut answers = 0;
        let counted = allocations(|| {
            answers = (0..rounds()).map(|_| ask_everything(&mut reader, &mut key)).sum()
        });
        assert!(answers > ANSWERS * rounds(), "only {answers} answers");
        assert_eq!(counted, 0, "allocations in queries");
    });
}

#[test]
fn queries_allocate_nothing_with_a_result_cache() {
    let index = cached(Matching::Isomorphic);
    queries_allocate_nothing(&index);
    let stats = index.stats().unwrap().cache.unwrap();
    assert!(stats.found > 100 && stats.filled > 100 && stats.evicted > 100, "{stats:?}");
}

#[test]
fn queries_allocate_nothing_with_partial_matching() {
    for matching in [Matching::Partial1, Matching::Partial2] {
        let index = cached(matching);
        queries_allocate_nothing(&index);
        let stats = index.stats().unwrap().cache.unwrap();
        assert!(stats.found > 100 && stats.filled > 100 && stats.evicted > 100, "{stats:?}");
        assert!(stats.found_by_alias > 10, "{matching:?}: {stats:?}");
    }
}

#[test]
fn queries_allocate_nothing_with_one_executor() {
    queries_allocate_nothing(&filled(1));
}

#[test]
fn queries_allocate_nothing_with_three_executors() {
    queries_allocate_nothing(&filled(3));
}

#[test]
fn queries_allocate_nothing_where_lists_are_packed() {
    let directory = Directory::new();
    queries_allocate_nothing(&packed(directory.path()));
}

/// What a round of up to 4,096 documents for three executors allocates, at most, and its part of the threads.
const ROUND_ALLOCATIONS: u64 = 24;

/// After a warm-up that fills some segments, adding (new documents, new versions) allocates nothing on the
/// thread that adds, over many more segments.
fn adding_allocates_nothing(executors: usize, store: bool) {
    let index = filled_as(executors, store);
    let texts: Vec<String> = (20_000..40_000).map(text).collect();
    let keys: Vec<String> = (0..500).map(|n| format!("k{n}")).collect();
    let dropped = index.stats().unwrap().dropped_segments;
    let of_adds = allocations(|| texts.iter().for_each(|text| index.add(text).map(drop).unwrap()));
    let of_puts = allocations(|| {
        texts.iter().zip(keys.iter().cycle()).for_each(|(text, key)| index.put(key, text).unwrap());
    });
    let of_batches = allocations(|| {
        let documents = texts.iter().map(|text| (None, text.as_str()));
        assert_eq!(index.add_all(documents), Ok(20_000));
    });
    assert!(
        index.stats().unwrap().dropped_segments > dropped + 20,
        "too few segments for this proof"
    );
    // One is the thread's place in the queue before the flush stage, which the standard library makes when a thread
    // waits there for the first time; that may be now.
    let all = (of_adds, of_puts, of_batches);
    // Several executors take a round at a time, which has room for its documents and threads.
    let of_batches = match executors {
        1 => of_batches,
        _ => of_batches.saturating_sub(20_000_u64.div_ceil(4096) * ROUND_ALLOCATIONS),
    };
    assert!(of_adds + of_puts + of_batches <= 1, "{all:?} allocations with {executors} executors");
}

#[test]
fn adding_allocates_nothing_with_one_executor() {
    adding_allocates_nothing(1, false);
}

#[test]
fn adding_allocates_nothing_with_three_executors() {
    adding_allocates_nothing(3, false);
}

#[test]
fn adding_allocates_nothing_where_texts_are_stored() {
    adding_allocates_nothing(1, true);
    adding_allocates_nothing(3, true);
}

/// Texts in DRAM are copied to where the caller wants them, and nothing else happens.
#[test]
fn reading_stored_texts_in_dram_allocates_nothing_but_the_first_time() {
    let index = filled_as(1, true);
    let mut reader = index.reader().unwrap();
    let mut text = Vec::with_capacity(1 << 20);
    let hits = reader.search("common", Search::newest(1000)).unwrap();
    hits.get(0).unwrap().write_text(&mut text).unwrap();
    let read =
        || (0..hits.len()).for_each(|hit| hits.get(hit).unwrap().write_text(&mut text).unwrap());
    assert_eq!(allocations(read), 0);
    assert!(text.len() > 50_000, "{} bytes", text.len());
}

/// Statistics, frequencies, and every term of every segment, in every state.
fn rank_everything(memory: &Memory) -> u64 {
    let pin = memory.pins().acquire().unwrap();
    memory.pins().pin(&pin);
    let snapshot = Snapshot::take(memory);
    let mut sum = snapshot.statistics().tokens;
    for bytes in
        ["common", "averylongwordthatdoesnotfitakey", "averylongwordthatdoesnotfitakey7", "none"]
    {
        let term = Term::new(FieldId(0), bytes.as_bytes()).unwrap();
        sum += snapshot.document_frequency(term, term.key.hash());
    }
    let mut out = [0; TERM_BYTES_MAX];
    for segment in snapshot.registered() {
        sum += segment.length(0) as u64;
        let mut terms = segment.terms_from(FieldId(0), b"averylongwordthatdoesnotfitakey5");
        while let Some(term) = terms.next_term(&mut out) {
            sum += term.entry.postings as u64;
        }
    }
    for segment in snapshot.fresh() {
        let extent = segment.extent();
        let mut bytes = |term| extent.write_term(term, &mut out).1 as u64;
        sum += segment.fresh_ordinals().map(&mut bytes).sum::<u64>();
    }
    memory.pins().unpin(&pin);
    memory.pins().release(pin);
    sum
}

#[test]
fn what_ranking_and_patterns_ask_for_allocates_nothing() {
    let directory = Directory::new();
    let options = with_fields(tiny(1, 8 << 20)).directory(directory.path()).nvm_bytes(8 << 20);
    let options = options.document_bytes_max(8 << 10).merge_after(4);
    let uncovered = options.clone().dictionary(DictionaryTier::Nvm);
    for options in [with_fields(tiny(1, 8 << 20)), options, uncovered] {
        let index = options.open().unwrap();
        feed(&index, 0..20_000);
        let memory = index.memories().next().unwrap();
        let mut sum = 0;
        assert_eq!(allocations(|| sum = rank_everything(memory)), 0);
        assert!(sum > 100_000, "{sum}");
        index.close().unwrap();
    }
}

/// Words without a field's name are looked for in two fields of text, and the best of both counts.
#[test]
fn words_in_each_field_allocate_nothing() {
    let options = with_fields(tiny(1, 8 << 20));
    let index = options.field("title", FieldKind::Text(Analyzer::Standard)).open().unwrap();
    for n in 0..6000 {
        let (text, title) = (text(n), format!("common title{} word{}", n % 50, n % 7));
        index.add(Document::new().text(&text).field("title", &title)).unwrap();
    }
    let mut reader = index.reader().unwrap();
    let mut answers = 0;
    let mut ask = || {
        for query in [
            "word1",
            "common word3",
            "+common -word4",
            "common^2 (word1 OR title7)^0.5",
            "\"common word1\"",
            "wor* title1~1",
            "\"word1 oth\"*",
            "(word1 title1 third1)~2",
        ] {
            answers += reader.count(query).unwrap();
            let best = Search::best(20);
            for search in [Search::newest(20), best.clone(), best.proximity()] {
                answers += reader.search(query, search).unwrap().len() as u64;
            }
        }
    };
    ask();
    assert_eq!(allocations(ask), 0);
    assert!(answers > 1000, "{answers}");
}

/// Tells this binary that it is the child, and which one.
const CHILD: &str = "SPIRIT_HOT_PATH_CHILD";

/// From here on, a system call of this thread other than `write`, `exit` and `exit_group` kills the process.
fn forbid_system_calls() {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let load = statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0);
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let allow =
        |call: i64, ahead: u8| libc::sock_filter { jt: ahead, ..statement(equal, call as u32) };
    let end = |action: u32| statement(libc::BPF_RET | libc::BPF_K, action);
    let mut program = [
        load,
        allow(libc::SYS_write, 3),
        allow(libc::SYS_exit_group, 2),
        allow(libc::SYS_exit, 1),
        end(libc::SECCOMP_RET_KILL_PROCESS),
        end(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: sets a flag of this thread; no memory is involved.
    let no_new = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    // SAFETY: `program` points at filters that live until the call returns; the kernel copies them.
    let set =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!((no_new, set), (0, 0), "this kernel has no seccomp filters");
}

/// The child's life: ends the process with success if nothing killed it before.
fn ask_under_the_filter(kind: &str, call: bool) -> ! {
    let index = match kind.parse() {
        Ok(executors) => filled(executors),
        Err(_) if kind == "cached" => cached(Matching::Isomorphic),
        Err(_) if kind == "partial" => cached(Matching::Partial2),
        Err(_) => packed(Path::new(".")),
    };
    during_ingest(&index, || {
        let mut reader = index.reader().unwrap();
        let mut key = Vec::with_capacity(1024);
        ask_everything(&mut reader, &mut key);
        forbid_system_calls();
        let answers: u64 = (0..rounds()).map(|_| ask_everything(&mut reader, &mut key)).sum();
        if call {
            // SAFETY: asks for a number.
            unsafe { libc::getpid() };
        }
        let status = if answers > ANSWERS * rounds() { 0 } else { 3 };
        // SAFETY: ends the process at once, with nothing to be flushed.
        unsafe { libc::_exit(status) }
    })
}

/// Runs the test `name` of this binary as a child of the kind `child`, in a directory that goes whatever way the child ends.
fn run_child(name: &str, child: &str) -> Output {
    let directory = Directory::new();
    let binary = std::env::current_exe().unwrap();
    let arguments = ["--exact", name, "--nocapture", "--test-threads=1"];
    let mut command = Command::new(binary);
    command.args(arguments).env(CHILD, child).current_dir(directory.path()).output().unwrap()
}

#[test]
fn queries_make_no_system_call() {
    if let Ok(kind) = std::env::var(CHILD) {
        ask_under_the_filter(&kind, false);
    }
    for kind in ["1", "3", "packed", "cached", "partial"] {
        let output = run_child("queries_make_no_system_call", kind);
        assert!(output.status.success(), "{kind}: {output:?}");
    }
}

/// The test above can fail: one system call under the filter, and the child dies.
#[test]
fn a_system_call_under_the_filter_kills() {
    if let Ok(kind) = std::env::var(CHILD) {
        ask_under_the_filter(&kind, true);
    }
    let output = run_child("a_system_call_under_the_filter_kills", "1");
    assert_eq!(output.status.signal(), Some(libc::SIGSYS), "{output:?}");
}
