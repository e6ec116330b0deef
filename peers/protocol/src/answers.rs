//! Task `answers`: what an engine answers to each query of the file, untimed, a JSON object a line.

use crate::{Fallible, Options, Query, read_queries};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::io::Write;

/// An engine's answer to one query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// All matches.
    pub count: u64,
    /// The documents shown, in order.
    pub keys: Vec<u64>,
    /// Their scores, if the order is by score.
    pub scores: Vec<f32>,
    /// Why another engine may well answer otherwise: the query means something else here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<Cow<'static, str>>,
}

/// The engine has no such query; the text says what is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unsupported: {}", self.0)
    }
}

impl std::error::Error for Unsupported {}

/// The line of one query: its answer, or the reason for its absence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerLine {
    /// The query's class.
    pub name: String,
    /// Its number in the file, from 0.
    pub n: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unsupported: Option<String>,
    #[serde(flatten)]
    answer: Option<Answer>,
}

impl AnswerLine {
    fn new(name: &str, n: usize, outcome: Result<Answer, Unsupported>) -> AnswerLine {
        let (answer, unsupported) = match outcome {
            Ok(answer) => (Some(answer), None),
            Err(Unsupported(reason)) => (None, Some(reason)),
        };
        AnswerLine { name: name.to_owned(), n, unsupported, answer }
    }

    /// Reads the line.
    pub fn parse(line: &str) -> Result<AnswerLine, String> {
        let read: AnswerLine =
            serde_json::from_str(line).map_err(|error| format!("no answer: {error}: {line}"))?;
        if read.answer.is_none() && read.unsupported.is_none() {
            return Err(format!("neither an answer nor a reason for its absence: {line}"));
        }
        Ok(read)
    }

    /// Returns the answer, or the reason for its absence.
    pub fn outcome(self) -> Result<Answer, Unsupported> {
        self.answer.ok_or_else(|| Unsupported(self.unsupported.unwrap_or_default()))
    }
}

/// Asks every query in the order of the file and writes a line for each.
pub fn write_answers(
    options: &Options,
    mut ask: impl FnMut(&Query) -> Fallible<Result<Answer, Unsupported>>,
) -> Fallible<()> {
    let queries = read_queries(options.queries_file()?)?;
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    for (n, query) in queries.iter().enumerate() {
        let line = AnswerLine::new(&query.name, n, ask(&query.query)?);
        writeln!(output, "{}", serde_json::to_string(&line)?)?;
    }
    Ok(output.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_answer_or_says_why_there_is_none() {
        let answer = Answer { count: 7, keys: vec![3, 1], scores: vec![1.5, 0.5], differs: None };
        let texts = [
            (Ok(answer), r#"{"name":"L","n":4,"count":7,"keys":[3,1],"scores":[1.5,0.5]}"#),
            (Err(Unsupported("x".to_owned())), r#"{"name":"L","n":4,"unsupported":"x"}"#),
        ];
        for (outcome, text) in texts {
            let line = AnswerLine::new("L", 4, outcome.clone());
            assert_eq!(serde_json::to_string(&line).unwrap(), text);
            assert_eq!(AnswerLine::parse(text).unwrap().outcome(), outcome);
        }
        assert!(AnswerLine::parse(r#"{"name":"L","n":4,"count":7}"#).is_err());
    }
}
