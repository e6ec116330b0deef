//! Questions with a time that moves: each is asked once, and its clauses come again.

use std::time::Instant;

use serde_json::json;
use spirit::cache::Outcome;

use super::{Fields, Readers, high};
use crate::Fallible;
use crate::bench::Bench;
use crate::corpus::Corpus;
use crate::report::{Table, number};
use crate::timing::median;

/// Questions of each kind.
const ASKED: usize = 60;
/// Questions after which clauses have entries.
const WARM: usize = 6;
/// Seconds by which the time moves.
const STEP: i64 = 60;

pub(super) fn moving(
    bench: &mut Bench,
    corpus: &Corpus,
    fields: &[Fields],
    readers: &mut Readers,
) -> Fallible<()> {
    let high = high(corpus);
    let word = |at: usize| high[at * 7 % high.len()].as_str();
    let clauses = [
        ("a prefix", format!("{}*", &word(1)[..1])),
        ("a phrase", format!("\"{} {}\"", word(2), word(3))),
        ("any of four", format!("({} {} {} {})", word(4), word(5), word(6), word(7))),
        ("another time", "ts:<1500000000".to_owned()),
    ];
    let first = fields.get(fields.len() / 3).map_or(0, |(ts, _)| *ts);
    let title = "counts within a time that moves, µs";
    let mut table = Table::new(title, &["clause", "without", "with", "times"]);
    for (name, clause) in clauses {
        let (mut plain, mut cached) = (Vec::new(), Vec::new());
        for number in 0..ASKED {
            let from = first + number as i64 * STEP;
            let query = readers.plain.parse(format!("+{clause} +ts:>={from}").as_str())?;
            let mut took = [0.0; 2];
            let mut counts = [0; 2];
            for (at, reader) in [&mut readers.plain, &mut readers.cached].into_iter().enumerate() {
                let start = Instant::now();
                counts[at] = reader.count(&query)?;
                took[at] = start.elapsed().as_secs_f64() * 1e6;
            }
            if counts[0] != counts[1] {
                return Err("the count with clauses is another one".into());
            }
            if number >= WARM {
                plain.push(took[0]);
                cached.push(took[1]);
            }
        }
        if readers.cached.cache_outcome() != Outcome::Clauses {
            table.not_measured(name, "its clause is cheaper than an entry");
            continue;
        }
        let key = [("clause", json!(name))];
        bench.report.row("plain", &key, "moving_us", "us", &plain)?;
        bench.report.row("cached", &key, "moving_us", "us", &cached)?;
        let [plain, cached] = [median(&plain), median(&cached)];
        let cells = [plain, cached, plain / cached].map(number);
        table.line([name.to_owned()].into_iter().chain(cells));
    }
    table.print();
    Ok(())
}
