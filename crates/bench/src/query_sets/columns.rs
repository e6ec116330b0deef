//! Columns drawn for a corpus, seeded, and queries of them.
//!
//! | column | values |
//! |---|---|
//! | `ts` | seconds, from one document to the next 0 to 19 more: documents come in the order of time |
//! | `score` | from 1 to 10,000, one ten times as large ten times as rare; one document in sixteen has none |
//! | `channel` | keywords, the n-th of which is as frequent as one over n |
//!
//! | class | query |
//! |---|---|
//! | `RangeWide`, `RangeNarrow` | half of the time; a hundredth |
//! | `RangeOpen` | scores from a bound on, or below one |
//! | `RangeBoth` | half of the time, and scores from a bound on, or below one |
//! | `Exists` | any score |
//! | `Keyword`, `KeywordIn` | a channel; one of three |
//! | `TermInRange`, `TermInChannel` | a medium term in half of the time; in a frequent channel |
//! | `TermOrChannel`, `TermNotRange` | a medium term or a channel; the term but not in a hundredth of the time |

use std::fmt::Write as _;

use serde_json::json;
use spirit::schema::TimeUnit;
use spirit::{Document, FieldKind};
use spirit_peer_protocol::{Clauses, Query as Tree};

use super::QuerySet;
use crate::corpus::Corpus;
use crate::workloads::{class, document_frequencies};
use spirit_door::sim::Random;

const START: i64 = 1_300_000_000;
const GAP_MAX: usize = 20;
const SCORE_MAX: f64 = 10_000.0;
const CHANNELS: f64 = 500.0;
/// The channels that terms are looked for in.
const FREQUENT_CHANNELS: usize = 5;

/// The values of each document.
pub(crate) struct Columns {
    ts: Vec<i64>,
    score: Vec<Option<i64>>,
    channel: Vec<String>,
}

/// The values of one document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    ts: i64,
    score: Option<i64>,
    channel: &'a str,
}

impl Row<'_> {
    /// Its value in a column of integers, if it has one there.
    pub(crate) fn integer(&self, column: &str) -> Option<i64> {
        match column {
            "ts" => Some(self.ts),
            "score" => self.score,
            _ => None,
        }
    }

    /// Its value in a column of keywords.
    pub(crate) fn keyword(&self, column: &str) -> Option<&str> {
        (column == "channel").then_some(self.channel)
    }
}

impl Columns {
    pub(crate) fn draw(documents: usize, seed: u64) -> Columns {
        let mut random = Random::named(seed, "columns");
        let mut columns = Columns { ts: Vec::new(), score: Vec::new(), channel: Vec::new() };
        let mut now = START;
        for _ in 0..documents {
            now += random.index(GAP_MAX) as i64;
            columns.ts.push(now);
            let score = SCORE_MAX.powf(random.unit()) as i64;
            columns.score.push((random.index(16) > 0).then_some(score));
            columns.channel.push(channel(any_channel(&mut random)));
        }
        columns
    }

    /// The columns as fields of ours.
    pub(crate) fn fields() -> [(&'static str, FieldKind); 3] {
        let time = FieldKind::Time(TimeUnit::Seconds);
        [("ts", time), ("score", FieldKind::Integer), ("channel", FieldKind::Keyword)]
    }

    pub(crate) fn row(&self, number: usize) -> Row<'_> {
        Row { ts: self.ts[number], score: self.score[number], channel: &self.channel[number] }
    }

    /// A document of the corpus with its values, as ours.
    pub(crate) fn document<'a>(&'a self, corpus: &'a Corpus, number: usize) -> Document<'a> {
        let Row { ts, score, channel } = self.row(number);
        let document = Document::new().text(corpus.get(number));
        let document = document.field("ts", ts).field("channel", channel);
        score.into_iter().fold(document, |document, score| document.field("score", score))
    }

    /// The corpus with these columns, an object a line.
    pub(crate) fn lines(&self, corpus: &Corpus) -> String {
        let mut lines = String::new();
        for (number, text) in corpus.iter().enumerate() {
            let (ts, channel) = (self.ts[number], &self.channel[number]);
            let mut object = json!({"text": text, "ts": ts, "channel": channel});
            if let Some(score) = self.score[number] {
                object["score"] = json!(score);
            }
            writeln!(lines, "{object}").expect("a text takes all");
        }
        lines
    }

    /// At most `most` queries of each class.
    pub(crate) fn queries(&self, corpus: &Corpus, most: usize, seed: u64) -> QuerySet {
        let medium = class("M", corpus.len());
        let frequencies = document_frequencies(corpus).into_iter();
        let within = frequencies.filter(|(_, df)| medium.contains(&u64::from(*df)));
        let mut terms: Vec<String> = within.map(|(term, _)| term).collect();
        terms.sort_unstable();
        let mut set = QuerySet::default();
        let mut random = Random::named(seed, "ranges");
        for _ in 0..most {
            set.push("RangeWide", Ok(self.span(2, &mut random)));
            set.push("RangeNarrow", Ok(self.span(100, &mut random)));
            set.push("RangeOpen", Ok(open(&mut random)));
            set.push("RangeBoth", {
                let both = vec![self.span(2, &mut random), open(&mut random)];
                Ok(Tree::all_of(both))
            });
            set.push("Exists", Ok(range("score", None, None)));
            set.push("Keyword", Ok(keyword(any_channel(&mut random))));
            set.push("KeywordIn", Ok(one_of(&mut random)));
            if terms.is_empty() {
                continue;
            }
            let mut term = || Tree::term(&terms[random.index(terms.len())]);
            let [first, second, third, fourth] = [(); 4].map(|()| term());
            let channel = keyword(1 + random.index(FREQUENT_CHANNELS));
            set.push("TermInRange", Ok(Tree::all_of(vec![first, self.span(2, &mut random)])));
            set.push("TermInChannel", Ok(Tree::all_of(vec![second, channel])));
            let any = keyword(any_channel(&mut random));
            set.push("TermOrChannel", Ok(Tree::any_of(vec![third, any])));
            let (must, not) = (vec![fourth], vec![self.span(100, &mut random)]);
            let without = Clauses { must, not, ..Clauses::default() };
            set.push("TermNotRange", Ok(Tree::Bool(without)));
        }
        set.sampled(most, seed)
    }

    /// One part of this many of the time: its end is not within.
    fn span(&self, parts: usize, random: &mut Random) -> Tree {
        let documents = self.ts.len();
        let length = documents.div_ceil(parts);
        let first = random.index(documents - length + 1);
        let (from, to) = (self.ts[first], self.ts[first + length - 1]);
        range("ts", Some(from), Some(to))
    }
}

fn open(random: &mut Random) -> Tree {
    let bound = Some(SCORE_MAX.powf(random.unit()) as i64);
    if random.index(2) == 0 { range("score", bound, None) } else { range("score", None, bound) }
}

fn range(field: &str, from: Option<i64>, to: Option<i64>) -> Tree {
    Tree::Range { field: field.to_owned(), from, to, include_from: true, include_to: false }
}

/// Three channels of any frequency.
fn one_of(random: &mut Random) -> Tree {
    let values = (0..3).map(|_| channel(any_channel(random))).collect();
    Tree::OneOf { field: "channel".to_owned(), values }
}

/// A channel's number, the low ones as frequent as their channels.
fn any_channel(random: &mut Random) -> usize {
    CHANNELS.powf(random.unit()) as usize
}

fn keyword(number: usize) -> Tree {
    Tree::Term { field: "channel".to_owned(), value: channel(number) }
}

/// An analyzer would make two terms of it; a keyword is one.
fn channel(number: usize) -> String {
    format!("Channel {number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_their_columns_and_queries_ask_for_them() {
        let corpus = Corpus::generate(3, Some(2000));
        let columns = Columns::draw(corpus.len(), 42);
        let lines = columns.lines(&corpus);
        assert_eq!(lines.lines().count(), 2000);
        assert!(lines.lines().all(|line| line.contains("\"channel\":\"Channel ")));
        assert!(columns.ts.is_sorted() && columns.score.contains(&None));
        let set = columns.queries(&corpus, 10, 42);
        assert_eq!(set.classes().len(), 11);
        let many = |(class, queries): &(&str, usize)| *class == "Exists" || *queries >= 5;
        assert!(set.classes().iter().all(many), "{:?}", set.classes());
    }

    #[test]
    fn a_span_is_its_part_of_the_time() {
        let columns = Columns::draw(1000, 42);
        let mut random = Random::named(42, "spans");
        for (parts, most) in [(2, 500), (100, 10)] {
            let Tree::Range { from: Some(from), to: Some(to), .. } =
                columns.span(parts, &mut random)
            else {
                panic!("a range with bounds");
            };
            let within = columns.ts.iter().filter(|ts| (from..to).contains(ts)).count();
            assert!(within > most / 2 && within < most + 5, "{within} of {most}");
        }
    }
}
