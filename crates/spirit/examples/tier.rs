//! scratch
use spirit::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let cmd = args[1].as_str();
    let dir = &args[2];
    let mut o = Options::default().dram_bytes(1 << 30).analyzer(Analyzer::Simple);
    if cmd != "volatile" {
        o = o.directory(dir).nvm_bytes(4 << 30).force_barriers(std::env::var("FORCE").is_ok());
    }
    let t = Instant::now();
    let index = o.open().unwrap();
    println!("open {:?}", t.elapsed());
    if cmd == "search" {
        let mut reader = index.reader().unwrap();
        for q in ["the AND of", "happy", "zebra AND monday", "love OR hate", "nosuchwordatall"] {
            let t = Instant::now();
            let n = reader.count_text(q).unwrap();
            let keys = reader.search_text(q, Search::newest(10)).unwrap().keys().unwrap();
            println!("{q}: {n} {:?} {:?}", keys.first(), t.elapsed());
        }
        println!("since open {:?}", t.elapsed());
        index.settle();
        println!("imported {:?}", t.elapsed());
        return;
    }
    let text = std::fs::read_to_string(&args[3]).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let t = Instant::now();
    let n = index.add_all(lines.iter().map(|l| (None, *l))).unwrap();
    let e = t.elapsed();
    println!("{n} docs in {e:?}: {:.0}/s", n as f64 / e.as_secs_f64());
    index.settle();
    println!("settled {:?}", t.elapsed());
    if args.get(4).is_some() {
        unsafe {
            libc::kill(libc::getpid(), 9);
        }
    }
    let t = Instant::now();
    index.close().unwrap();
    println!("closed {:?}", t.elapsed());
}
