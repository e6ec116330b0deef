//! Scratch: ingest rate.
use std::time::Instant;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let seg: u64 = std::env::args().nth(2).map_or(64, |s| s.parse().unwrap());
    let text = std::fs::read_to_string(path).unwrap();
    let docs: Vec<&str> = text.lines().collect();
    let index = spirit::Options::default().dram_bytes(4 << 30).segment_bytes(seg << 20).prefault(true)
        .analyzer(spirit::Analyzer::Simple).open().unwrap();
    for _ in 0..3 {
        let t = Instant::now();
        index.add_all(docs.iter().map(|d| (None, *d))).unwrap();
        let a = t.elapsed();
        index.settle();
        if std::env::args().nth(3).is_some() {
            let st = index.stats().unwrap();
            println!("{:?} per posting {:.2}", st.bytes, st.bytes.index() as f64 / st.postings as f64);
            for s in &st.segments { println!("{s:?} {:.2}", s.bytes.index() as f64 / s.postings as f64); }
            return;
        }
        println!("{} docs add {:?} settled {:?} {:.0} docs/s", docs.len(), a, t.elapsed(), docs.len() as f64 / t.elapsed().as_secs_f64());
    }
}
