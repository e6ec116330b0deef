//! What the paper's table 1 says.

use super::Row;
use crate::report::{Table, number};
use crate::workloads::Workload;

/// A row of the paper: the means of L, M, H, LL, MM, HH in µs.
pub(super) struct Paper {
    name: &'static str,
    means: [f64; 6],
}

const fn row(name: &'static str, means: [f64; 6]) -> Paper {
    Paper { name, means }
}

/// All but `DPF-T`, `DPF-M` and `NODAX`, which have no counterpart here.
const ROWS: [Paper; 19] = [
    row("SP-V-T", [27.0, 68.0, 398.0, 43.0, 226.0, 2245.0]),
    row("SP-V-M", [27.0, 55.0, 277.0, 43.0, 195.0, 2034.0]),
    row("SP-V-L", [27.0, 46.0, 213.0, 43.0, 174.0, 1878.0]),
    row("SP-G-T", [27.0, 68.0, 397.0, 49.0, 244.0, 2606.0]),
    row("SP-G-M", [27.0, 55.0, 273.0, 49.0, 207.0, 2174.0]),
    row("SP-G-L", [27.0, 46.0, 210.0, 49.0, 176.0, 1876.0]),
    row("SP-C-T", [65.0, 105.0, 425.0, 111.0, 301.0, 2410.0]),
    row("SP-C-M", [45.0, 71.0, 288.0, 77.0, 232.0, 2125.0]),
    row("SP-C-L", [28.0, 45.0, 211.0, 47.0, 172.0, 1868.0]),
    row("NRT-1", [83717.0, 82816.0, 111_173.0, 89286.0, 92507.0, 112_931.0]),
    row("NRT-10", [10226.0, 11354.0, 21704.0, 12055.0, 14356.0, 21891.0]),
    row("NRT-100", [1305.0, 2028.0, 6862.0, 1854.0, 2190.0, 7504.0]),
    row("NRT-1K", [229.0, 602.0, 5336.0, 351.0, 769.0, 5114.0]),
    row("NRT-∞", [19.0, 219.0, 3456.0, 33.0, 225.0, 2930.0]),
    // DAX: on Optane.
    row("static-T", [19.0, 290.0, 5024.0, 27.0, 241.0, 3029.0]),
    row("static-M", [19.0, 248.0, 3783.0, 27.0, 245.0, 2918.0]),
    row("static-L", [17.0, 241.0, 3062.0, 27.0, 266.0, 2882.0]),
    // DPF-L: on Optane.
    row("direct", [15.0, 350.0, 5996.0, 17.0, 201.0, 2536.0]),
    // SSD.
    row("static, disk", [16.0, 204.0, 2663.0, 24.0, 259.0, 2996.0]),
];

impl Paper {
    pub(super) fn of(name: &str) -> Option<&'static Paper> {
        ROWS.iter().find(|row| row.name == name)
    }

    /// Queries a second, as its figure 2 draws them.
    pub(super) fn qps(&self) -> f64 {
        harmonic(self.means.iter().copied())
    }
}

/// Queries a second over all workloads, of their means in µs.
pub(super) fn harmonic(means: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = means.len() as f64;
    1e6 * count / means.sum::<f64>()
}

/// Means against those of `SP-C-L`, ours and the paper's: absolute times are of other machines.
pub(super) fn print(workloads: &[Workload], rows: &[Row]) {
    const BASE: &str = "SP-C-L";
    let Some(base) = rows.iter().find(|row| row.name == BASE) else { return };
    let Some(paper_base) = Paper::of(BASE) else { return };
    let names = workloads.iter().map(|workload| workload.name.as_str());
    let head: Vec<&str> = ["row"].into_iter().chain(names).collect();
    let title = format!("means against {BASE}: measured (paper)");
    let mut table = Table::new(title, &head);
    for row in rows {
        let paper = Paper::of(&row.name);
        let cell = |at: usize| {
            let ratio = row.latencies[at][3] / base.latencies[at][3];
            let paper = paper.map(|paper| paper.means[at] / paper_base.means[at]);
            format!("{} ({})", number(ratio), paper.map_or("-".to_owned(), number))
        };
        table.line([row.name.clone()].into_iter().chain((0..workloads.len()).map(cell)));
    }
    table.print();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What its text says of figure 2: one row against another.
    #[test]
    fn queries_a_second_are_as_the_text_compares_them() {
        let said = [
            ("NRT-∞", "NRT-1", 83.0),
            ("SP-C-L", "static, disk", 2.6),
            ("SP-C-L", "static-L", 2.7),
            ("SP-C-L", "direct", 3.9),
            ("SP-C-T", "SP-V-T", 0.88),
            ("static-L", "static-T", 1.32),
        ];
        for (fast, slow, ratio) in said {
            let qps = |name| Paper::of(name).expect("it is a row").qps();
            let measured = qps(fast) / qps(slow);
            assert!((measured - ratio).abs() < ratio * 0.02, "{fast} and {slow}: {measured}");
        }
    }
}
