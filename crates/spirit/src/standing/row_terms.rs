//! The terms of one row that standing queries ask for, by their numbers.

use spirit_query::DocumentTerms;

/// Terms of a row. The memory serves all rows.
#[derive(Default)]
pub(super) struct RowTerms {
    /// The row's number among those that were read.
    row: u64,
    /// For each term, the last row that has it.
    last: Vec<u64>,
    occurrences: Vec<(u32, u32)>,
    distinct: Vec<u32>,
}

impl RowTerms {
    /// Begins a row, with terms below `terms`.
    pub(super) fn begin(&mut self, terms: usize) {
        self.row += 1;
        self.last.resize(terms.max(self.last.len()), 0);
        self.occurrences.clear();
        self.distinct.clear();
    }

    /// Enters a term at a position, behind those that were entered before.
    #[inline]
    pub(super) fn push(&mut self, position: u32, term: u32) {
        self.occurrences.push((position, term));
        let last = &mut self.last[term as usize];
        if *last != self.row {
            *last = self.row;
            self.distinct.push(term);
        }
    }

    /// Returns the terms, each once.
    pub(super) fn distinct(&self) -> &[u32] {
        &self.distinct
    }
}

impl DocumentTerms for RowTerms {
    fn has(&self, number: u32) -> bool {
        self.last[number as usize] == self.row
    }

    fn occurrences(&self) -> &[(u32, u32)] {
        &self.occurrences
    }
}
