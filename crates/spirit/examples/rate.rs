//! Scratch: ingest rate.
use std::time::Instant;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let seg: u64 = std::env::args().nth(2).map_or(64, |s| s.parse().unwrap());
    let rounds: u64 = std::env::args().nth(3).map_or(6, |s| s.parse().unwrap());
    let text = std::fs::read_to_string(path).unwrap();
    let docs: Vec<&str> = text.lines().collect();
    let index = spirit::Options::default()
        .dram_bytes(2 << 30)
        .segment_bytes(seg << 20)
        .prefault(true)
        .analyzer(spirit::Analyzer::Simple)
        .open()
        .unwrap();
    let mut times = vec![];
    for _ in 0..rounds {
        let t = Instant::now();
        index.add_all(docs.iter().map(|d| (None, *d))).unwrap();
        index.settle();
        times.push(t.elapsed().as_secs_f64());
    }
    let h = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    eprintln!("{}", h.lines().find(|l| l.starts_with("AnonHuge")).unwrap());
    times.sort_by(f64::total_cmp);
    println!(
        "min {:.3} median {:.3} s; best {:.0} docs/s median {:.0}",
        times[0],
        times[times.len() / 2],
        docs.len() as f64 / times[0],
        docs.len() as f64 / times[times.len() / 2]
    );
}
