//! Any bytes as a history: adds, puts, deletes and questions, on a tiny index and on the naive one.

use spirit::{Analyzer, Clause, Index, OnFull, Search};
use spirit_oracle::Oracle;

use crate::bytes::Bytes;

/// Documents in one history: the heap holds them all, whatever they are like.
const DOCUMENTS_MAX: usize = 3000;
const QUESTIONS_MAX: usize = 40;

struct History<'a> {
    bytes: Bytes<'a>,
    index: Index,
    oracle: Oracle,
    documents: usize,
    questions: usize,
}

/// Runs the history that `data` tells.
pub fn operations(data: &[u8]) {
    let mut bytes = Bytes(data);
    let shape = bytes.byte();
    let executors = usize::from(shape % 3) + 1;
    let index = Index::builder()
        .dram_bytes((executors as u64) << 23)
        .segment_bytes(64 << 10)
        .executors(executors)
        .fixed_blocks(shape & 4 != 0)
        .positions(shape & 8 == 0)
        .analyzer(Analyzer::Simple)
        .on_full(OnFull::Refuse)
        .open()
        .expect("these settings are good");
    let mut history =
        History { bytes, index, oracle: Oracle::default(), documents: 0, questions: 0 };
    while !history.bytes.is_empty() && history.documents < DOCUMENTS_MAX {
        history.step();
    }
    history.index.settle();
    history.ask(&Clause::Everything);
}

impl History<'_> {
    fn step(&mut self) {
        match self.bytes.byte() % 8 {
            0 | 1 => {
                let text = self.text();
                self.add(None, &text);
            }
            2 | 3 => {
                let (key, text) = (self.key(), self.text());
                self.add(Some(&key), &text);
            }
            4 => {
                let key = self.key();
                assert_eq!(self.index.delete(&key), Ok(self.oracle.delete(&key)), "delete {key}");
            }
            5 => self.fill(),
            _ => {
                let asked = self.asked(3);
                self.ask(&asked);
            }
        }
    }

    fn add(&mut self, key: Option<&str>, text: &str) {
        match key {
            Some(key) => self.index.put(key, text),
            None => self.index.add(text).map(drop),
        }
        .expect("the heap is large enough");
        self.oracle.add(key, text);
        self.documents += 1;
    }

    /// Many documents at once, so that segments fill.
    fn fill(&mut self) {
        let (count, seed) = (usize::from(self.bytes.number() % 700), self.bytes.byte());
        let texts: Vec<String> = (0..count)
            .map(|n| format!("w{} w{} fill{} same same", n % 3, n % 50, n * usize::from(seed % 7)))
            .collect();
        let added = self.index.add_all(texts.iter().map(|text| (None, text.as_str())));
        assert_eq!(added, Ok(count as u64));
        for text in &texts {
            self.oracle.add(None, text);
        }
        self.documents += count;
    }

    fn word(&mut self) -> String {
        let byte = self.bytes.byte();
        match byte % 8 {
            0..=3 => format!("w{}", byte / 8 % 4),
            4 | 5 => format!("w{}", byte / 8),
            6 => format!("fill{}", self.bytes.number() % 800),
            _ => format!("averylongwordthatdoesnotfitakey{}", byte / 8),
        }
    }

    fn text(&mut self) -> String {
        let words = self.bytes.byte() % 12;
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    /// A key of one's own, short or long, or a number that may be an automatic one.
    fn key(&mut self) -> String {
        let byte = self.bytes.byte();
        match byte % 4 {
            0 | 1 => format!("k{}", byte / 4 % 20),
            2 => format!("alongishkey{}", byte / 4 % 20),
            _ => (self.bytes.number() % 900).to_string(),
        }
    }

    fn asked(&mut self, depth: u8) -> Clause {
        let kind = self.bytes.byte() % if depth == 0 { 5 } else { 11 };
        match kind {
            0..=2 => Clause::term(&self.word()),
            3 => Clause::Key(self.key()),
            4 => Clause::Everything,
            5 | 6 => Clause::all(self.several(depth)),
            7 | 8 => Clause::any(self.several(depth)),
            _ => self.asked(depth - 1).and_not(self.asked(depth - 1)),
        }
    }

    fn several(&mut self, depth: u8) -> Vec<Clause> {
        (0..self.bytes.byte() % 3 + 1).map(|_| self.asked(depth - 1)).collect()
    }

    fn ask(&mut self, asked: &Clause) {
        if self.questions == QUESTIONS_MAX {
            return;
        }
        self.questions += 1;
        let (query, expected) = (asked.to_string(), self.oracle.search(asked));
        let mut reader = self.index.reader().expect("no other reader lives");
        assert_eq!(reader.count(&query), Ok(expected.len() as u64), "count of {query}");
        for k in [1, 7, 10_000] {
            let hits =
                reader.search(&query, Search::newest(k)).expect("it was a query a moment ago");
            let first = &expected[..k.min(expected.len())];
            assert_eq!(hits.keys().expect("a moment ago"), first, "the newest {k} of {query}");
            if let Some(cursor) = hits.cursor().expect("a moment ago") {
                drop(hits);
                let search = Search::newest(3).after(cursor);
                let next = reader
                    .search(&query, search)
                    .expect("it was a query a moment ago")
                    .keys()
                    .expect("a moment ago");
                assert_eq!(
                    next,
                    expected[first.len()..expected.len().min(first.len() + 3)],
                    "after {k} of {query}"
                );
            }
        }
    }
}
