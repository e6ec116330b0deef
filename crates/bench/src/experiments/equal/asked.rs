//! A set of queries and what all engines answered: compared two by two, and shown by class.

use std::ops::Range;

use serde_json::json;

use crate::Fallible;
use crate::bench::Bench;
use crate::report::Table;

use super::Asked;
use super::side::Side;
use super::tally::Tally;

/// The first query of a class that two engines answer otherwise.
pub(in crate::experiments) struct FirstDifference {
    pub(in crate::experiments) class: String,
    pub(in crate::experiments) text: String,
    /// Unless one of the two is known to.
    pub(in crate::experiments) is_error: bool,
}

impl Asked<'_> {
    /// Prints a line for each class, and the first difference of each; reports both.
    pub(in crate::experiments) fn print(
        &self,
        bench: &mut Bench,
        name: &str,
    ) -> Fallible<Vec<FirstDifference>> {
        let title =
            format!("{}, {name}: queries answered alike (-: none compared)", self.corpus.name);
        let pairs: Vec<String> = self.pairs().map(|[a, b]| self.label(a, b)).collect();
        let head = ["class", "queries"].into_iter().chain(pairs.iter().map(String::as_str));
        let mut table = Table::new(title, &head.collect::<Vec<_>>());
        let mut differences = Vec::new();
        let mut start = 0;
        for (class, queries) in self.set.classes() {
            let numbers = start..start + queries;
            start = numbers.end;
            let config = [("class", json!(class))];
            bench.report.row("spirit-bench", &config, "queries", "queries", &[queries as f64])?;
            let mut cells = vec![class.to_owned(), queries.to_string()];
            for pair in self.pairs() {
                let tally = self.compare(bench, class, &numbers, pair)?;
                cells.push(tally.cell());
                differences.extend(tally.first.map(|first| self.difference(class, pair, first)));
            }
            table.line(cells);
        }
        table.print();
        for FirstDifference { class, text, .. } in &differences {
            println!("  {class}, {text}");
        }
        Ok(differences)
    }

    /// Our first way with all others, and the peers among themselves.
    fn pairs(&self) -> impl Iterator<Item = [&Side; 2]> {
        let after = |at: usize| self.sides[at + 1..].iter();
        let all = self.sides.iter().enumerate();
        let compared = all.filter(|(at, side)| *at == 0 || !side.is_ours);
        compared.flat_map(move |(at, a)| after(at).map(move |b| [a, b]))
    }

    /// The pair's name above its column, where what is compared with all others goes without saying.
    fn label(&self, a: &Side, b: &Side) -> String {
        if a.is_ours { format!("= {}", b.name) } else { format!("{} = {}", a.name, b.name) }
    }

    fn compare(
        &self,
        bench: &mut Bench,
        class: &str,
        numbers: &Range<usize>,
        sides: [&Side; 2],
    ) -> Fallible<Tally> {
        let mut tally = Tally::default();
        for number in numbers.clone() {
            tally.add(self, number, sides);
        }
        let pair = sides.map(|side| side.name).join(" = ");
        let config = [("class", json!(class))];
        for (metric, queries) in tally.figures() {
            bench.report.row(&pair, &config, metric, "queries", &[queries as f64])?;
        }
        Ok(tally)
    }

    fn difference(&self, class: &str, sides: [&Side; 2], first: String) -> FirstDifference {
        let pair = sides.map(|side| side.name).join(" = ");
        let is_error = sides.iter().all(|side| side.analyzes_alike);
        FirstDifference { class: class.to_owned(), text: format!("{pair}: {first}"), is_error }
    }
}
