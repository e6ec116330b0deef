//! What a server takes beside its work: memory, disk, and the time of a start.

use serde_json::json;

use super::server::Memory;
use super::side::{Both, Side, Sides};
use crate::Fallible;
use crate::bench::Bench;
use crate::report::{Table, number};

/// What one takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Footprint {
    memory: Memory,
    disk_bytes: f64,
}

impl Footprint {
    /// Reads it from the system.
    pub(super) fn of(side: &mut Side) -> Result<Footprint, String> {
        let server = side.server();
        Ok(Footprint { memory: server.memory()?, disk_bytes: server.disk_bytes() })
    }
}

/// Starts both anew, and prints all.
pub(super) fn print(
    bench: &mut Bench,
    sides: Sides,
    name: &str,
    documents: usize,
    taken: &Both<Footprint>,
) -> Fallible<()> {
    let Both { ours, theirs } = sides;
    let (peers, cores) = (&mut bench.peers, bench.cores);
    let (ours, first) = ours.restart(peers, cores)?;
    let (theirs, theirs_first) = match theirs {
        Ok(side) => {
            let (side, first) = side.restart(peers, cores)?;
            (Ok(side), Ok(first))
        }
        Err(reason) => (Err(reason.clone()), Err(reason)),
    };
    Sides { ours, theirs }.end()?;
    let starts = Both { ours: first, theirs: theirs_first };
    let title = format!("{name}: {documents} documents, MiB; start to first answer, s");
    let head = ["system", "memory", "of it files", "disk", "first answer"];
    let mut table = Table::new(title, &head);
    for ((system, taken), (_, start)) in taken.named().into_iter().zip(starts.named()) {
        let (Ok(Footprint { memory, disk_bytes }), Ok(start)) = (taken, start) else {
            table.not_measured(system, taken.err().map_or("it did not start", String::as_str));
            continue;
        };
        let config = [("case", json!("footprint"))];
        let rows = [
            ("memory_bytes", "bytes", memory.resident),
            ("disk_bytes", "bytes", *disk_bytes),
            ("first_answer_s", "s", *start),
        ];
        for (metric, unit, value) in rows {
            bench.report.row(system, &config, metric, unit, &[value])?;
        }
        let sizes = [memory.resident, memory.of_files, *disk_bytes];
        let sizes = sizes.map(|bytes| number(bytes / f64::from(1 << 20)));
        let cells = [system.to_owned()].into_iter().chain(sizes);
        table.line(cells.chain([number(*start)]));
    }
    table.print();
    Ok(())
}
