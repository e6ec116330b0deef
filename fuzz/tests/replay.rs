//! A bounded replay of each fuzz target, without a fuzzer: the committed seeds, then a repeatable stream of
//! inputs: random bytes, and seeds with random changes.

use std::path::Path;

/// Inputs of the stream, for each target.
const INPUTS: u64 = 20_000;
const INPUT_BYTES_MAX: u64 = 200;

/// The same numbers in every run (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) % end
    }

    fn bytes(&mut self) -> Vec<u8> {
        (0..self.below(INPUT_BYTES_MAX)).map(|_| self.below(256) as u8).collect()
    }

    /// A copy with a few bytes changed, taken out, or put in.
    fn changed(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut input = seed.to_vec();
        for _ in 0..1 + self.below(8) {
            let at = self.below(input.len() as u64 + 1) as usize;
            match self.below(3) {
                0 => input.insert(at, self.byte(seed)),
                1 if at < input.len() => drop(input.remove(at)),
                _ if at < input.len() => input[at] = self.byte(seed),
                _ => {}
            }
        }
        input
    }

    /// Any byte, or one of the seed: what is written in few characters stays so.
    fn byte(&mut self, seed: &[u8]) -> u8 {
        match self.below(2) {
            0 if !seed.is_empty() => seed[self.below(seed.len() as u64) as usize],
            _ => self.below(256) as u8,
        }
    }
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

fn replay(target: &str, run: fn(&[u8]), inputs: u64) {
    let seeds = seeds(target);
    assert!(seeds.len() >= 5, "{target} has {} seeds", seeds.len());
    seeds.iter().for_each(|seed| run(seed));
    let mut chance = Chance(1);
    for n in 0..inputs {
        let input = match n % 2 {
            0 => chance.bytes(),
            _ => {
                let seed = &seeds[chance.below(seeds.len() as u64) as usize];
                chance.changed(seed)
            }
        };
        run(&input);
    }
}

#[test]
fn blocks_of_a_heap_never_overlap() {
    replay("allocators", spirit_fuzz::allocators, INPUTS);
}

#[test]
fn analyzers_keep_their_promises_on_any_text() {
    replay("analyzers", spirit_fuzz::analyzers, INPUTS);
}

#[test]
fn any_text_is_a_query_or_an_error() {
    replay("query_parser", spirit_fuzz::query_parser, INPUTS);
}

#[test]
fn any_history_is_that_of_the_naive_index() {
    // Each opens an index, which takes longer than what is done to it.
    replay("operations", spirit_fuzz::operations, INPUTS / 2);
}

#[test]
fn any_words_are_packed_lists_that_end() {
    replay("packed", spirit_fuzz::packed, INPUTS);
}

#[test]
fn any_words_are_columns_that_end_or_none() {
    replay("columns", spirit_fuzz::columns, INPUTS);
}

#[test]
fn any_text_is_a_value_or_none() {
    replay("values", spirit_fuzz::values, INPUTS);
}

#[test]
fn any_text_is_a_cursor_or_none() {
    replay("cursors", spirit_fuzz::cursors, INPUTS);
}

#[test]
fn any_facets_are_answered_or_refused() {
    replay("facets", spirit_fuzz::facets, INPUTS / 4);
}

#[test]
fn any_text_is_marked_by_any_query() {
    replay("highlighter", spirit_fuzz::highlighter, INPUTS / 4);
}

#[test]
fn any_search_of_a_client_is_answered_or_refused() {
    replay("searches", spirit_fuzz::searches, INPUTS * 2);
}

#[test]
fn any_request_is_answered_or_refused() {
    replay("http", spirit_fuzz::http, INPUTS / 2);
}
