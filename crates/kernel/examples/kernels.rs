//! Micro-benchmark of every kernel at every level: nanoseconds per element, medians of many runs.
//!
//! It exists so that a change to a kernel can be judged on this machine:
//! `cargo run --release -p spirit-kernel --example kernels`. Inputs are random but the same each
//! time, and warm. Not here: how an engine fares; memory latency dominates there.

use spirit_kernel::{
    Algorithm, Bar, Bm25, Edges, Lengths, Level, Progress, Width, above, add_scores,
    add_scores_where, and_count, and_into, classify_lower, copy, copy_bits, count_bits,
    each_occurrence_among, intersect_count, intersect_into, probe_count, range_bits, reverse_into,
    score_above, score_run, seek, set_bits, write_bitmap,
};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64};
use std::time::Instant;

/// Ranks are drawn from this many.
const UNIVERSE: u32 = 10_000_000;

/// Lengths of the runs of one comparison. The branch predictor learns the short ones by heart, which
/// flatters the algorithms that branch.
const SHAPES: [(usize, usize); 9] = [
    (975_093, 975_395),
    (99_730, 975_395),
    (9_993, 975_395),
    (1_000, 975_395),
    (100, 100),
    (1_000, 1_000),
    (2_000, 8_000),
    (10, 10),
    (12, 40),
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn run(&mut self, len: usize) -> Vec<AtomicU32> {
        // Short runs are drawn from fewer ranks, so that they overlap as the long ones do.
        let universe = u64::from(UNIVERSE).min(len as u64 * 10 + 100);
        self.run_below(len, universe)
    }

    fn run_below(&mut self, len: usize, universe: u64) -> Vec<AtomicU32> {
        let mut ranks = std::collections::BTreeSet::new();
        while ranks.len() < len {
            ranks.insert((self.next() % universe) as u32);
        }
        ranks.into_iter().map(|rank| AtomicU32::new(rank << 8 | 1)).collect()
    }
}

/// Median nanoseconds of one call, timed in batches of at least 20 microseconds.
fn time(mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    f();
    let batch = (20_000 / start.elapsed().as_nanos().max(1)).clamp(1, 2_000) as u32;
    let mut samples = Vec::new();
    let all = Instant::now();
    while samples.len() < 15 || all.elapsed().as_millis() < 60 {
        let start = Instant::now();
        (0..batch).for_each(|_| f());
        samples.push(start.elapsed().as_nanos() as f64 / f64::from(batch));
    }
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn report(what: &str, level: Level, ns: f64, elements: usize) {
    println!("{what:<40} {level:<9?} {ns:>13.1} ns {:>9.3} ns/element", ns / elements as f64);
}

fn intersections(random: &mut Random) {
    for (short, long) in SHAPES {
        let universe = u64::from(UNIVERSE).min(long as u64 * 10);
        let (a, b) = (random.run_below(short, universe), random.run_below(long, universe));
        let mut out = vec![0; short];
        for algorithm in [Algorithm::Naive, Algorithm::Binary, Algorithm::Finger] {
            let ns = time(|| {
                black_box(intersect_into(Level::Portable, algorithm, &a, &b, &mut out));
            });
            report(&format!("{algorithm:?} {short} x {long}"), Level::Portable, ns, short);
        }
        for level in Level::all_supported() {
            let ns = time(|| {
                black_box(intersect_into(level, Algorithm::Simd, &a, &b, &mut out));
            });
            report(&format!("Simd {short} x {long}"), level, ns, short);
            let ns = time(|| {
                black_box::<Progress>(intersect_count(level, Algorithm::Simd, &b, &a));
            });
            report(&format!("Simd {long} x {short}, count"), level, ns, short);
        }
    }
}

fn first_ten(random: &mut Random) {
    let (a, b) = (random.run(975_093), random.run(975_395));
    let (dense, other) = (bitmap(&a), bitmap(&b));
    let mut out = [0; 10];
    for level in Level::all_supported() {
        let ns = time(|| {
            black_box(intersect_into(level, Algorithm::Simd, &a, &b, &mut out));
        });
        report("first 10 of 975093 x 975395", level, ns, 10);
        let ns = time(|| {
            black_box(and_into(level, &dense, &other, 0, 0, &mut out));
        });
        report("first 10 of the same as bitmaps", level, ns, 10);
        let mut from = 0;
        let ns = time(|| {
            from = seek(level, &a, black_box(from), from as u32 * 10 + 1000) % 900_000;
        });
        report("seek about 100 words ahead", level, ns, 1);
    }
}

fn bitmap(run: &[AtomicU32]) -> Vec<AtomicU64> {
    let bits: Vec<AtomicU64> = (0..UNIVERSE.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
    write_bitmap(run, &bits, 0);
    bits
}

fn bitmaps(random: &mut Random) {
    let words = 280 * 1024 / 8;
    let mut bits = || (0..words).map(|_| AtomicU64::new(random.next())).collect::<Vec<_>>();
    let (a, b) = (bits(), bits());
    let run = random.run_below(100_000, u64::from(UNIVERSE));
    let reached = bitmap(&run);
    let mut out = vec![0; words * 64];
    let sparse = bitmap(&random.run_below(100_000, u64::from(UNIVERSE)));
    for level in Level::all_supported() {
        let ns = time(|| {
            black_box(and_count(level, &a, &b));
        });
        report("and_count of 280 KiB each", level, ns, words);
        let half = words / 2;
        let ns = time(|| {
            black_box(and_count(level, &a[..half], &b[..half]));
        });
        report("and_count of 140 KiB each", level, ns, half);
        let ns = time(|| {
            black_box(and_into(level, &reached, &sparse, 0, 0, &mut out));
        });
        report("and_into of 1.2 MB each, 1 % dense", level, ns, reached.len());
        let ns = time(|| {
            black_box(and_into(level, &reached[..half], &sparse[..half], 0, 0, &mut out));
        });
        report("and_into of 140 KiB each, 1 % dense", level, ns, half);
        let ns = time(|| {
            black_box(probe_count(level, &run, &sparse, 0));
        });
        report("probe_count of 100000", level, ns, run.len());
    }
    let ns = time(|| write_bitmap(&run, &reached, 0));
    report("write_bitmap of 100000", Level::Portable, ns, run.len());
}

fn transfers(random: &mut Random) {
    let src = random.run(64_000);
    let dst = random.run(64_000);
    for level in Level::all_supported() {
        report("copy of 64000", level, time(|| copy(level, &src, &dst)), src.len());
        let ns = time(|| reverse_into(level, &src, &dst));
        report("reverse_into of 64000", level, ns, src.len());
    }
}

fn texts() {
    let text = b"Real-time Full-Text search, 24 bits a posting: how fast is it? ".repeat(20);
    let (mut dst, mut masks, mut edges) = ([[0; 64]; 20], [[0; 2]; 20], Edges::default());
    for len in [60, 64, 1_024] {
        let blocks = len / 64 + 1;
        let (dst, masks) = (&mut dst[..blocks], &mut masks[..blocks]);
        for level in Level::all_supported() {
            let ns = time(|| {
                classify_lower(level, black_box(&text[..len]), dst, masks);
                black_box(&mut *dst);
            });
            report(&format!("classify_lower of {len} bytes"), level, ns, len);
            let ns = time(|| {
                edges.begin();
                edges.read(level, black_box(masks));
                black_box(edges.ends());
            });
            report(&format!("edges of {len} bytes"), level, ns, len);
        }
    }
}

/// Ranks that are evaluated together.
const WINDOW: usize = 4_096;

fn scores(random: &mut Random) {
    let bm25 = Bm25 { weight: 7.3, c0: 0.3, c1: 0.0123, term: 0 };
    let lengths: Vec<AtomicU16> =
        (0..UNIVERSE).map(|_| AtomicU16::new(random.next() as u16 & 63)).collect();
    let lengths = Lengths::new(&lengths, 0);
    for (len, universe) in [(1_000, 1_000_000), (1_000, 10_000), (100_000, 10_000_000)] {
        let run = random.run_below(len, universe);
        let (mut out, mut words) = (vec![0.0; len], vec![0; len]);
        for level in Level::all_supported() {
            let ns = time(|| {
                score_run(level, &run, lengths, bm25, &mut out);
                black_box(&mut out);
            });
            report(&format!("score_run of {len} in {universe}"), level, ns, len);
            let ns = time(|| {
                black_box(score_above(
                    level,
                    &run,
                    lengths,
                    bm25,
                    Bar::at(6.0),
                    &mut words,
                    &mut out,
                ));
            });
            report(&format!("score_above of {len} in {universe}"), level, ns, len);
        }
    }
}

fn windows(random: &mut Random) {
    let bm25 = Bm25 { weight: 7.3, c0: 0.3, c1: 0.0123, term: 0 };
    let lengths: Vec<AtomicU16> =
        (0..WINDOW).map(|_| AtomicU16::new(random.next() as u16 & 63)).collect();
    let lengths = Lengths::new(&lengths, 0);
    let (mut sums, mut bits, mut out) = ([0.0; WINDOW], [0; WINDOW / 64], [0; WINDOW]);
    for len in [20, 200, 1_000] {
        let run = random.run_below(len, WINDOW as u64);
        for level in Level::all_supported() {
            let ns = time(|| {
                black_box(set_bits(level, black_box(&run), 0, &mut bits));
            });
            report(&format!("set_bits of {len} in a window"), level, ns, len);
            let ns = time(|| {
                black_box(add_scores(level, &run, lengths, bm25, 0, black_box(&mut sums)));
            });
            report(&format!("add_scores of {len} in a window"), level, ns, len);
            let ns = time(|| {
                black_box(add_scores_where(level, &run, lengths, bm25, 0, &bits, &mut sums));
            });
            report(&format!("add_scores_where of {len}"), level, ns, len);
        }
    }
    let shared = bitmap(&random.run_below(100_000, u64::from(UNIVERSE)));
    let threshold = sums.iter().copied().fold(0.0, f32::max) * 0.99;
    for level in Level::all_supported() {
        let ns = time(|| copy_bits(level, black_box(&shared), 1_000_003, black_box(&mut bits)));
        report("copy_bits of a window, shifted", level, ns, bits.len());
        let ns = time(|| {
            black_box(count_bits(level, black_box(&bits)));
        });
        report("count_bits of a window", level, ns, bits.len());
        let all = [u64::MAX; WINDOW / 64];
        let ns = time(|| {
            black_box(above(level, black_box(&sums), &all, threshold, 0, &mut out));
        });
        report("above of a window", level, ns, WINDOW);
        for width in [Width::One, Width::Two, Width::Four, Width::Eight] {
            let ns = time(|| range_bits(level, &shared, width, 77, 5..=90, black_box(&mut bits)));
            report(&format!("range_bits of a window, {width:?}"), level, ns, WINDOW);
        }
    }
}

fn phrases(random: &mut Random) {
    for len in [20, 100, 1_000] {
        let units: Vec<AtomicU16> =
            (0..len).map(|_| AtomicU16::new(random.next() as u16 % 500)).collect();
        for level in Level::all_supported() {
            let ns = time(|| {
                each_occurrence_among(level, black_box(&units), len, &[501, 502], |token, _| {
                    black_box(token);
                    ControlFlow::Break(())
                });
            });
            report(&format!("a phrase in {len} units"), level, ns, len);
        }
    }
}

fn main() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    intersections(&mut random);
    first_ten(&mut random);
    bitmaps(&mut random);
    transfers(&mut random);
    texts();
    scores(&mut random);
    windows(&mut random);
    phrases(&mut random);
}
